import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { formText } from '../../ui/form-text.ts';
import styles from './AccountPage.module.css';

/** The shortest that the service takes. */
const SHORTEST = 12;

interface PasswordSectionProps {
  /** The address by which the browser's password manager finds the password. */
  readonly email: string | undefined;
}

export function PasswordSection({ email }: PasswordSectionProps) {
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
    const form = new FormData(event.currentTarget);
    const body = {
      current_password: formText(form, 'current_password'),
      new_password: formText(form, 'new_password'),
    };
    setPending(true);
    setFailure(undefined);
    try {
      await dataOf(api.POST('/api/v1/account/password/', { body }));
      session.end('password-changed');
    } catch (error) {
      setFailure(error);
    } finally {
      setPending(false);
    }
  };

  return (
    <Section
      title="Change the password"
      lead="A new password ends all sessions of the account, this one too. API keys stay valid."
    >
      <Form className={styles.form} onSubmit={(event) => void change(event)}>
        {failure !== undefined && !hasField && <Notice kind="danger">{errorText(failure)}</Notice>}
        <input type="hidden" name="email" autoComplete="username" value={email ?? ''} readOnly />
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
