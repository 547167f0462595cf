import type { ReactNode } from 'react';
import { type DropItem, DropZone, FileTrigger } from 'react-aria-components';
import { Button } from './Button.tsx';
import styles from './FileDrop.module.css';
import { Icon } from './icons.tsx';
import { t } from '../words/words.ts';

interface FileDropProps {
  /** Says what is to be dropped here. */
  readonly title: string;
  /** The files in words, such as "a PDF or a bundle". */
  readonly what: string;
  /** Several files at once. */
  readonly several?: boolean;
  readonly accept: readonly string[];
  readonly onFiles: (files: readonly File[]) => void;
  readonly onProblem: (text: string) => void;
  /** Other ways, beside the button that opens the browser's own dialog. */
  readonly children?: ReactNode;
}

/** Takes files by dropping, by pasting, or by the browser's own dialog. */
export function FileDrop(props: FileDropProps) {
  const { title, what, several = false, accept, onFiles, onProblem, children } = props;
  const drop = async (items: readonly DropItem[]) => {
    const files = items.filter((item) => item.kind === 'file');
    if (!several && items.length !== 1) onProblem(t('Drop one file at a time.'));
    else if (files.length < items.length)
      onProblem(t('This is not a file. Drop {what}.', { what }));
    else onFiles(await Promise.all(files.map((item) => item.getFile())));
  };
  return (
    <DropZone
      className={`${styles.drop} centred gap-3`}
      aria-label={several ? t('Drop files here') : t('Drop a file here')}
      onDrop={({ items }) => void drop(items)}
    >
      <Icon name="upload" size={28} />
      <p className={`${styles.title} strong`}>{title}</p>
      <div className={`${styles.ways} line gap-2`}>
        <FileTrigger
          acceptedFileTypes={accept}
          allowsMultiple={several}
          onSelect={(files) => {
            if (files !== null && files.length > 0) onFiles([...files]);
          }}
        >
          <Button look="primary">{several ? t('Choose files') : t('Choose a file')}</Button>
        </FileTrigger>
        {children}
      </div>
    </DropZone>
  );
}
