import { type FormEvent, type ReactNode, useState } from 'react';
import { FormValidationContext } from 'react-aria-components';
import { ApiError } from '../api/error.ts';
import { Button } from './Button.tsx';
import { DialogActions } from './Dialog.tsx';
import { FailureNotice } from './Notice.tsx';
import styles from './SendForm.module.css';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';
import { t } from '../words/words.ts';

/** The text of a field by its name; empty where there is none. */
export type TextOf = (name: string) => string;

/** The file that was chosen in the field of a name; undefined where none was. */
export type FileOf = (name: string) => File | undefined;

interface SendFormProps {
  /** The text of the button. */
  readonly action: string;
  readonly look?: 'primary' | 'secondary' | 'danger';
  /** Fields below each other, as wide as their place or narrower; or one beside its button. */
  readonly layout?: 'stack' | 'narrow' | 'line';
  /** The form stands in a dialog, which this closes. */
  readonly onCancel?: () => void;
  /** Fields keep what they have after it was sent. */
  readonly keeps?: boolean;
  /**
   * Sends it. A refusal is shown at the field of the name that it gives, otherwise above.
   * @returns a text that is announced, if any
   */
  readonly onSend: (textOf: TextOf, fileOf: FileOf) => Promise<string | undefined>;
  readonly children: ReactNode;
}

const NO_DETAILS = {};

/** A form whose fields have the names that the service gives them in its errors. */
export function SendForm(props: SendFormProps) {
  const {
    action,
    look = 'primary',
    layout = 'stack',
    keeps = false,
    onCancel,
    onSend,
    children,
  } = props;
  const { isPending, failure, forget, send } = useSending();
  const [fields, setFields] = useState<ReadonlySet<string>>(new Set());
  const details = failure instanceof ApiError ? failure.details : NO_DETAILS;
  const isAtField = Object.keys(details).some((name) => fields.has(name));
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { currentTarget: form } = event;
    const data = new FormData(form);
    setFields(new Set(data.keys()));
    const textOf = (name: string): string => {
      const value = data.get(name);
      return typeof value === 'string' ? value : '';
    };
    const fileOf = (name: string): File | undefined => {
      const value = data.get(name);
      // Without a choice, forms have a file without name and content.
      return value instanceof File && value.name !== '' ? value : undefined;
    };
    let done: string | undefined;
    const isSent = await send(async () => {
      done = await onSend(textOf, fileOf);
    });
    if (isSent && !keeps) form.reset();
    if (done !== undefined) announce(done);
  };
  const notice = failure !== undefined && !isAtField && <FailureNotice error={failure} />;
  const button = (
    <Button look={look} type="submit" isPending={isPending}>
      {action}
    </Button>
  );
  return (
    <form
      className={styles[layout]}
      // An error at a field prevents that the form is sent: it goes with the first change.
      onInput={forget}
      onSubmit={(event) => void submit(event)}
    >
      {layout !== 'line' && notice}
      <FormValidationContext value={details}>{children}</FormValidationContext>
      {onCancel === undefined ? (
        button
      ) : (
        <DialogActions>
          <Button onPress={onCancel}>{t('Cancel')}</Button>
          {button}
        </DialogActions>
      )}
      {layout === 'line' && notice}
    </form>
  );
}
