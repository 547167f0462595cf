import { useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { base64 } from '../../../../verifier/verify-evidence.mjs';
import { Button, IconButton } from '../../ui/Button.tsx';
import { decodedBytes, formatBytes } from '../../ui/format.ts';
import { TextField } from '../../ui/TextField.tsx';
import { Framed } from './Framed.tsx';
import { errorWithin, type OptionProps } from './option.ts';
import styles from './Playground.module.css';
import { type Row, rowsOf } from './request.ts';

const base64Of = async (file: File): Promise<string> =>
  base64(new Uint8Array(await file.arrayBuffer()));

/** The files that the HTML refers to, chosen from this machine. */
export function FilesField({ field, path, value, onChange, errors }: OptionProps) {
  const [failure, setFailure] = useState<string>();
  const rows = rowsOf(value);
  const add = async (files: readonly File[]) => {
    try {
      const chosen: readonly Row[] = await Promise.all(
        files.map(async (file) => ({ name: file.name, value: await base64Of(file) })),
      );
      const names = new Set(chosen.map(({ name }) => name));
      onChange([...rows.filter(({ name }) => !names.has(name)), ...chosen]);
      setFailure(undefined);
    } catch (error) {
      setFailure(`A file could not be read: ${error instanceof Error ? error.message : ''}`);
    }
  };
  return (
    <Framed field={field} error={failure ?? errors[path]?.join(' ')}>
      {rows.map((row, at) => (
        // Rows have no identity but their place.
        <div key={at} className={styles.file}>
          <TextField
            label="Name in the HTML"
            hint={formatBytes(decodedBytes(row.value))}
            value={row.name}
            error={errorWithin(errors, `${path}.${row.name}`)}
            onChange={(name) => onChange(rows.with(at, { ...row, name }))}
          />
          <IconButton
            label={`Remove ${row.name}`}
            icon="trash"
            onPress={() => onChange(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      <FileTrigger allowsMultiple onSelect={(files) => void add([...(files ?? [])])}>
        <Button small icon="upload" isDisabled={rows.length >= field.most}>
          Choose files
        </Button>
      </FileTrigger>
    </Framed>
  );
}
