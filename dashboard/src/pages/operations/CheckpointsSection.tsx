import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, totalOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { Section } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import styles from './operations.module.css';
import { operatorAnswer } from './operator-api.ts';

type Checkpoint = components['schemas']['SignedCheckpoint'];

const PAGE_SIZE = 10;

const none = <span className={styles.muted}>None</span>;

const COLUMNS: readonly Column<Checkpoint>[] = [
  { header: 'Events', isRowHeader: true, cell: ({ size }) => formatNumber(size) },
  { header: 'Signed', cell: ({ time }) => <Time iso={time} /> },
  {
    header: 'Witnesses',
    cell: ({ witnesses }) =>
      witnesses.length === 0 ? (
        none
      ) : (
        <ul className={styles.witnesses}>
          {witnesses.map(({ name, time }) => (
            <li key={name}>
              {name} {time !== null && <Time iso={time} relative={false} />}
            </li>
          ))}
        </ul>
      ),
  },
  {
    header: 'Timestamp',
    cell: ({ timestamped_at: at }) => (at === null ? none : <Time iso={at} />),
  },
  {
    header: 'Origin',
    cell: ({ origin }) => <code className={styles.hash}>{origin}</code>,
  },
  { header: 'Root', cell: ({ root }) => <code className={styles.hash}>{root}</code> },
];

export function CheckpointsSection() {
  const [page, setPage] = useState(1);
  const checkpoints = useQuery({
    queryKey: ['operator', 'checkpoints', page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page, page_size: PAGE_SIZE };
      const sent = api.GET('/api/v1/operator/checkpoints/', { params: { query }, signal });
      const { data, response } = await operatorAnswer(sent);
      return { items: data, total: totalOf(response) };
    },
  });
  return (
    <Section
      title="Checkpoints"
      lead="A checkpoint says how many events the log had and the root hash of their tree. A witness that has signed it vouches that nothing before was changed."
    >
      {checkpoints.isPending && <Loading label="Loading the checkpoints" />}
      {checkpoints.data === undefined && checkpoints.isError && (
        <ErrorState error={checkpoints.error} onRetry={() => void checkpoints.refetch()} />
      )}
      {checkpoints.data?.total === 0 && (
        <EmptyState icon="shield" title="No checkpoint is signed yet">
          The service signs one soon after the first events.
        </EmptyState>
      )}
      {checkpoints.data !== undefined && checkpoints.data.total > 0 && (
        <>
          <Table
            label="Checkpoints"
            columns={COLUMNS}
            rows={checkpoints.data.items}
            rowKey={({ origin, size, root }) => `${origin}/${size}/${root}`}
            isBusy={checkpoints.isPlaceholderData}
          />
          <Pagination
            of="checkpoints"
            page={page}
            pageSize={PAGE_SIZE}
            total={checkpoints.data.total}
            onPage={setPage}
          />
        </>
      )}
    </Section>
  );
}
