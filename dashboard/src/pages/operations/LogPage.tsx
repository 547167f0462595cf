import { useState } from 'react';
import { api } from '../../api/client.ts';
import { usePage } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { formatNumber } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import styles from './operations.module.css';
import { ProjectionsSection } from './ProjectionsSection.tsx';
import { rich, t } from '../../words/rich.ts';

export default function LogPage() {
  return (
    <Page
      title={t('Log')}
      lead={t(
        'All that happened is in one log. Its signed checkpoints prove that it is unchanged; the projections are the lists that the service reads from it.',
      )}
    >
      <CheckpointsSection />
      <ProjectionsSection />
    </Page>
  );
}

type Checkpoint = components['schemas']['SignedCheckpoint'];

const none = <span className="muted">{t('None')}</span>;

const COLUMNS: readonly Column<Checkpoint>[] = [
  { header: t('Events'), isRowHeader: true, cell: ({ size }) => formatNumber(size) },
  { header: t('Signed'), cell: ({ time }) => <Time iso={time} /> },
  {
    header: t('Witnesses'),
    cell: ({ witnesses }) =>
      witnesses.length === 0 ? (
        none
      ) : (
        <ul>
          {witnesses.map(({ name, time }) => (
            <li key={name}>
              {name} {time !== null && <Time iso={time} relative={false} />}
            </li>
          ))}
        </ul>
      ),
  },
  {
    header: t('Timestamp'),
    cell: ({ timestamped_at: at }) => (at === null ? none : <Time iso={at} />),
  },
  {
    header: t('Origin'),
    cell: ({ origin }) => <code className={styles.hash}>{origin}</code>,
  },
  { header: t('Root'), cell: ({ root }) => <code className={styles.hash}>{root}</code> },
];

function CheckpointsSection() {
  const [page, setPage] = useState(1);
  const list = usePage({
    key: ['operator', 'checkpoints'],
    page,
    size: 10,
    ask: (query, signal) => api.GET('/api/v1/operator/checkpoints/', { params: { query }, signal }),
  });
  const { items = [] } = list.query.data ?? {};
  const origins = [...new Set(items.map(({ origin }) => origin))];
  const isOne = origins.length === 1;
  return (
    <Section
      title={t('Checkpoints')}
      lead={t(
        'A checkpoint says how many events the log had and the root hash of their tree. A witness that has signed it vouches that nothing before was changed.',
      )}
    >
      {isOne && <p>{rich('Origin: {code}', { code: <code>{origins[0]}</code> })}</p>}
      <Records
        list={list}
        of={t('checkpoints')}
        label={t('Checkpoints')}
        columns={isOne ? COLUMNS.filter(({ header }) => header !== t('Origin')) : COLUMNS}
        rowKey={({ origin, size, root }) => `${origin}/${size}/${root}`}
        onPage={setPage}
        empty={
          <EmptyState icon="shield" title={t('No checkpoint is signed yet')}>
            {t('The service signs one soon after the first events.')}
          </EmptyState>
        }
      />
    </Section>
  );
}
