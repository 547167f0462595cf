import { useState } from 'react';
import { confirmEmail } from '../../api/without-sign-in.ts';
import { LonePage, SignInAgain } from '../../ui/LonePage.tsx';
import { SendForm } from '../../ui/forms.tsx';
import { t } from '../../words/words.ts';

/** Changes the sign-in address with a link. It asks first: programs that read mails open links, too. */
export default function ConfirmEmailPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const [isChanged, setChanged] = useState(false);
  const send = async () => {
    await confirmEmail(token);
    setChanged(true);
  };
  if (isChanged) {
    return <SignInAgain title={t('Address changed')} heading={t('Your address is changed')} />;
  }
  return (
    <LonePage title={t('Confirm your address')} heading={t('Confirm your address')}>
      <SendForm action={t('Use this address')} onSend={send}>
        <p>
          {t(
            'From now on, you sign in with the address that got the mail. The other one does not sign in any more, and all your sessions end.',
          )}
        </p>
      </SendForm>
    </LonePage>
  );
}
