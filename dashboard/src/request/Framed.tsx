import { type ReactNode, useId } from 'react';
import styles from './request.module.css';
import type { Field } from './schema.ts';

/** The errors that the service found, by the paths of fields such as `wait_for.selector`. */
export type FieldErrors = Readonly<Record<string, readonly string[] | undefined>>;

export interface OptionProps {
  readonly field: Field;
  /** As the service names the field in its errors. */
  readonly path: string;
  /** The values that are filled in. */
  readonly value: unknown;
  /** @param file where the value is the content of a file that was chosen */
  readonly onChange: (value: unknown, file?: File) => void;
  readonly errors: FieldErrors;
}

/** The messages for the field, or for anything in it. */
export function errorWithin(errors: FieldErrors, path: string): string | undefined {
  const messages = Object.entries(errors)
    .filter(([name]) => name === path || name.startsWith(`${path}.`))
    .flatMap(([, each]) => each ?? []);
  return messages.length === 0 ? undefined : [...new Set(messages)].join(' ');
}

interface NotesProps {
  readonly id: string;
  readonly field: Pick<Field, 'label' | 'description'>;
  readonly error?: string | undefined;
}

/** The description and the error of a field that has no place for them. */
export function Notes({ id, field: { description }, error }: NotesProps) {
  return (
    <div id={id} className={styles.notes}>
      {description !== undefined && <p className="note">{description}</p>}
      {error !== undefined && <p className="wrong">{error}</p>}
    </div>
  );
}

interface FramedProps extends Omit<NotesProps, 'id'> {
  readonly children: ReactNode;
}

/** Fields under a heading of their own. */
export function Framed({ field, error, children }: FramedProps) {
  const id = useId();
  return (
    <fieldset className={`${styles.framed} stack gap-3`} aria-describedby={id}>
      <legend className="strong">{field.label}</legend>
      <Notes id={id} field={field} error={error} />
      {children}
    </fieldset>
  );
}
