/**
 * What an operator sees of an account and can do with it. Each part is an entry of `PARTS`; a further act is one more
 * entry of the acts of its part.
 */
import { api, dataOf, queryClient } from '../../api/client.ts';
import { IdempotencyKeys } from '../../api/idempotency-keys.ts';
import type { components } from '../../api/schema.d.ts';
import { everyDay } from '../../api/usage.ts';
import { session } from '../../session/session.ts';
import { NumberField } from '../../ui/choices.tsx';
import type { SecretProps } from '../../ui/Dialog.tsx';
import { formatBytes, formatNumber, planName } from '../../ui/format.ts';
import { proofIn, TextField, type TextOf } from '../../ui/forms.tsx';
import { Calm, Notice } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { LOCALE, t } from '../../words/words.ts';
import { UsageDays } from '../usage/UsageDays.tsx';
import type { Act, Part } from '../../ui/acts.tsx';
import { ACCOUNTS, type AccountDetails } from './operator-api.ts';
import { PlanSelect } from './PlanSelect.tsx';

export type Activity = components['schemas']['AccountActivity'];

export interface AtAccount {
  readonly account: AccountDetails;
  /** It is the operator's own. */
  readonly isOwn: boolean;
  /** What was seen of its keys and use, once the operator has asked for it. */
  readonly activity: Activity | undefined;
  readonly onActivity: (activity: Activity) => void;
  readonly showSecret: (secret: SecretProps) => void;
  readonly onErased: () => void;
}

const grants = new IdempotencyKeys();

