import { useId, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { base64 } from '../../../../verifier/verify-evidence.mjs';
import { Button } from '../../ui/Button.tsx';
import { decodedBytes, formatBytes } from '../../ui/format.ts';
import { errorWithin, Notes, type OptionProps } from './Framed.tsx';
import styles from './Playground.module.css';
import { textOf } from './request.ts';

/** @returns the content of the file in base64 */
export const contentOf = async (file: File): Promise<string> =>
  base64(new Uint8Array(await file.arrayBuffer()));

/** What to say of a file that could not be read. */
export const unreadable = (error: unknown): string =>
  `A file could not be read: ${error instanceof Error ? error.message : ''}`;

/** The content of one file, chosen from this machine. */
export function FileOption({ field, path, value, onChange, errors }: OptionProps) {
  const id = useId();
  const [failure, setFailure] = useState<string>();
  const content = textOf(value);
  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onChange(await contentOf(file), file);
      setFailure(undefined);
    } catch (error) {
      setFailure(unreadable(error));
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
            {content === '' ? 'Choose a file' : 'Choose another file'}
          </Button>
        </FileTrigger>
        {content !== '' && (
          <>
            <span>{formatBytes(decodedBytes(content))}</span>
            <Button small icon="trash" onPress={() => onChange(undefined)}>
              Remove the file
            </Button>
          </>
        )}
      </div>
      <Notes id={`${id}-notes`} field={field} error={failure ?? errorWithin(errors, path)} />
    </div>
  );
}
