import { useContext, useId } from 'react';
import { FormValidationContext } from 'react-aria-components';
import styles from './fields.module.css';
import type { FieldTexts } from './TextField.tsx';

interface FileFieldProps extends Omit<FieldTexts, 'error'> {
  readonly name: string;
  /** The endings of file names that the browser's dialog offers, such as `.p12,.pfx`. */
  readonly accept: string;
}

/** Takes one file from this machine. It belongs into a `SendForm`, which knows the errors. */
export function FileField({ label, hint, name, accept }: FileFieldProps) {
  const id = useId();
  const error = [useContext(FormValidationContext)?.[name] ?? []].flat().join(' ');
  const isInvalid = error !== '' || undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <input
        id={id}
        className={`${styles.input} ${styles.file}`}
        type="file"
        name={name}
        accept={accept}
        required
        aria-describedby={`${id}-hint ${id}-error`}
        aria-invalid={isInvalid}
        data-invalid={isInvalid}
      />
      {hint !== undefined && (
        <span id={`${id}-hint`} className="note">
          {hint}
        </span>
      )}
      <span id={`${id}-error`} className="wrong" hidden={!isInvalid}>
        {error}
      </span>
    </div>
  );
}
