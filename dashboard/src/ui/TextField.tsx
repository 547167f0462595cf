import type { ReactNode } from 'react';
import {
  TextArea as AriaTextArea,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
  FieldError,
  Input,
  type InputProps,
  Label,
  Text,
} from 'react-aria-components';
import styles from './fields.module.css';

export interface FieldTexts {
  readonly label: string;
  /** A hint on what to enter, where the label does not say it all. Placeholders do not replace it. */
  readonly hint?: ReactNode;
  /** The error and what to do about it, as the service or the page found it. */
  readonly error?: string | undefined;
}

interface TextProps
  extends FieldTexts,
    Omit<AriaTextFieldProps, 'className' | 'style' | 'children'> {
  /** Sets text that is compared sign by sign: keys, hashes, code. */
  readonly mono?: boolean;
  readonly placeholder?: string;
}

/** The hint and the error of a field, which screen readers read with it. */
export function FieldNotes({ hint, error }: Pick<FieldTexts, 'hint' | 'error'>) {
  return (
    <>
      {hint !== undefined && (
        <Text slot="description" className={styles.hint}>
          {hint}
        </Text>
      )}
      <FieldError className={styles.error}>
        {error === undefined ? ({ validationErrors }) => validationErrors.join(' ') : error}
      </FieldError>
    </>
  );
}

interface TextFieldProps extends TextProps {
  readonly inputMode?: InputProps['inputMode'];
}

export function TextField({ label, hint, error, mono, placeholder, ...props }: TextFieldProps) {
  return (
    <AriaTextField {...props} className={styles.field} isInvalid={error !== undefined || undefined}>
      <Label className={styles.label}>{label}</Label>
      <Input
        className={`${styles.input} ${mono === true ? styles.mono : ''}`}
        placeholder={placeholder}
      />
      <FieldNotes hint={hint} error={error} />
    </AriaTextField>
  );
}

interface TextAreaProps extends TextProps {
  readonly rows?: number;
}

export function TextArea({ label, hint, error, mono, rows, placeholder, ...props }: TextAreaProps) {
  return (
    <AriaTextField {...props} className={styles.field} isInvalid={error !== undefined || undefined}>
      <Label className={styles.label}>{label}</Label>
      <AriaTextArea
        rows={rows}
        placeholder={placeholder}
        className={`${styles.input} ${styles.area} ${mono === true ? styles.mono : ''}`}
      />
      <FieldNotes hint={hint} error={error} />
    </AriaTextField>
  );
}
