import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { askToSignUp, signUp, signUpOf } from '../../api/without-sign-in.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { LonePage } from '../../ui/LonePage.tsx';
import { NewPassword, SendForm, TextField } from '../../ui/forms.tsx';
import { Loaded } from '../../ui/Page.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type Step = 'asking' | 'asked' | 'opened';

/** Asks for an account, or opens one by the link that came: its token stands behind #, which is sent to no server. */
export default function SignUpPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const [step, setStep] = useState<Step>('asking');
  if (step !== 'asking') {
    return (
      <LonePage
        title={step === 'asked' ? t('Mail sent') : t('Welcome')}
        heading={step === 'asked' ? t('Look into your mail') : t('Your account is open')}
      >
        <p role="status">
          {step === 'asked'
            ? t(
                'If your address is right, a mail with a link comes in a moment. The link is valid for a day.',
              )
            : t('Sign in with your address and your password.')}
        </p>
        <ButtonLink to="/sign-in" look={step === 'opened' ? 'primary' : 'secondary'}>
          {t('Sign in')}
        </ButtonLink>
      </LonePage>
    );
  }
  return (
    <LonePage title={t('Open an account')} heading={t('Open an account')}>
      {token === '' ? (
        <SendForm
          action={t('Send me the link')}
          onSend={async (textOf) => {
            await askToSignUp(textOf('email'));
            setStep('asked');
          }}
        >
          <TextField
            label={t('Email')}
            name="email"
            type="email"
            autoComplete="email"
            hint={t('You get a mail with a link that opens the account.')}
            isRequired
            autoFocus
          />
        </SendForm>
      ) : (
        <Opening token={token} onOpened={() => setStep('opened')} />
      )}
    </LonePage>
  );
}

function Opening({ token, onOpened }: { readonly token: string; readonly onOpened: () => void }) {
  const query = useQuery({
    queryKey: ['sign-up', token],
    queryFn: ({ signal }) => signUpOf(token, signal),
    retry: false,
  });
  return (
    <Loaded query={query} what={t('the link')} lines={3}>
      {({ email, expires_at: end }) => (
        <>
          <p>
            {rich('The link opens an account for {bdi}. It is valid until {time}.', {
              bdi: <bdi>{email}</bdi>,
              time: <Time iso={end} />,
            })}
          </p>
          <SendForm
            action={t('Open the account')}
            onSend={async (textOf) => {
              await signUp(token, textOf('password'));
              onOpened();
            }}
          >
            <NewPassword label={t('Password')} email={email} autoFocus />
          </SendForm>
        </>
      )}
    </Loaded>
  );
}
