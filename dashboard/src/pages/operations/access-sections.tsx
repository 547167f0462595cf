/** Who gets in: links that set a password, second factors, suspensions, and the end of an account. */
import { useRef, useState } from 'react';
import { api, dataOf, queryClient } from '../../api/client.ts';
import { ConfirmButton, SecretDialog } from '../../ui/Dialog.tsx';
import { Notice, Section } from '../../ui/Page.tsx';
import { OwnProof, proofIn, TextField, type TextOf } from '../../ui/forms.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { type AccountDetails, ACCOUNTS, forgetAccounts, useOnEnd } from './operator-api.ts';
import { ReasonDialog, reasonIn } from './fields.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { useAccount } from '../../api/people.ts';
import { Time } from '../../ui/records.tsx';
import styles from './operations.module.css';
import { formatBytes } from '../../ui/format.ts';

const bodyOf = (textOf: TextOf) => ({
  email: textOf('email').trim(),
  reason: textOf('reason').trim(),
  ...proofIn(textOf),
});

const removeFactor = async (textOf: TextOf) => {
  const body = bodyOf(textOf);
  await dataOf(api.POST('/api/v1/operator/second-factors/remove/', { body }));
  announce(t('From now on, {email} signs in with only the password.', { email: body.email }));
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
            {t(
              'Make sure who is asking. A link that was made before ends. The present password stays valid until the link is used, which ends all sessions.',
            )}
          </ReasonDialog>
          <ReasonDialog
            text={t('Remove a second factor')}
            title={t('Remove a second factor that was lost?')}
            action={t('Remove it')}
            isRequired
            onSend={removeFactor}
            fields={fields}
          >
            {t(
              'Make sure who is asking. The authenticator and the recovery codes do not work from then on: the password is enough.',
            )}
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

async function suspend(id: string, textOf: TextOf): Promise<void> {
  const body = { reason: textOf('reason').trim() };
  const params = { path: { id } };
  await dataOf(api.POST('/api/v1/operator/accounts/{id}/suspend/', { params, body }));
  announce(t('The account is suspended.'));
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

async function resume(id: string, textOf: TextOf): Promise<void> {
  const params = { path: { id } };
  const body = reasonIn(textOf);
  await dataOf(api.POST('/api/v1/operator/accounts/{id}/resume/', { params, body }));
  announce(t('The account is resumed.'));
  void forgetAccounts();
}

export function SuspensionSection({ account }: { readonly account: AccountDetails }) {
  const { id, email, suspension } = account;
  const isOwn = useAccount().data?.id === id;
  const state = useRef<HTMLDivElement>(null);
  useOnEnd(suspension !== null, () => state.current?.focus());
  return (
    <Section
      title={t('Suspension')}
      lead={t(
        'Nothing new is accepted from a suspended account, and nobody signs in to it. What was accepted is finished.',
      )}
      actions={
        suspension === null ? (
          !isOwn && (
            <ReasonDialog
              text={t('Suspend the account')}
              title={t('Suspend {email}?', { email })}
              action={t('Suspend the account')}
              isRequired
              hint={t('The people of the account are told it with each refusal.')}
              onSend={(textOf) => suspend(id, textOf)}
            >
              {t(
                'Its API keys and sessions are refused at once, until the account is resumed. Links to files that were given out stay valid until they expire.',
              )}
            </ReasonDialog>
          )
        ) : (
          <ReasonDialog
            text={t('Resume the account')}
            title={t('Resume {email}?', { email })}
            action={t('Resume the account')}
            look="primary"
            onSend={(textOf) => resume(id, textOf)}
          >
            {t('Its API keys and sessions work again at once.')}
          </ReasonDialog>
        )
      }
    >
      <div ref={state} tabIndex={-1} className={styles.focused}>
        {suspension === null ? (
          <p>{t('The account is not suspended.')}</p>
        ) : (
          <Notice kind="warning">
            {rich('The account is suspended since {time}. The reason: {bdi}', {
              time: <Time iso={suspension.suspended_at} />,
              bdi: <bdi>{suspension.reason}</bdi>,
            })}
          </Notice>
        )}
      </div>
    </Section>
  );
}

type ErasureSectionProps = { readonly account: AccountDetails; readonly onErased: () => void };

/** Why the account cannot be erased. */
function obstacle({ hold }: AccountDetails, isOwn: boolean): string | undefined {
  if (hold !== null) {
    return t('A hold is in force, which keeps the account from being erased. Release it first.');
  }
  return isOwn
    ? t('This is your own account. Another operator can erase it, or pressledger account erase.')
    : undefined;
}

export function ErasureSection({ account, onErased }: ErasureSectionProps) {
  const isOwn = useAccount().data?.id === account.id;
  const reason = obstacle(account, isOwn);
  const erase = async (textOf: TextOf) => {
    const { id } = account;
    const body = { email: textOf('email'), ...proofIn(textOf) };
    const params = { path: { id } };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/erase/', { params, body }));
    onErased();
    queryClient.removeQueries({ queryKey: [...ACCOUNTS, 'one', id] });
    void queryClient.invalidateQueries({ queryKey: [...ACCOUNTS, 'list'] });
    return t('The account is erased.');
  };
  return (
    <Section
      title={t('Erase the account')}
      lead={t('Destroys the account with all its documents, for good.')}
      actions={
        <ConfirmButton
          look="danger"
          icon="trash"
          isDisabled={reason !== undefined}
          text={t('Erase the account')}
          title={t('Erase the account of {email}?', { email: account.email })}
          action={t('Erase the account for good')}
          onConfirm={erase}
        >
          <Notice kind="warning">{t('This cannot be undone by anybody.')}</Notice>
          <ul className="bullets">
            <li>{t('All API keys, sessions and links of the account end at once.')}</li>
            <li>{t('Conversions that are not finished fail, and new ones are refused.')}</li>
            <li>
              {rich('All stored documents are deleted: {stored_bytes} of PDFs and requests.', {
                stored_bytes: formatBytes(account.stored_bytes),
              })}
            </li>
            <li>
              {t(
                'The data key of the account is destroyed: nobody can read its address, names or texts in the log any more.',
              )}
            </li>
            <li>
              {t(
                'The log keeps ids, times, plan, credits, sizes and hashes of PDFs. Copies that customers downloaded, and backups of the keyring, are not reached.',
              )}
            </li>
          </ul>
          <TextField
            label={t('Address of the account to erase')}
            name="email"
            inputMode="email"
            hint={t('Type it again, whole.')}
            autoComplete="off"
            isRequired
          />
          <OwnProof />
        </ConfirmButton>
      }
    >
      {reason === undefined ? (
        <p>{t('You are told what is destroyed, and asked for your password, before it begins.')}</p>
      ) : (
        <Notice kind="warning">{reason}</Notice>
      )}
    </Section>
  );
}
