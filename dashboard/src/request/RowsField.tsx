import { useId } from 'react';
import { FileTrigger } from 'react-aria-components';
import { errorText } from '../api/error.ts';
import { Button, IconButton } from '../ui/Button.tsx';
import { base64Of } from '../ui/chosen-files.ts';
import { decodedBytes, formatBytes } from '../ui/format.ts';
import { TextField } from '../ui/forms.tsx';
import { useSending } from '../ui/sending.ts';
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
  const { failure, send } = useSending();
  const isFiles = field.kind === 'files';
  const rows = rowsOf(value);
  const isFull = rows.length >= field.most;
  const errorOf = ({ name }: Row): string | undefined =>
    !isFiles && name !== '' && rows.filter((row) => row.name === name).length > 1
      ? t('This name is given twice. Only the last value is sent.')
      : errorWithin(errors, `${path}.${name}`);
  const addFiles = (files: readonly File[]) =>
    send(async () => {
      const chosen = await Promise.all(files.map(rowOf));
      const names = new Set(chosen.map(({ name }) => name));
      onChange([...rows.filter(({ name }) => !names.has(name)), ...chosen]);
    });
  const error = failure === undefined ? errors[path]?.join(' ') : errorText(failure);
  return (
    <Framed field={field} error={error}>
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
  const { failure, send } = useSending();
  const content = textOf(value);
  const error = failure === undefined ? errorWithin(errors, path) : errorText(failure);
  const take = (file: File) => send(async () => onChange(await base64Of(file), file));
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
        <FileTrigger onSelect={(files) => void (files?.[0] && take(files[0]))}>
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
      <Notes id={`${id}-notes`} field={field} error={error} />
    </div>
  );
}
