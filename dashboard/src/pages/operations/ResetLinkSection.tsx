/** A link that sets the password of an account, for somebody who has forgotten it. */
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { SecretDialog } from '../../ui/Dialog.tsx';
import { Section } from '../../ui/Page.tsx';
import { PresentPassword } from '../../ui/passwords.tsx';
import type { TextOf } from '../../ui/SendForm.tsx';
import type { AccountDetails } from './operator-api.ts';
import { ReasonDialog } from './reason.tsx';

export function ResetLinkSection({ account }: { readonly account: AccountDetails }) {
  const { id, email } = account;
  const own = useAccount().data?.email ?? '';
  const [link, setLink] = useState<string>();
  const make = async (textOf: TextOf) => {
    const body = { reason: textOf('reason').trim(), password: textOf('password') };
    const params = { path: { id } };
    const made = await dataOf(
      api.POST('/api/v1/operator/accounts/{id}/reset-link/', { params, body }),
    );
    setLink(made.link);
  };
  return (
    <Section
      title="Password"
      lead="Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours."
      actions={
        <ReasonDialog
          text="Make a reset link"
          title={`Make a link that sets the password of ${email}?`}
          action="Make the link"
          look="primary"
          isRequired
          onSend={make}
          fields={<PresentPassword label="Your own password" email={own} />}
        >
          <p>
            Make sure who is asking. A link that was made before ends. The present password stays
            valid until the link is used, which ends all sessions.
          </p>
        </ReasonDialog>
      }
    >
      {link !== undefined && (
        <SecretDialog
          title="The link is made"
          secret={link}
          what="link"
          onCopied={() => setLink(undefined)}
        >
          Hand it over to {email} in a way that you trust.
        </SecretDialog>
      )}
    </Section>
  );
}
