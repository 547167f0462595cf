/** Passwords in forms. */
import { useQuery } from '@tanstack/react-query';
import { authenticatorQuery, usePerson } from '../api/people.ts';
import type { TextOf } from './SendForm.tsx';
import { TextField } from './TextField.tsx';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

/** The fewest characters that the service takes. */
export const SHORTEST_PASSWORD = 12;

interface PresentPasswordProps {
  readonly label: string;
  /** The address that the person signs in with: a browser fills in the password that it has for it. */
  readonly email: string;
  readonly autoFocus?: boolean;
}

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
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
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
      {hasCodes && <OtpField hint={t('Of your own authenticator, or a recovery code.')} />}
    </>
  );
}

/** What `OwnProof` asks for, as the service takes it. */
export function proofIn(textOf: TextOf): { readonly password: string; readonly otp?: string } {
  const otp = textOf('otp');
  return { password: textOf('password'), ...(otp !== '' && { otp }) };
}
