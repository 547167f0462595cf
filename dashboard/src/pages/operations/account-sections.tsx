/** What an operator can do with an account, but for erasing it. */
import { useRef, useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { session } from '../../session/session.ts';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { NumberField } from '../../ui/choices.tsx';
import { Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { useOnEnd } from './live.ts';
import styles from './operations.module.css';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';
import { PlanSelect } from './PlanSelect.tsx';
import { ReasonDialog, ReasonField, reasonIn } from './reason.tsx';
import { rich, t } from '../../words/rich.ts';

interface SectionProps {
  readonly account: AccountDetails;
}

export function PlanSection({ account }: SectionProps) {
  return (
    <Section
      title={t('Plan and credits')}
      lead={t('Both take effect at once. The account sees them in its history.')}
    >
      <PlanForm account={account} />
      <CreditsForm account={account} />
    </Section>
  );
}

function PlanForm({ account: { id, plan: current } }: SectionProps) {
  const [plan, setPlan] = useState(current);
  const change = async (textOf: TextOf) => {
    if (plan === current)
      return t('The account has the plan {plan} already.', { plan: planName(plan) });
    const params = { path: { id } };
    const body = { plan, ...reasonIn(textOf) };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/plan/', { params, body }));
    await forgetAccounts();
    return t('The account now has the plan {plan}.', { plan: planName(plan) });
  };
  return (
    <SendForm action={t('Change the plan')} look="secondary" layout="narrow" onSend={change}>
      <PlanSelect value={plan} onChange={setPlan} />
      <ReasonField />
    </SendForm>
  );
}

const grants = new IdempotencyKeys();

function CreditsForm({ account: { id } }: SectionProps) {
  const grant = async (textOf: TextOf) => {
    const amount = Number(textOf('amount'));
    const header = { 'Idempotency-Key': grants.keyFor(`${id} ${amount}`) };
    const sent = await api.POST('/api/v1/operator/accounts/{id}/credits/', {
      params: { path: { id }, header },
      body: { amount, ...reasonIn(textOf) },
    });
    grants.answered(sent.response.status);
    const { credits } = await dataOf(Promise.resolve(sent));
    const isRepeated = sent.response.headers.has('Idempotent-Replayed');
    await forgetAccounts();
    return t('{amount} credits {value}. {value2}', {
      amount: formatNumber(amount),
      value: isRepeated ? t('had been granted before') : t('are granted'),
      value2:
        credits === null
          ? t('They are not taken while the service runs without credits.')
          : t('The account now has {credits}.', { credits: formatNumber(credits) }),
    });
  };
  return (
    <SendForm action={t('Grant the credits')} look="secondary" layout="narrow" onSend={grant}>
      <NumberField label={t('Credits to add')} name="amount" minValue={1} isRequired />
      <ReasonField />
    </SendForm>
  );
}

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

async function release(id: string, textOf: TextOf): Promise<void> {
  const params = { path: { id }, query: reasonIn(textOf) };
  await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/hold/', { params }));
  announce(t('The hold is released.'));
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

export function HoldSection({
  account: { id, email, hold },
}: {
  readonly account: AccountDetails;
}) {
  const state = useRef<HTMLDivElement>(null);
  useOnEnd(hold !== null, () => state.current?.focus());
  return (
    <Section
      title={t('Hold')}
      lead={t(
        'While a hold is in force, no document of the account is deleted and the account cannot be erased.',
      )}
      actions={
        hold !== null && (
          <ReasonDialog
            text={t('Release the hold')}
            title={t('Release the hold of {email}?', { email })}
            action={t('Release the hold')}
            onSend={(textOf) => release(id, textOf)}
          >
            <p>
              {t(
                'Documents whose time of storage has passed are deleted within a minute, and the account can be erased. What is deleted cannot be brought back.',
              )}
            </p>
          </ReasonDialog>
        )
      }
    >
      <div ref={state} tabIndex={-1} className={styles.focused}>
        {hold === null ? (
          <p>{t('The account is under no hold.')}</p>
        ) : (
          <Notice kind="info">
            {rich('A hold is in force since {time}. {value}', {
              time: <Time iso={hold.placed_at} />,
              value:
                hold.until === null ? (
                  t('It lasts until it is released.')
                ) : (
                  <>{rich('It ends by itself on {time}.', { time: <Time iso={hold.until} /> })}</>
                ),
            })}
          </Notice>
        )}
      </div>
      <HoldForm id={id} isHeld={hold !== null} />
    </Section>
  );
}

interface HoldFormProps {
  readonly id: string;
  readonly isHeld: boolean;
}

function HoldForm({ id, isHeld }: HoldFormProps) {
  return (
    <SendForm
      action={isHeld ? t('Replace the hold') : t('Place a hold')}
      look="secondary"
      layout="narrow"
      onSend={async (textOf) => {
        const end = textOf('until');
        const until = end === '' ? {} : { until: new Date(end).toISOString() };
        const body = { ...until, ...reasonIn(textOf) };
        const params = { path: { id } };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/hold/', { params, body }));
        await forgetAccounts();
        return t('The hold is placed.');
      }}
    >
      <TextField
        label={t('End of the hold')}
        name="until"
        type="datetime-local"
        hint={t('{ZONE}. Without one, the hold lasts until it is released.', { ZONE })}
      />
      <ReasonField />
    </SendForm>
  );
}

const endedText = (sessions: number): string => {
  if (sessions === 0) return t('No session was open.');
  return sessions === 1
    ? t('One session has ended.')
    : t('{sessions} sessions have ended.', { sessions: formatNumber(sessions) });
};

async function endSessions(id: string, isOwn: boolean, textOf: TextOf): Promise<void> {
  const params = { path: { id }, query: reasonIn(textOf) };
  const { sessions_ended: ended } = await dataOf(
    api.POST('/api/v1/operator/accounts/{id}/sessions/end/', { params }),
  );
  if (isOwn) {
    session.end('all-ended');
    return;
  }
  announce(endedText(ended));
  await forgetAccounts();
}

const countText = (sessions: number): string => {
  if (sessions === 0) return t('No session is open.');
  return sessions === 1
    ? t('One session is open.')
    : t('{sessions} sessions are open.', { sessions: formatNumber(sessions) });
};

export function EndSessionsSection({ account }: SectionProps) {
  const { id, email, sessions } = account;
  const isOwn = useAccount().data?.id === id;
  return (
    <Section
      title={t('Sessions')}
      actions={
        <ReasonDialog
          text={t('End all sessions')}
          title={t('End all sessions of {email}?', { email })}
          action={t('End all sessions')}
          onSend={(textOf) => endSessions(id, isOwn, textOf)}
        >
          <p>
            {rich(
              'Everybody who is signed in to the account is signed out at once{value}. The password and the API keys stay valid.',
              { value: isOwn && t(', also you, here') },
            )}
          </p>
        </ReasonDialog>
      }
    >
      <p>{countText(sessions)}</p>
    </Section>
  );
}
