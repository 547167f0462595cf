import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccount, useRights } from '../../api/people.ts';
import { api, usePage } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { type Column, Figures, Records, Time } from '../../ui/records.tsx';
import { formatCredits, formatNumber, planName } from '../../ui/format.ts';
import { EmptyState, Loaded, Page, Section } from '../../ui/Page.tsx';
import type { UsageSearch } from './search.ts';
import { StatementSection } from './StatementSection.tsx';
import { ExportButton, UsageSection } from './UsageSection.tsx';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/usage');

const LEAD = t('A conversion costs 1 credit. One that fails gives it back.');
const FREE = t('The service runs without credits: a conversion costs nothing.');

export default function UsagePage() {
  const account = useAccount();
  const { isOwner } = useRights();
  const search = route.useSearch();
  const { days = 30, page = 1 } = search;
  const navigate = useNavigate();
  const show = (next: UsageSearch) =>
    void navigate({ to: '/usage', search: next, resetScroll: false });
  return (
    <Page title={t('Credits and usage')} lead={account.data?.credits === null ? FREE : LEAD}>
      <Section title={t('Balance')}>
        <Loaded query={account} what={t('the balance')} lines={2}>
          {({ credits, plan, rate_limit: limit }) => (
            <Figures
              figures={[
                { name: t('Credits left'), value: formatCredits(credits) },
                { name: t('Plan'), value: planName(plan) },
                { name: t('Requests a minute with API keys'), value: formatNumber(limit) },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <UsageSection span={days} onSpan={(span) => show({ ...search, days: span })} />
      {isOwner && account.data !== undefined && (
        <StatementSection since={account.data.created_at} />
      )}
      <LedgerSection page={page} onPage={(next) => show({ ...search, page: next })} />
    </Page>
  );
}

type LedgerEntry = components['schemas']['LedgerEntry'];

const KIND = { grant: t('Granted'), debit: t('Taken'), refund: t('Given back') } as const;

/** +5, −1: the sign says more than a colour. */
const formatChange = (amount: number): string =>
  `${amount < 0 ? '−' : '+'}${formatNumber(Math.abs(amount))}`;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    header: t('Time'),
    cell: ({ created_at: time }) => <Time iso={time} relative={false} />,
    isRowHeader: true,
  },
  { header: t('Entry'), cell: ({ type }) => KIND[type] },
  { header: t('Credits'), cell: ({ amount }) => formatChange(amount), align: 'end' },
  { header: t('Balance'), cell: ({ balance }) => formatNumber(balance), align: 'end' },
  {
    header: t('Conversion'),
    cell: ({ conversion_id: id, name }) =>
      id === undefined ? (
        '–'
      ) : (
        <Link to="/conversions/$id" params={{ id }}>
          <bdi>{name ?? id}</bdi>
        </Link>
      ),
  },
];

interface LedgerSectionProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

/** Each change of the credits, newest first. */
function LedgerSection({ page, onPage }: LedgerSectionProps) {
  const list = usePage({
    key: ['ledger'],
    page,
    size: 20,
    ask: (query, signal) => api.GET('/api/v1/account/ledger/', { params: { query }, signal }),
  });
  return (
    <Section
      title={t('Ledger')}
      lead={t('Each change of the credits, newest first.')}
      fold={page === 1 ? 'closed' : 'open'}
      actions={<ExportButton path="/api/v1/account/ledger/" fileName="ledger.csv" what="ledger" />}
    >
      <Records
        list={list}
        of="entries"
        label={t('Ledger')}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={onPage}
        empty={
          <EmptyState icon="list" title={t('No entries yet')}>
            {t('Credits that an operator grants and that conversions cost are listed here.')}
          </EmptyState>
        }
      />
    </Section>
  );
}
