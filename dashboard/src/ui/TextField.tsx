import type { ReactNode } from 'react';
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  type InputProps,
  Label,
  Text,
  TextArea,
} from 'react-aria-components';
import styles from './fields.module.css';

export interface FieldTexts {
  readonly label: string;
  /** A hint on what to enter, where the label does not say it all. Placeholders do not replace it. */
  readonly hint?: ReactNode;
  /** The error and what to do about it, as the service or the page found it. */
  readonly error?: string | undefined;
}

/** The hint and the error of a field, which screen readers read with it. */
export function FieldNotes({ hint, error }: Pick<FieldTexts, 'hint' | 'error'>) {
  return (
    <>
      {hint !== undefined && (
        <Text slot="description" className="note">
          {hint}
        </Text>
      )}
      <FieldError className="wrong">
        {error === undefined ? ({ validationErrors }) => validationErrors.join(' ') : error}
      </FieldError>
    </>
  );
}

interface TextFieldProps
  extends FieldTexts,
    Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  /** Sets text that is compared sign by sign: keys, hashes, code. */
  readonly mono?: boolean;
  readonly placeholder?: string;
  readonly inputMode?: InputProps['inputMode'];
  /** The field has so many lines, and may get more. */
  readonly rows?: number;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, mono = false, placeholder, rows, ...field } = props;
  const look = `${styles.input} ${mono ? styles.mono : ''}`;
  return (
    <AriaTextField {...field} className={styles.field} isInvalid={error !== undefined || undefined}>
      <Label className={styles.label}>{label}</Label>
      {rows === undefined ? (
        <Input className={look} placeholder={placeholder} />
      ) : (
        <TextArea className={`${look} ${styles.area}`} placeholder={placeholder} rows={rows} />
      )}
      <FieldNotes hint={hint} error={error} />
    </AriaTextField>
  );
}
