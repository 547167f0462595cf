import { Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import { usePage } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { ExportButton } from './ExportButton.tsx';

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
