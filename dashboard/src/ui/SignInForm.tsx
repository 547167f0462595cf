import { type ReactNode, useState } from 'react';
import { ApiError } from '../api/error.ts';
import { session } from '../session/session.ts';
import { t } from '../words/words.ts';
import { OtpField, SendForm } from './forms.tsx';

interface SignInFormProps {
  /** Undefined: a field of the form has it. */
  readonly email?: string;
  readonly account?: string;
  readonly onCancel?: () => void;
  readonly onSignedIn: () => Promise<string | undefined>;
  /** The fields of the first step. */
  readonly children: ReactNode;
}

const needsCode = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 401 && error.details['otp'] !== undefined;

/** Signs in, and asks for a code where the person has a second factor. The password stays in memory until then. */
export function SignInForm({ email, account, onCancel, onSignedIn, children }: SignInFormProps) {
  const [pair, setPair] = useState<{ readonly email: string; readonly password: string }>();
  const isFirst = pair === undefined;
  return (
    <SendForm
      key={isFirst ? 'password' : 'code'}
      action={isFirst ? t('Sign in') : t('Check the code')}
      {...(onCancel && { onCancel })}
      onSend={async (textOf) => {
        const given = pair ?? { email: email ?? textOf('email'), password: textOf('password') };
        const otp = isFirst ? undefined : textOf('otp');
        try {
          await session.signIn(given.email, given.password, { account, otp });
        } catch (error) {
          if (!isFirst || !needsCode(error)) throw error;
          setPair(given);
          return undefined;
        }
        return await onSignedIn();
      }}
    >
      {isFirst ? (
        children
      ) : (
        <OtpField
          autoFocus
          hint={t('The six digits that your authenticator shows now, or a recovery code.')}
        />
      )}
    </SendForm>
  );
}
