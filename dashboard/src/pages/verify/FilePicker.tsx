import { type DropItem, DropZone, FileTrigger } from 'react-aria-components';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/icons.tsx';
import styles from './VerifyPage.module.css';

interface FilePickerProps {
  readonly onFile: (file: File) => void;
  readonly onProblem: (text: string) => void;
}

/** Takes one file, by dropping, by pasting, or by the browser's own dialog. */
export function FilePicker({ onFile, onProblem }: FilePickerProps) {
  const drop = async (items: readonly DropItem[]) => {
    const [item] = items;
    if (items.length !== 1) onProblem('Drop one file at a time.');
    else if (item?.kind !== 'file') onProblem('This is not a file. Drop a PDF or a bundle.');
    else onFile(await item.getFile());
  };
  return (
    <DropZone
      className={styles.drop}
      aria-label="Drop a file here"
      onDrop={({ items }) => void drop(items)}
    >
      <Icon name="upload" size={28} />
      <p className={styles.dropTitle}>Drop a PDF or a bundle of evidence here</p>
      <FileTrigger
        acceptedFileTypes={['application/pdf', 'application/zip', '.pdf', '.zip']}
        onSelect={(files) => {
          const file = files?.[0];
          if (file !== undefined) onFile(file);
        }}
      >
        <Button look="primary">Choose a file</Button>
      </FileTrigger>
    </DropZone>
  );
}
