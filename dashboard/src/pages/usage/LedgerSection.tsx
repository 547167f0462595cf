import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api, totalOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { Section } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { ExportButton } from './ExportButton.tsx';

type LedgerEntry = components['schemas']['LedgerEntry'];

const PAGE_SIZE = 20;
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
    cell: ({ conversion_id: id }) =>
      id === undefined ? (
        '–'
      ) : (
        <Link to="/conversions/$id" params={{ id }}>
          {id}
        </Link>
      ),
  },
];

interface LedgerSectionProps {
  readonly page: number;
  readonly onPage: (page: number) => void;
}

/** Each change of the credits, newest first. */
export function LedgerSection({ page, onPage }: LedgerSectionProps) {
  const ledger = useQuery({
    queryKey: ['ledger', page],
    queryFn: async ({ signal }) => {
      const query = { page, page_size: PAGE_SIZE };
      const sent = api.GET('/api/v1/account/ledger/', { params: { query }, signal });
      const { data, response } = await answerOf(sent);
      return { entries: data, total: totalOf(response) };
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Section
      title="Ledger"
      lead="Each change of the credits, newest first."
      fold={page === 1 ? 'closed' : 'open'}
      actions={
        <ExportButton path="/api/v1/account/ledger/" fileName="ledger.csv" label="the ledger" />
      }
    >
      {ledger.isError ? (
        <ErrorState error={ledger.error} onRetry={() => void ledger.refetch()} />
      ) : ledger.data === undefined ? (
        <Loading label="Loading the ledger" lines={8} />
      ) : ledger.data.total === 0 ? (
        <EmptyState icon="list" title="No entries yet">
          Credits that an operator grants and that conversions cost are listed here.
        </EmptyState>
      ) : (
        <>
          <Table
            label="Ledger"
            columns={COLUMNS}
            rows={ledger.data.entries}
            rowKey={({ id }) => id}
            isBusy={ledger.isPlaceholderData}
          />
          <Pagination
            of="entries"
            page={page}
            pageSize={PAGE_SIZE}
            total={ledger.data.total}
            onPage={onPage}
          />
        </>
      )}
    </Section>
  );
}
