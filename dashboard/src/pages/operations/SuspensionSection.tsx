/** Whether an account is suspended, and ending that. */
import { useRef } from 'react';
import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import type { TextOf } from '../../ui/SendForm.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { useOnEnd } from './live.ts';
import styles from './operations.module.css';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';
import { ReasonDialog, reasonIn } from './reason.tsx';
import { rich, t } from '../../words/rich.ts';

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
              <p>
                {t(
                  'Its API keys and sessions are refused at once, until the account is resumed. Links to files that were given out stay valid until they expire.',
                )}
              </p>
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
            <p>{t('Its API keys and sessions work again at once.')}</p>
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
