/** What an operator can do with an account, but for what access-sections.tsx has. */
import { useRef, useState } from 'react';
import { useAccount } from '../../api/people.ts';
import { api, dataOf } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import { session } from '../../session/session.ts';
import { formatNumber, planName } from '../../ui/format.ts';
import { Notice, Section } from '../../ui/Page.tsx';
import { NumberField } from '../../ui/choices.tsx';
import { SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { Time } from '../../ui/records.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { type AccountDetails, forgetAccounts, useOnEnd } from './operator-api.ts';
import styles from './operations.module.css';
import { PlanSelect, ReasonDialog, ReasonField, reasonIn } from './fields.tsx';
import { rich } from '../../words/rich.ts';
import { LOCALE, t } from '../../words/words.ts';

type SectionProps = { readonly account: AccountDetails };

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
            {t(
              'Documents whose time of storage has passed are deleted within a minute, and the account can be erased. What is deleted cannot be brought back.',
            )}
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

type HoldFormProps = { readonly id: string; readonly isHeld: boolean };

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
          {rich(
            'Everybody who is signed in to the account is signed out at once{value}. The password and the API keys stay valid.',
            { value: isOwn && t(', also you, here') },
          )}
        </ReasonDialog>
      }
    >
      <p>{countText(sessions)}</p>
    </Section>
  );
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** A time in its largest whole unit. */
function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each && seconds % each === 0) ?? [
    'second',
    1,
  ];
  const form = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(LOCALE, form).format(seconds / size);
}

export function retentionText(seconds: number | null): string {
  if (seconds === null) return t('As the service keeps documents');
  return seconds === 0
    ? t('Until the first download')
    : t('At most {seconds}', { seconds: spanText(seconds) });
}

const path = (id: string) => ({ path: { id } });

async function reset(id: string, textOf: TextOf): Promise<void> {
  const params = { ...path(id), query: reasonIn(textOf) };
  await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/retention/', { params }));
  announce(t('New documents are kept as long as those of other accounts.'));
  // Not awaited: the dialog gives the focus back to its button, which then goes.
  void forgetAccounts();
}

export function RetentionSection({ account }: { readonly account: AccountDetails }) {
  const { id, email, retention_seconds: current } = account;
  const change = async (textOf: TextOf) => {
    const seconds = Number(textOf('retention_seconds'));
    const body = { retention_seconds: seconds, ...reasonIn(textOf) };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/retention/', { params: path(id), body }));
    await forgetAccounts();
    return seconds === 0
      ? t('New documents are kept until their first download.')
      : t('New documents are kept for {seconds} at most.', { seconds: spanText(seconds) });
  };
  return (
    <Section
      title={t('Retention')}
      lead={t(
        'How long new documents of the account are kept. Each request may ask for less. What was requested before is kept as it was.',
      )}
      actions={
        current !== null && (
          <ReasonDialog
            text={t('Use the service’s retention')}
            title={t('Use the service’s retention for {email}?', { email })}
            action={t('Use the service’s retention')}
            look="primary"
            onSend={(textOf) => reset(id, textOf)}
          >
            {t(
              'New documents of the account are then kept as long as the service keeps those of other accounts.',
            )}
          </ReasonDialog>
        )
      }
    >
      <p>
        {current === null
          ? t(
              'The account has no retention of its own: its documents are kept as long as the service keeps those of other accounts.',
            )
          : `${retentionText(current)}.`}
      </p>
      <SendForm action={t('Set the retention')} look="secondary" layout="narrow" onSend={change}>
        <NumberField
          label={t('Seconds to keep new documents')}
          name="retention_seconds"
          minValue={0}
          hint={t('86,400 are a day. With 0, a document goes with its first complete download.')}
          isRequired
        />
        <ReasonField />
      </SendForm>
    </Section>
  );
}
