/** A link that sets the password of a person, for somebody who has forgotten it. */
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { SecretDialog } from '../../ui/Dialog.tsx';
import { Section } from '../../ui/Page.tsx';
import { OwnProof, proofIn } from '../../ui/passwords.tsx';
import { TextField } from '../../ui/TextField.tsx';
import type { TextOf } from '../../ui/SendForm.tsx';
import { announce } from '../../ui/Toasts.tsx';
import type { AccountDetails } from './operator-api.ts';
import { ReasonDialog } from './reason.tsx';

const bodyOf = (textOf: TextOf) => ({
  email: textOf('email').trim(),
  reason: textOf('reason').trim(),
  ...proofIn(textOf),
});

const removeFactor = async (textOf: TextOf) => {
  const body = bodyOf(textOf);
  await dataOf(api.POST('/api/v1/operator/second-factors/remove/', { body }));
  announce(`${body.email} signs in with the password alone from now on.`);
};

export function ResetLinkSection({ account }: { readonly account: AccountDetails }) {
  const { email } = account;
  const [made, setMade] = useState<{ readonly link: string; readonly email: string }>();
  const make = async (textOf: TextOf) => {
    const body = bodyOf(textOf);
    const { link } = await dataOf(api.POST('/api/v1/operator/reset-links/', { body }));
    setMade({ link, email: body.email });
  };
  const fields = (
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
      <OwnProof />
    </>
  );
  return (
    <Section
      title="Password and second factor"
      lead="Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours."
      actions={
        <>
          <ReasonDialog
            text="Make a reset link"
            title="Make a link that sets a password?"
            action="Make the link"
            look="primary"
            isRequired
            onSend={make}
            fields={fields}
          >
            <p>
              Make sure who is asking. A link that was made before ends. The present password stays
              valid until the link is used, which ends all sessions.
            </p>
          </ReasonDialog>
          <ReasonDialog
            text="Remove a second factor"
            title="Remove a second factor that was lost?"
            action="Remove it"
            isRequired
            onSend={removeFactor}
            fields={fields}
          >
            <p>
              Make sure who is asking. The authenticator and the recovery codes are worth nothing
              from then on: the password is enough.
            </p>
          </ReasonDialog>
        </>
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