const planAndCredits = ({ account: { id, plan: current } }: AtAccount): Part => ({
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

const retention = ({ account }: AtAccount): Part => ({
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

const hold = ({ account }: AtAccount): Part => ({
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

const DAYS = 30;

const KEYS: readonly Column<Activity['keys'][number]>[] = [
  { header: t('Key'), isRowHeader: true, cell: ({ prefix }) => <code>{prefix}…</code> },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) => (at === null ? t('Never') : <Time iso={at} />),
  },
];

/** It is asked for by a button: the account sees each look. */
const activityPart = ({ account: { id, email }, activity, onActivity }: AtAccount): Part => ({
  title: t('Keys, use and failures'),
  lead: t(
    'Prefixes of keys and counts, no names and no documents. The account sees in its history that you looked.',
  ),
  state: activity && (
    <div role="status" className="stack">
      <Table
        label={t('API keys')}
        columns={KEYS}
        rows={activity.keys}
        rowKey={({ id: key }) => key}
        empty={<Calm>{t('The account has no API key.')}</Calm>}
      />
      {/* The advice of the page Usage is for who uses the account. */}
      {activity.days.length === 0 ? (
        <p>{t('No conversions in the last {DAYS} days.', { DAYS })}</p>
      ) : (
        <UsageDays days={everyDay(activity.days, DAYS, Date.now())} />
      )}
    </div>
  ),
  acts: [
    {
      text: t('Look at its activity'),
      title: t('Look at the activity of {email}?', { email }),
      effect: t('The look is recorded in the history of the account, once an hour.'),
      action: t('Look at it'),
      isMild: true,
      asksReason: 'optional',
      send: async (_, query) => {
        const params = { path: { id }, query };
        onActivity(await dataOf(api.GET('/api/v1/operator/accounts/{id}/activity/', { params })));
      },
    },
  ],
});

const aboutPerson = (textOf: TextOf) => ({
  email: textOf('email').trim(),
  reason: textOf('reason').trim(),
  ...proofIn(textOf),
});

const passwords = ({ account, showSecret }: AtAccount): Part => {
  const asked = {
    fields: (
      <TextField
        label={t('Address of the person')}
        name="email"
        inputMode="email"
        autoComplete="off"
        defaultValue={account.email}
        isRequired
        hint={t("Another member's, where it is not who opened the account.")}
      />
    ),
    asksReason: 'required',
    needsProof: true,
  } as const;
  return {
    title: t('Password and second factor'),
    lead: t(
      'Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours.',
    ),
    acts: [
      {
        ...asked,
        text: t('Make a reset link'),
        title: t('Make a link that sets a password?'),
        effect: t(
          'Make sure who is asking. A link that was made before ends. The present password stays valid until the link is used, which ends all sessions.',
        ),
        action: t('Make the link'),
        isMild: true,
        send: async (textOf) => {
          const body = aboutPerson(textOf);
          const { link } = await dataOf(api.POST('/api/v1/operator/reset-links/', { body }));
          showSecret({
            title: t('The link is made'),
            secret: link,
            what: t('link'),
            children: rich('Hand it over to {email} in a way that you trust.', {
              email: body.email,
            }),
          });
        },
      },
      {
        ...asked,
        text: t('Remove a second factor'),
        title: t('Remove a second factor that was lost?'),
        effect: t(
          'Make sure who is asking. The authenticator and the recovery codes do not work from then on: the password is enough.',
        ),
        action: t('Remove it'),
        send: async (textOf) => {
          const body = aboutPerson(textOf);
          await dataOf(api.POST('/api/v1/operator/second-factors/remove/', { body }));
          return t('From now on, {email} signs in with only the password.', { email: body.email });
        },
      },
    ],
  };
};

const suspend = ({ id, email }: AccountDetails): Act => ({
  title: t('Suspend {email}?', { email }),
  effect: t(
    'Its API keys and sessions are refused at once, until the account is resumed. Links to files that were given out stay valid until they expire.',
  ),
  asksReason: 'required',
  reasonHint: t('The people of the account are told it with each refusal.'),
  action: t('Suspend the account'),
  send: async (textOf) => {
    const sent = { params: { path: { id } }, body: { reason: textOf('reason').trim() } };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/suspend/', sent));
    return t('The account is suspended.');
  },
});

const resume = ({ id, email }: AccountDetails): Act => ({
  title: t('Resume {email}?', { email }),
  effect: t('Its API keys and sessions work again at once.'),
  action: t('Resume the account'),
  isMild: true,
  asksReason: 'optional',
  send: async (_, body) => {
    const sent = { params: { path: { id } }, body };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/resume/', sent));
    return t('The account is resumed.');
  },
});

const suspension = ({ account, isOwn }: AtAccount): Part => ({
  title: t('Suspension'),
  lead: t(
    'Nothing new is accepted from a suspended account, and nobody signs in to it. What was accepted is finished.',
  ),
  state:
    account.suspension === null ? (
      t('The account is not suspended.')
    ) : (
      <Notice kind="warning">
        {rich('The account is suspended since {time}. The reason: {bdi}', {
          time: <Time iso={account.suspension.suspended_at} />,
          bdi: <bdi>{account.suspension.reason}</bdi>,
        })}
      </Notice>
    ),
  holds: account.suspension !== null,
  acts: account.suspension !== null ? [resume(account)] : isOwn ? [] : [suspend(account)],
});

const countText = (sessions: number): string => {
  if (sessions === 0) return t('No session is open.');
  return sessions === 1
    ? t('One session is open.')
    : t('{sessions} sessions are open.', { sessions: formatNumber(sessions) });
};

const endedText = (sessions: number): string => {
  if (sessions === 0) return t('No session was open.');
  return sessions === 1
    ? t('One session has ended.')
    : t('{sessions} sessions have ended.', { sessions: formatNumber(sessions) });
};

const sessions = ({ account: { id, email, sessions: open }, isOwn }: AtAccount): Part => ({
  title: t('Sessions'),
  state: countText(open),
  acts: [
    {
      title: t('End all sessions of {email}?', { email }),
      effect: rich(
        'Everybody who is signed in to the account is signed out at once{value}. The password and the API keys stay valid.',
        { value: isOwn && t(', also you, here') },
      ),
      action: t('End all sessions'),
      asksReason: 'optional',
      send: async (_, query) => {
        const params = { path: { id }, query };
        const { sessions_ended: ended } = await dataOf(
          api.POST('/api/v1/operator/accounts/{id}/sessions/end/', { params }),
        );
        if (!isOwn) return endedText(ended);
        session.end('all-ended');
        return undefined;
      },
    },
  ],
});

/** Why the account cannot be erased. */
function obstacle({ account, isOwn }: AtAccount): string | undefined {
  if (account.hold !== null) {
    return t('A hold is in force, which keeps the account from being erased. Release it first.');
  }
  return isOwn
    ? t('This is your own account. Another operator can erase it, or pressledger account erase.')
    : undefined;
}

const erasureEffect = (bytes: number) => (
  <>
    <Notice kind="warning">{t('This cannot be undone by anybody.')}</Notice>
    <ul className="bullets">
      <li>{t('All API keys, sessions and links of the account end at once.')}</li>
      <li>{t('Conversions that are not finished fail, and new ones are refused.')}</li>
      <li>
        {rich('All stored documents are deleted: {stored_bytes} of PDFs and requests.', {
          stored_bytes: formatBytes(bytes),
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
  </>
);

const erasure = (at: AtAccount): Part => {
  const { id, email, stored_bytes: bytes } = at.account;
  const reason = obstacle(at);
  return {
    title: t('Erase the account'),
    lead: t('Destroys the account with all its documents, for good.'),
    state:
      reason === undefined ? (
        t('You are told what is destroyed, and asked for your password, before it begins.')
      ) : (
        <Notice kind="warning">{reason}</Notice>
      ),
    acts: [
      {
        look: 'danger',
        icon: 'trash',
        isDisabled: reason !== undefined,
        text: t('Erase the account'),
        title: t('Erase the account of {email}?', { email }),
        effect: erasureEffect(bytes),
        fields: (
          <TextField
            label={t('Address of the account to erase')}
            name="email"
            inputMode="email"
            hint={t('Type it again, whole.')}
            autoComplete="off"
            isRequired
          />
        ),
        needsProof: true,
        action: t('Erase the account for good'),
        send: async (textOf) => {
          const sent = {
            params: { path: { id } },
            body: { email: textOf('email'), ...proofIn(textOf) },
          };
          await dataOf(api.POST('/api/v1/operator/accounts/{id}/erase/', sent));
          at.onErased();
          queryClient.removeQueries({ queryKey: [...ACCOUNTS, 'one', id] });
          return t('The account is erased.');
        },
      },
    ],
  };
};

/** The parts of the page, in their order. */
export const PARTS: readonly ((at: AtAccount) => Part)[] = [
  planAndCredits,
  retention,
  hold,
  activityPart,
  passwords,
  suspension,
  sessions,
  erasure,
];
