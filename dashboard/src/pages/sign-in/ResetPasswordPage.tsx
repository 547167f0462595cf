import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { forgotPassword, offersQuery, resetPassword } from '../../api/without-sign-in.ts';
import { PATHS } from '../../paths.ts';
import { LonePage, SignInAgain } from '../../ui/LonePage.tsx';
import { Loaded, Notice } from '../../ui/Page.tsx';
import { NewPassword, SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { t } from '../../words/words.ts';

/** Sets a password with a link, or has one mailed. Its token stands behind #, which is sent to no server. */
export default function ResetPasswordPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const [isSet, setSet] = useState(false);
  const send = async (textOf: TextOf) => {
    await resetPassword(token, textOf('password'));
    setSet(true);
  };
  if (isSet) {
    const shown = { title: t('Password set'), heading: t('The password is set') };
    return <SignInAgain {...shown} from={PATHS.otherWaysIn} />;
  }
  return (
    <LonePage title={t('Set a password')} heading={t('Set a password')}>
      {token === '' ? (
        <WithoutLink />
      ) : (
        <SendForm action={t('Set the password')} onSend={send}>
          <NewPassword label={t('New password')} autoFocus />
        </SendForm>
      )}
    </LonePage>
  );
}

/** Has a link mailed, where the service has mail. */
function WithoutLink() {
  const offers = useQuery(offersQuery);
  const [answer, setAnswer] = useState<string>();
  const ask = async (textOf: TextOf) => {
    setAnswer((await forgotPassword(textOf('email'))).message);
  };
  if (answer !== undefined) return <p role="status">{answer}</p>;
  return (
    <Loaded query={offers} what={t('what this service offers')} lines={2}>
      {({ mail }) =>
        mail ? (
          <SendForm action={t('Send me a link')} onSend={ask}>
            <TextField
              label={t('Email')}
              name="email"
              type="email"
              autoComplete="username"
              hint={t('You get a link that sets another password, within a few minutes.')}
              isRequired
              autoFocus
            />
          </SendForm>
        ) : (
          <Notice kind="warning">
            {t(
              'The address of this page is not complete. Open the link that you were given again, with everything after #.',
            )}
          </Notice>
        )
      }
    </Loaded>
  );
}
