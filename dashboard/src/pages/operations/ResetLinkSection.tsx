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
import { rich, t } from '../../words/rich.ts';

const bodyOf = (textOf: TextOf) => ({
  email: textOf('email').trim(),
  reason: textOf('reason').trim(),
  ...proofIn(textOf),
});

const removeFactor = async (textOf: TextOf) => {
  const body = bodyOf(textOf);
  await dataOf(api.POST('/api/v1/operator/second-factors/remove/', { body }));
  announce(t('{email} signs in with the password alone from now on.', { email: body.email }));
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
        label={t('Address of the person')}
        name="email"
        inputMode="email"
        autoComplete="off"
        defaultValue={email}
        isRequired
        hint={t("Another member's, where it is not who opened the account.")}
      />
      <OwnProof />
    </>
  );
  return (
    <Section
      title={t('Password and second factor')}
      lead={t(
        'Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours.',
      )}
      actions={
        <>
          <ReasonDialog
            text={t('Make a reset link')}
            title={t('Make a link that sets a password?')}
            action={t('Make the link')}
            look="primary"
            isRequired
            onSend={make}
            fields={fields}
          >
            <p>
              {t(
                'Make sure who is asking. A link that was made before ends. The present password stays valid until the link is used, which ends all sessions.',
              )}
            </p>
          </ReasonDialog>
          <ReasonDialog
            text={t('Remove a second factor')}
            title={t('Remove a second factor that was lost?')}
            action={t('Remove it')}
            isRequired
            onSend={removeFactor}
            fields={fields}
          >
            <p>
              {t(
                'Make sure who is asking. The authenticator and the recovery codes are worth nothing from then on: the password is enough.',
              )}
            </p>
          </ReasonDialog>
        </>
      }
    >
      {made !== undefined && (
        <SecretDialog
          title={t('The link is made')}
          secret={made.link}
          what={t('link')}
          onCopied={() => setMade(undefined)}
        >
          {rich('Hand it over to {email} in a way that you trust.', { email: made.email })}
        </SecretDialog>
      )}
    </Section>
  );
}
