/** A link that sets the password of a person, for somebody who has forgotten it. */
import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { SecretDialog } from '../../ui/Dialog.tsx';
import { Section } from '../../ui/Page.tsx';
import { PresentPassword } from '../../ui/passwords.tsx';
import { TextField } from '../../ui/TextField.tsx';
import type { TextOf } from '../../ui/SendForm.tsx';
import type { AccountDetails } from './operator-api.ts';
import { ReasonDialog } from './reason.tsx';

export function ResetLinkSection({ account }: { readonly account: AccountDetails }) {
  const { email } = account;
  const own = useAccount().data?.email ?? '';
  const [made, setMade] = useState<{ readonly link: string; readonly email: string }>();
  const make = async (textOf: TextOf) => {
    const whose = textOf('email').trim();
    const body = { email: whose, reason: textOf('reason').trim(), password: textOf('password') };
    const { link } = await dataOf(api.POST('/api/v1/operator/reset-links/', { body }));
    setMade({ link, email: whose });
  };
  return (
    <Section
      title="Password"
      lead="Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours."
      actions={
        <ReasonDialog
          text="Make a reset link"
          title="Make a link that sets a password?"
          action="Make the link"
          look="primary"
          isRequired
          onSend={make}
          fields={
            <>
              <TextField
                label="Address of the person"
                name="email"
                inputMode="email"
                autoComplete="off"
                defaultValue={email}
                isRequired
                hint="Another member's, where it is not who opened the account."
              />
              <PresentPassword label="Your own password" email={own} />
            </>
          }
        >
          <p>
            Make sure who is asking. A link that was made before ends. The present password stays
            valid until the link is used, which ends all sessions.
          </p>
        </ReasonDialog>
      }
    >
      {made !== undefined && (
        <SecretDialog
          title="The link is made"
          secret={made.link}
          what="link"
          onCopied={() => setMade(undefined)}
        >
          Hand it over to {made.email} in a way that you trust.
        </SecretDialog>
      )}
    </Section>
  );
}
