import { useId, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { errorText } from '../api/error.ts';
import { Button } from '../ui/Button.tsx';
import { base64Of } from '../ui/chosen-files.ts';
import { decodedBytes, formatBytes } from '../ui/format.ts';
import { errorWithin, Notes, type OptionProps } from './Framed.tsx';
import styles from './request.module.css';
import { textOf } from './values.ts';
import { t } from '../words/words.ts';

/** The content of one file, chosen from this machine. */
export function FileOption({ field, path, value, onChange, errors }: OptionProps) {
  const id = useId();
  const [failure, setFailure] = useState<string>();
  const content = textOf(value);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onChange(await base64Of(file), file);
      setFailure(undefined);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <div
      role="group"
      aria-labelledby={id}
      aria-describedby={`${id}-notes`}
      className={styles.switch}
    >
      <span id={id} className={styles.legend}>
        {field.label}
      </span>
      <div className="line">
        <FileTrigger onSelect={(files) => void take(files?.[0])}>
          <Button small icon="upload">
            {content === '' ? t('Choose a file') : t('Choose another file')}
          </Button>
        </FileTrigger>
        {content !== '' && (
          <>
            <span>{formatBytes(decodedBytes(content))}</span>
            <Button small icon="trash" onPress={() => onChange(undefined)}>
              {t('Remove the file')}
            </Button>
          </>
        )}
      </div>
      <Notes id={`${id}-notes`} field={field} error={failure ?? errorWithin(errors, path)} />
    </div>
  );
}
