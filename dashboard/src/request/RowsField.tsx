import { useId, useState } from 'react';
import { FileTrigger } from 'react-aria-components';
import { errorText } from '../api/error.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { base64Of } from '../ui/chosen-files.ts';
import { decodedBytes, formatBytes } from '../ui/format.ts';
import { TextField } from '../ui/forms.tsx';
import { errorWithin, Framed, Notes, type OptionProps } from './Framed.tsx';
import styles from './request.module.css';
import { type Row, rowsOf, textOf } from './values.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

const rowOf = async (file: File): Promise<Row> => ({
  name: file.name,
  value: await base64Of(file),
});

/** Names with their values, such as headers; or the files that the HTML refers to, chosen from this machine. */
export function RowsField({ field, path, value, onChange, errors }: OptionProps) {
  const [failure, setFailure] = useState<string>();
  const isFiles = field.kind === 'files';
  const rows = rowsOf(value);
  const isFull = rows.length >= field.most;
  const errorOf = ({ name }: Row): string | undefined =>
    !isFiles && name !== '' && rows.filter((row) => row.name === name).length > 1
      ? t('This name is given twice. Only the last value is sent.')
      : errorWithin(errors, `${path}.${name}`);
  const addFiles = async (files: readonly File[]) => {
    try {
      const chosen = await Promise.all(files.map(rowOf));
      const names = new Set(chosen.map(({ name }) => name));
      onChange([...rows.filter(({ name }) => !names.has(name)), ...chosen]);
      setFailure(undefined);
    } catch (error) {
      setFailure(errorText(error));
    }
  };
  return (
    <Framed field={field} error={failure ?? errors[path]?.join(' ')}>
      {rows.map((row, at) => (
        // Rows have no identity but their place.
        <div key={at} className={isFiles ? styles.file : styles.row}>
          <TextField
            label={isFiles ? t('Name in the HTML') : t('Name')}
            hint={isFiles ? formatBytes(decodedBytes(row.value)) : undefined}
            value={row.name}
            error={errorOf(row)}
            onChange={(name) => onChange(rows.with(at, { ...row, name }))}
          />
          {!isFiles && (
            <TextField
              label={t('Value')}
              value={row.value}
              onChange={(next) => onChange(rows.with(at, { ...row, value: next }))}
            />
          )}
          <IconButton
            label={
              row.name === ''
                ? t('Remove line {value}', { value: at + 1 })
                : t('Remove {name}', { name: row.name })
            }
            icon="trash"
            onPress={() => onChange(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      {isFiles ? (
        <FileTrigger allowsMultiple onSelect={(files) => void addFiles([...(files ?? [])])}>
          <Button small icon="upload" isDisabled={isFull}>
            {t('Choose files')}
          </Button>
        </FileTrigger>
      ) : (
        <Button
          small
          icon="plus"
          isDisabled={isFull}
          onPress={() => onChange([...rows, { name: '', value: '' }])}
        >
          {rich('Add to {value}', { value: field.label })}
        </Button>
      )}
    </Framed>
  );
}

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
      className="stack gap-1 start"
    >
      <span id={id} className="strong">
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
