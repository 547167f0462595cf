/** The plan, the credits, the retention and the hold of an account, as an operator changes them. */
import { api, dataOf } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import type { Act, Part } from '../../ui/acts.tsx';
import { NumberField } from '../../ui/choices.tsx';
import { formatNumber, planName } from '../../ui/format.ts';
import { TextField } from '../../ui/forms.tsx';
import { Notice } from '../../ui/Page.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { LOCALE, t } from '../../words/words.ts';
import type { AccountDetails, AtAccount } from './operator-api.ts';
import { PlanSelect } from './PlanSelect.tsx';

const grants = new IdempotencyKeys();

export const planAndCredits = ({ account: { id, plan: current } }: AtAccount): Part => ({
  title: t('Plan and credits'),
  lead: t('Both take effect at once. The account sees them in its history.'),
  acts: [
    {
      action: t('Change the plan'),
      fields: <PlanSelect key={current} plan={current} />,
      asksReason: 'optional',
      send: async (textOf, reason) => {
        const plan = textOf('plan');
        if (plan === current)
          return t('The account has the plan {plan} already.', { plan: planName(plan) });
        const sent = { params: { path: { id } }, body: { plan, ...reason } };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/plan/', sent));
        return t('The account now has the plan {plan}.', { plan: planName(plan) });
      },
    },
    {
      action: t('Grant the credits'),
      fields: <NumberField label={t('Credits to add')} name="amount" minValue={1} isRequired />,
      asksReason: 'optional',
      send: async (textOf, reason) => {
        const amount = Number(textOf('amount'));
        const header = { 'Idempotency-Key': grants.keyFor(`${id} ${amount}`) };
        const sent = await api.POST('/api/v1/operator/accounts/{id}/credits/', {
          params: { path: { id }, header },
          body: { amount, ...reason },
        });
        grants.answered(sent.response.status);
        const { credits } = await dataOf(Promise.resolve(sent));
        const isRepeated = sent.response.headers.has('Idempotent-Replayed');
        return t('{amount} credits {value}. {value2}', {
          amount: formatNumber(amount),
          value: isRepeated ? t('had been granted before') : t('are granted'),
          value2:
            credits === null
              ? t('They are not taken while the service runs without credits.')
              : t('The account now has {credits}.', { credits: formatNumber(credits) }),
        });
      },
    },
  ],
});

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

const resetRetention = ({ id, email }: AccountDetails): Act => ({
  title: t('Use the service’s retention for {email}?', { email }),
  effect: t(
    'New documents of the account are then kept as long as the service keeps those of other accounts.',
  ),
  action: t('Use the service’s retention'),
  isMild: true,
  asksReason: 'optional',
  send: async (_, query) => {
    const params = { path: { id }, query };
    await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/retention/', { params }));
    return t('New documents are kept as long as those of other accounts.');
  },
});

export const retention = ({ account }: AtAccount): Part => ({
  title: t('Retention'),
  lead: t(
    'How long new documents of the account are kept. Each request may ask for less. What was requested before is kept as it was.',
  ),
  state:
    account.retention_seconds === null
      ? t(
          'The account has no retention of its own: its documents are kept as long as the service keeps those of other accounts.',
        )
      : `${retentionText(account.retention_seconds)}.`,
  holds: account.retention_seconds !== null,
  acts: [
    ...(account.retention_seconds === null ? [] : [resetRetention(account)]),
    {
      action: t('Set the retention'),
      fields: (
        <NumberField
          label={t('Seconds to keep new documents')}
          name="retention_seconds"
          minValue={0}
          hint={t('86,400 are a day. With 0, a document goes with its first complete download.')}
          isRequired
        />
      ),
      asksReason: 'optional',
      send: async (textOf, reason) => {
        const seconds = Number(textOf('retention_seconds'));
        const params = { path: { id: account.id } };
        const body = { retention_seconds: seconds, ...reason };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/retention/', { params, body }));
        return seconds === 0
          ? t('New documents are kept until their first download.')
          : t('New documents are kept for {seconds} at most.', { seconds: spanText(seconds) });
      },
    },
  ],
});

const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const releaseHold = ({ id, email }: AccountDetails): Act => ({
  title: t('Release the hold of {email}?', { email }),
  effect: t(
    'Documents whose time of storage has passed are deleted within a minute, and the account can be erased. What is deleted cannot be brought back.',
  ),
  action: t('Release the hold'),
  asksReason: 'optional',
  send: async (_, query) => {
    const params = { path: { id }, query };
    await dataOf(api.DELETE('/api/v1/operator/accounts/{id}/hold/', { params }));
    return t('The hold is released.');
  },
});

function holdState({ hold }: AccountDetails) {
  if (hold === null) return t('The account is under no hold.');
  return (
    <Notice kind="info">
      {rich('A hold is in force since {time}. {value}', {
        time: <Time iso={hold.placed_at} />,
        value:
          hold.until === null
            ? t('It lasts until it is released.')
            : rich('It ends by itself on {time}.', { time: <Time iso={hold.until} /> }),
      })}
    </Notice>
  );
}

export const hold = ({ account }: AtAccount): Part => ({
  title: t('Hold'),
  lead: t(
    'While a hold is in force, no document of the account is deleted and the account cannot be erased.',
  ),
  state: holdState(account),
  holds: account.hold !== null,
  acts: [
    ...(account.hold === null ? [] : [releaseHold(account)]),
    {
      action: account.hold === null ? t('Place a hold') : t('Replace the hold'),
      fields: (
        <TextField
          label={t('End of the hold')}
          name="until"
          type="datetime-local"
          hint={t('{ZONE}. Without one, the hold lasts until it is released.', { ZONE })}
        />
      ),
      asksReason: 'optional',
      send: async (textOf, reason) => {
        const end = textOf('until');
        const params = { path: { id: account.id } };
        const body = { ...(end !== '' && { until: new Date(end).toISOString() }), ...reason };
        await dataOf(api.POST('/api/v1/operator/accounts/{id}/hold/', { params, body }));
        return t('The hold is placed.');
      },
    },
  ],
});
