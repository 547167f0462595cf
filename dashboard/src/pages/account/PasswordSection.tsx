import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import type { Account } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { queryClient } from '../../api/queries.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import { formText } from '../../ui/form-text.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { announce } from '../../ui/Toasts.tsx';
import styles from './AccountPage.module.css';

/** The shortest that the service takes. */
const SHORTEST = 12;

interface PasswordSectionProps {
  /** Undefined until it is loaded. By its address the browser's password manager finds the password. */
  readonly account: Account | undefined;
}

/**
 * Changes the password at the service, which ends all sessions, and signs in with the new one.
 * @returns whether the person is still signed in
 */
async function changeTo(
  email: string,
  body: { readonly current_password: string; readonly new_password: string },
): Promise<boolean> {
  await dataOf(api.POST('/api/v1/account/password/', { body }));
  try {
    await session.signIn(email, body.new_password);
    return true;
  } catch {
    session.end('password-changed');
    return false;
  }
}

export function PasswordSection({ account }: PasswordSectionProps) {
  const [isShown, setShown] = useState(false);
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const details = failure instanceof ApiError ? failure.details : {};
  const errorOf = (field: string): string | undefined => details[field]?.join(' ');
  const hasField =
    errorOf('current_password') !== undefined || errorOf('new_password') !== undefined;
  const type = isShown ? 'text' : 'password';

  const change = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { currentTarget } = event;
    const form = new FormData(currentTarget);
    const body = {
      current_password: formText(form, 'current_password'),
      new_password: formText(form, 'new_password'),
    };
    setPending(true);
    setFailure(undefined);
    try {
      if (!(await changeTo(account?.email ?? '', body))) return;
      currentTarget.reset();
      announce('The password is changed. All other sessions have ended.');
      await queryClient.invalidateQueries();
    } catch (error) {
      setFailure(error);
    } finally {
      setPending(false);
    }
  };

  return (
    <Section
      title="Change the password"
      lead="A new password ends all other sessions of the account. API keys stay valid."
    >
      <Form className={styles.form} onSubmit={(event) => void change(event)}>
        {account?.must_change_password === true && (
          <Notice kind="warning">
            The first start printed the current password. Choose another: that opens the pages for
            operators.
          </Notice>
        )}
        {failure !== undefined && !hasField && <Notice kind="danger">{errorText(failure)}</Notice>}
        <input
          type="hidden"
          name="email"
          autoComplete="username"
          value={account?.email ?? ''}
          readOnly
        />
        <TextField
          label="Current password"
          name="current_password"
          type={type}
          autoComplete="current-password"
          error={errorOf('current_password')}
          onChange={() => setFailure(undefined)}
          isRequired
        />
        <TextField
          label="New password"
          name="new_password"
          type={type}
          autoComplete="new-password"
          hint={`At least ${SHORTEST} characters. Several words are easier to remember than signs.`}
          minLength={SHORTEST}
          error={errorOf('new_password')}
          onChange={() => setFailure(undefined)}
          isRequired
        />
        <Checkbox isSelected={isShown} onChange={setShown}>
          Show the passwords
        </Checkbox>
        <Button look="primary" type="submit" isPending={isPending}>
          Change the password
        </Button>
      </Form>
    </Section>
  );
}
