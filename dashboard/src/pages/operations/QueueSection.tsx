import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { Calm } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { useSteadyOrder } from './live.ts';
import styles from './operations.module.css';
import type { ServiceStatus } from './operator-api.ts';
import { ageOf } from './StateSection.tsx';

type Queued = ServiceStatus['queue']['by_account'][number];

/** The service lists no more. */
const MOST_ACCOUNTS = 100;

const columnsAt = (now: string): readonly Column<Queued>[] => [
  {
    header: 'Account',
    isRowHeader: true,
    cell: ({ account_id: id, email }) =>
      email === null ? (
        <>An account that is being erased</>
      ) : (
        <Link to="/operations/accounts/$id" params={{ id }}>
          {email}
        </Link>
      ),
  },
  { header: 'Waiting', align: 'end', cell: ({ pending }) => formatNumber(pending) },
  { header: 'Rendering', align: 'end', cell: ({ processing }) => formatNumber(processing) },
  {
    header: 'Age of the oldest',
    align: 'end',
    cell: ({ oldest_at: at }) => ageOf(at, now),
  },
];

export function QueueSection({ status }: { readonly status: ServiceStatus }) {
  const rows = useSteadyOrder(status.queue.by_account, ({ account_id: id }) => id);
  return (
    <Section
      title="Queue by account"
      lead={
        rows.length >= MOST_ACCOUNTS
          ? `The ${MOST_ACCOUNTS} accounts with most unfinished conversions.`
          : 'All accounts with unfinished conversions. They take turns.'
      }
    >
      <div className={styles.steady}>
        {rows.length === 0 ? (
          <Calm>No conversion is unfinished.</Calm>
        ) : (
          <Table
            label="Unfinished conversions by account"
            columns={columnsAt(status.time)}
            rows={rows}
            rowKey={({ account_id: id }) => id}
          />
        )}
      </div>
    </Section>
  );
}
