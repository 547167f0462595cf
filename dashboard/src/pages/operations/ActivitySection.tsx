/** The keys, the use and the failures of an account. They are asked for by a button: the account sees each look. */
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { everyDay } from '../../api/usage.ts';
import { Calm, Section } from '../../ui/Page.tsx';
import type { TextOf } from '../../ui/forms.tsx';
import { type Column, Table, Time } from '../../ui/records.tsx';
import { UsageDays } from '../usage/UsageDays.tsx';
import type { AccountDetails } from './operator-api.ts';
import { ReasonDialog, reasonIn } from './fields.tsx';
import { t } from '../../words/words.ts';

type Activity = components['schemas']['AccountActivity'];
type Key = Activity['keys'][number];
const DAYS = 30;

const KEYS: readonly Column<Key>[] = [
  { header: t('Key'), isRowHeader: true, cell: ({ prefix }) => <code>{prefix}…</code> },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} /> },
  {
    header: t('Last used'),
    cell: ({ last_used_at: at }) => (at === null ? t('Never') : <Time iso={at} />),
  },
];

export function ActivitySection({ account: { id, email } }: { readonly account: AccountDetails }) {
  const [activity, setActivity] = useState<Activity>();
  const look = async (textOf: TextOf) => {
    const params = { path: { id }, query: reasonIn(textOf) };
    setActivity(await dataOf(api.GET('/api/v1/operator/accounts/{id}/activity/', { params })));
  };
  return (
    <Section
      title={t('Keys, use and failures')}
      lead={t(
        'Prefixes of keys and counts, no names and no documents. The account sees in its history that you looked.',
      )}
      actions={
        <ReasonDialog
          text={t('Look at its activity')}
          title={t('Look at the activity of {email}?', { email })}
          action={t('Look at it')}
          look="primary"
          onSend={look}
        >
          {t('The look is recorded in the history of the account, once an hour.')}
        </ReasonDialog>
      }
    >
      {activity !== undefined && (
        <div role="status" className="stack">
          {activity.keys.length === 0 ? (
            <Calm>{t('The account has no API key.')}</Calm>
          ) : (
            <Table
              label={t('API keys')}
              columns={KEYS}
              rows={activity.keys}
              rowKey={({ id: key }) => key}
            />
          )}
          <UsageDays days={everyDay(activity.days, DAYS, Date.now())} />
        </div>
      )}
    </Section>
  );
}
