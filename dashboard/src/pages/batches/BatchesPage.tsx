import { getRouteApi, Link } from '@tanstack/react-router';
import { type Batch, BATCHES, nextLook } from '../../api/batches.ts';
import { api, usePage } from '../../api/client.ts';
import { formatNumber } from '../../ui/format.ts';
import { EmptyState, Page } from '../../ui/Page.tsx';
import { type Column, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { BatchBadge, batchName } from './words.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/batches');

const COLUMNS: readonly Column<Batch>[] = [
  {
    header: t('Batch'),
    isRowHeader: true,
    cell: (batch) => (
      <Link to="/batches/$id" params={{ id: batch.id }} search={{}}>
        <bdi>{batchName(batch)}</bdi>
      </Link>
    ),
  },
  { header: t('Status'), cell: ({ status }) => <BatchBadge status={status} /> },
  {
    header: t('Ended'),
    align: 'end',
    cell: ({ total, pending }) =>
      t('{ended}\u00a0of\u00a0{total}', {
        ended: formatNumber(total - pending),
        total: formatNumber(total),
      }),
  },
  {
    header: t('Failed'),
    align: 'end',
    cell: ({ failed }) =>
      failed === 0 ? <span className="muted">0</span> : <strong>{formatNumber(failed)}</strong>,
  },
  { header: t('Created'), cell: ({ created_at: at }) => <Time iso={at} /> },
];

export default function BatchesPage() {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const list = usePage({
    key: [...BATCHES, 'list'],
    page,
    size: 20,
    ask: (query, signal) => api.GET('/api/v1/batches/', { params: { query }, signal }),
    again: nextLook,
  });
  return (
    <Page
      title={t('Batches')}
      lead={t('Many conversions that were asked for in one request, newest first.')}
    >
      <Records
        list={list}
        of={t('batches')}
        label={t('Batches')}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={(next) =>
          void navigate({ to: '/batches', search: { page: next }, resetScroll: false })
        }
        empty={
          <EmptyState icon="stack" title={t('No batches yet')}>
            {rich('A program sends a batch to {code}; {code2} converts a folder.', {
              code: <code>/api/v1/batches/</code>,
              code2: <code>pressledger convert</code>,
            })}
          </EmptyState>
        }
      />
    </Page>
  );
}
