import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccount } from '../../api/account.ts';
import { api } from '../../api/client.ts';
import { usePage } from '../../api/paged.ts';
import { useRights } from '../../api/people.ts';
import type { components } from '../../api/schema.d.ts';
import { Figures } from '../../ui/Figures.tsx';
import { formatCredits, formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import type { UsageSearch } from './search.ts';
import { StatementSection } from './StatementSection.tsx';
import { ExportButton, UsageSection } from './UsageSection.tsx';

const route = getRouteApi('/signed-in/usage');

const LEAD = 'A conversion costs 1 credit. One that fails gives it back.';
const FREE = 'The service runs without credits: a conversion costs nothing.';

export default function UsagePage() {
  const account = useAccount();
  const { isOwner } = useRights();
  const search = route.useSearch();
  const { days = 30, page = 1 } = search;
  const navigate = useNavigate();
  const show = (next: UsageSearch) =>
    void navigate({ to: '/usage', search: next, resetScroll: false });
  return (
    <Page title="Credits and usage" lead={account.data?.credits === null ? FREE : LEAD}>
      <Section title="Balance">
        <Loaded query={account} what="the balance" lines={2}>
          {({ credits, plan, rate_limit: limit }) => (
            <Figures
              figures={[
                { name: 'Credits left', value: formatCredits(credits) },
                { name: 'Plan', value: planName(plan) },
                { name: 'Requests a minute with API keys', value: formatNumber(limit) },
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

const KIND = { grant: 'Granted', debit: 'Taken', refund: 'Given back' } as const;

/** +5, −1: the sign says more than a colour. */
const formatChange = (amount: number): string =>
  `${amount < 0 ? '−' : '+'}${formatNumber(Math.abs(amount))}`;

const COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    header: 'Time',
    cell: ({ created_at: time }) => <Time iso={time} relative={false} />,
    isRowHeader: true,
  },
  { header: 'Entry', cell: ({ type }) => KIND[type] },
  { header: 'Credits', cell: ({ amount }) => formatChange(amount), align: 'end' },
  { header: 'Balance', cell: ({ balance }) => formatNumber(balance), align: 'end' },
  {
    header: 'Conversion',
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
      title="Ledger"
      lead="Each change of the credits, newest first."
      fold={page === 1 ? 'closed' : 'open'}
      actions={<ExportButton path="/api/v1/account/ledger/" fileName="ledger.csv" what="ledger" />}
    >
      <Records
        list={list}
        of="entries"
        label="Ledger"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={onPage}
        empty={
          <EmptyState icon="list" title="No entries yet">
            Credits that an operator grants and that conversions cost are listed here.
          </EmptyState>
        }
      />
    </Section>
  );
}
