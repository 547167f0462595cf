/** Forms that are sent, their text fields, and passwords in them. */
import { type FormEvent, type ReactNode, useContext, useId, useState } from 'react';
import {
  FieldError,
  FormValidationContext,
  Input,
  type InputProps,
  Label,
  Text,
  TextArea,
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
} from 'react-aria-components';
import { ApiError } from '../api/error.ts';
import { Button } from './Button.tsx';
import dialog from './Dialog.module.css';
import { FailureNotice } from './Page.tsx';
import styles from './forms.module.css';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';
import { useQuery } from '@tanstack/react-query';
import { authenticatorQuery, usePerson } from '../api/people.ts';

/** The text of a field by its name; empty where there is none. */
export type TextOf = (name: string) => string;

/** The file that was chosen in the field of a name; undefined where none was. */
export type FileOf = (name: string) => File | undefined;

/** The buttons at the end of a dialog, the main one last. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <footer className={`${dialog.actions} line gap-2`}>{children}</footer>;
}

interface SendFormProps {
  /** The text of the button. */
  readonly action: string;
  readonly look?: 'primary' | 'secondary' | 'danger';
  /** Fields below each other, as wide as their place or narrower; or one beside its button. */
  readonly layout?: 'stack' | 'narrow' | 'line';
  /** The form stands in a dialog, which this closes. */
  readonly onCancel?: () => void;
  /** The text of the button that closes it: "Cancel" does not do where something is cancelled. */
  readonly keepText?: string;
  /** Fields keep what they have after it was sent. */
  readonly keeps?: boolean;
  /**
   * Sends it. A refusal is shown at the field of the name that it gives, otherwise above.
   * @returns a text that is announced, if it is one
   */
  readonly onSend: (textOf: TextOf, fileOf: FileOf) => Promise<unknown>;
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
    keepText = t('Cancel'),
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
    let done: unknown;
    const isSent = await send(async () => {
      done = await onSend(textOf, fileOf);
    });
    if (isSent && !keeps) form.reset();
    if (typeof done === 'string') announce(done);
  };
  const notice = failure !== undefined && !isAtField && <FailureNotice error={failure} />;
  const button = (
    <Button look={look} type="submit" isPending={isPending}>
      {action}
    </Button>
  );
  return (
    <form
      className={`${styles[layout] ?? ''} ${layout === 'line' ? '' : 'stack'}`}
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
          <Button onPress={onCancel}>{keepText}</Button>
          {button}
        </DialogActions>
      )}
      {layout === 'line' && notice}
    </form>
  );
}

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
  const look = `${styles.input} ${mono ? styles.code : ''}`;
  return (
    <AriaTextField {...field} className="stack gap-1" isInvalid={error !== undefined || undefined}>
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

/** The fewest characters that the service takes. */
export const SHORTEST_PASSWORD = 12;

interface PresentPasswordProps {
  readonly label: string;
  /** The address that the person signs in with: a browser fills in the password that it has for it. */
  readonly email: string;
  readonly autoFocus?: boolean;
}

/** Tells the browser whose password a form has, so that it keeps or finds it under this address. */
const AddressForBrowser = ({ email }: { readonly email: string }) => (
  <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
);

/** Asks a person who is signed in for the present password, or for a sign-in with the provider if they have none: see `passwordIn`. */
export function PresentPassword({ label, email, autoFocus = false }: PresentPasswordProps) {
  const person = usePerson().data;
  if (person?.has_password === false) {
    const account = person.accounts.find(({ current }) => current)?.id ?? '';
    return (
      <p>
        {rich(
          'You have no password: a sign-in with the identity provider in the last 5 minutes is needed. <value>Sign in again</value>',
          { value: <a href={`/dashboard/oidc/start?from=%2Faccount&account=${account}`} /> },
        )}
      </p>
    );
  }
  return (
    <>
      <AddressForBrowser email={email} />
      <TextField
        label={label}
        name="password"
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus={autoFocus}
      />
    </>
  );
}

interface NewPasswordProps {
  readonly label: string;
  /** The address that the person will sign in with; undefined: it is not known. */
  readonly email?: string;
  readonly name?: string;
  readonly type?: 'password' | 'text';
  readonly hint?: string;
  readonly autoFocus?: boolean;
}

/** Asks for a password that the person signs in with from then on. */
export function NewPassword(props: NewPasswordProps) {
  const { email, name = 'password', type = 'password', ...others } = props;
  return (
    <>
      {email !== undefined && <AddressForBrowser email={email} />}
      <TextField
        {...{ name, type }}
        autoComplete="new-password"
        minLength={SHORTEST_PASSWORD}
        hint={t('At least {SHORTEST_PASSWORD} characters.', { SHORTEST_PASSWORD })}
        isRequired
        {...others}
      />
    </>
  );
}

/** What `PresentPassword` asks for, as the service takes it. */
export function passwordIn(textOf: TextOf): { readonly password?: string } {
  const password = textOf('password');
  return password === '' ? {} : { password };
}

/** Asks for a code of the second factor. */
export function OtpField({
  hint,
  autoFocus,
}: {
  readonly hint: string;
  readonly autoFocus?: boolean;
}) {
  return (
    <TextField
      label={t('Code')}
      name="otp"
      autoComplete="one-time-code"
      hint={hint}
      isRequired
      {...(autoFocus && { autoFocus })}
    />
  );
}

/** Asks an operator for the own password and, where they have a second factor, a code: see `proofIn`. */
export function OwnProof() {
  const email = usePerson().data?.email ?? '';
  const hasCodes = typeof useQuery(authenticatorQuery).data?.since === 'string';
  return (
    <>
      <PresentPassword label={t('Your own password')} email={email} />
      {hasCodes && <OtpField hint={t('From your own authenticator, or a recovery code.')} />}
    </>
  );
}

/** What `OwnProof` asks for, as the service takes it. */
export function proofIn(textOf: TextOf): { readonly password: string; readonly otp?: string } {
  const otp = textOf('otp');
  return { password: textOf('password'), ...(otp !== '' && { otp }) };
}

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
    <div className="stack gap-1">
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
