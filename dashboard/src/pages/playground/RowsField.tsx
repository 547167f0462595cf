import { Button, IconButton } from '../../ui/Button.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Framed } from './Framed.tsx';
import { errorWithin, type OptionProps } from './option.ts';
import styles from './Playground.module.css';
import { type Row, rowsOf } from './request.ts';

const isRepeated = (rows: readonly Row[], { name }: Row): boolean =>
  name !== '' && rows.filter((row) => row.name === name).length > 1;

/** Names with their values, such as headers. */
export function RowsField({ field, path, value, onChange, errors }: OptionProps) {
  const rows = rowsOf(value);
  const replace = (at: number, row: Row) => onChange(rows.with(at, row));
  const errorOf = (row: Row) =>
    isRepeated(rows, row)
      ? 'This name is given twice. Only the last value is sent.'
      : errorWithin(errors, `${path}.${row.name}`);
  return (
    <Framed field={field} error={errors[path]?.join(' ')}>
      {rows.map((row, at) => (
        // Rows have no identity but their place.
        <div key={at} className={styles.row}>
          <TextField
            label="Name"
            value={row.name}
            error={errorOf(row)}
            onChange={(name) => replace(at, { ...row, name })}
          />
          <TextField
            label="Value"
            value={row.value}
            onChange={(next) => replace(at, { ...row, value: next })}
          />
          <IconButton
            label={row.name === '' ? `Remove line ${at + 1}` : `Remove ${row.name}`}
            icon="trash"
            onPress={() => onChange(rows.toSpliced(at, 1))}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        isDisabled={rows.length >= field.most}
        onPress={() => onChange([...rows, { name: '', value: '' }])}
      >
        Add to {field.label.toLowerCase()}
      </Button>
    </Framed>
  );
}
