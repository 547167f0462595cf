/**
 * What an operator sees of an account and can do with it. Each part is an entry of `PARTS`; a further act is one more
 * entry of the acts of its part.
 */
import { api, dataOf } from '../../api/client.ts';
import { everyDay } from '../../api/usage.ts';
import { ActForm, type Part } from '../../ui/acts.tsx';
import { Calm } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import { Revocation } from '../keys/Revocation.tsx';
import { UsageDays } from '../usage/UsageDays.tsx';
import { erasure, passwords, sessions, suspension } from './account-access.tsx';
import { hold, planAndCredits, retention } from './account-terms.tsx';
import { type Activity, type AtAccount, forgetAccounts } from './operator-api.ts';

const DAYS = 30;

const columnsOf = (
  activity: Activity,
  { onActivity }: AtAccount,
): readonly Column<Activity['keys'][number]>[] => [
  { header: t('Key'), isRowHeader: true, cell: ({ prefix }) => <code>{prefix}…</code> },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) => (at === null ? t('Never') : <Time iso={at} />),
  },
  {
    header: t('Actions'),
    isActions: true,
    cell: ({ id, prefix }) => (
      <ActForm
        small
        icon="trash"
        text={t('Revoke')}
        aria-label={t('Revoke {name}', { name: prefix })}
        title={t('Revoke the key {name}?', { name: `${prefix}…` })}
        effect={<Revocation />}
        action={t('Revoke the key')}
        asksReason="optional"
        send={async (_, query) => {
          const params = { path: { id }, query };
          await dataOf(api.DELETE('/api/v1/operator/api-keys/{id}/', { params }));
          // Not asked for again: that would be another look.
          onActivity({ ...activity, keys: activity.keys.filter((key) => key.id !== id) });
          return t('The key {name} is revoked.', { name: `${prefix}…` });
        }}
        after={forgetAccounts}
      />
    ),
  },
];

/** It is asked for by a button: the account sees each look. */
const activityPart = (at: AtAccount): Part => {
  const {
    account: { id, email },
    activity,
    onActivity,
  } = at;
  return {
    title: t('Keys, use and failures'),
    lead: t(
      'Prefixes of keys and counts, no names and no documents. The account sees in its history that you looked.',
    ),
    state: activity && (
      <div role="status" className="stack">
        <Table
          label={t('API keys')}
          columns={columnsOf(activity, at)}
          rows={activity.keys}
          rowKey={({ id: key }) => key}
          empty={<Calm>{t('The account has no API key.')}</Calm>}
        />
        {/* The advice of the page Usage is for who uses the account. */}
        {activity.days.length === 0 ? (
          <p>{t('No conversions in the last {DAYS} days.', { DAYS })}</p>
        ) : (
          <UsageDays days={everyDay(activity.days, DAYS, Date.now())} isOwn={false} />
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
