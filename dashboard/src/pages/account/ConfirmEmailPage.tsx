import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import { SendForm } from '../../ui/forms.tsx';
import { Page } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';

/** Changes the sign-in address with a link. It asks first: programs that read mails open links, too. */
export default function ConfirmEmailPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const send = async () => {
    await dataOf(api.POST('/api/v1/auth/email/confirm/', { body: { token } }));
    // That has ended all sessions.
    session.end('address-changed');
  };
  return (
    <Page title={t('Confirm your address')}>
      <SendForm action={t('Use this address')} layout="narrow" onSend={send}>
        <p>
          {t(
            'From now on, you sign in with the address that got the mail. The other one does not sign in any more, and all your sessions end.',
          )}
        </p>
      </SendForm>
    </Page>
  );
}
