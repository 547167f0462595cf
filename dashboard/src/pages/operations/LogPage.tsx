import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerQuery, api, dataOf, queryClient, usePage } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { formatNumber } from '../../ui/format.ts';
import { EmptyState, Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { type Column, Records, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import styles from './operations.module.css';
import { useOnEnd } from '../../ui/acts.tsx';
import { repeated } from './operator-api.ts';
import { eventsText } from './status-sections.tsx';

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

type Projection = components['schemas']['ProjectionState'];
type LastRebuild = NonNullable<Projection['last_rebuild']>;

const PROJECTIONS = ['operator', 'projections'];
/** How often the progress of a rebuild is asked for. */
const PROGRESS_SECONDS = 1;

const formatPosition = (position: string): string => formatNumber(Number(position));

const PROJECTION_COLUMNS: readonly Column<Projection>[] = [
  { header: t('Projection'), isRowHeader: true, cell: ({ name }) => name },
  { header: t('Version'), align: 'end', cell: ({ version }) => formatNumber(version) },
  { header: t('Position'), align: 'end', cell: ({ position }) => formatPosition(position) },
  { header: t('Events behind'), align: 'end', cell: ({ lag }) => eventsText(lag) },
];

async function rebuild(): Promise<string> {
  await dataOf(api.POST('/api/v1/operator/projections/rebuild/'));
  await queryClient.invalidateQueries({ queryKey: PROJECTIONS });
  return t('The rebuild has begun.');
}

function RebuildEnd({ last }: { readonly last: LastRebuild }) {
  const { ended_at: at, error } = last;
  if (error !== null) {
    return (
      <Notice kind="danger">
        {rich(
          'The last rebuild failed: {error} It ended {time}. The lists before it are still in use.',
          { error, time: <Time iso={at} /> },
        )}
      </Notice>
    );
  }
  return (
    <p className="muted">
      {rich('The last rebuild ended well: {time}', { time: <Time iso={at} /> })}
    </p>
  );
}

export function ProjectionsSection() {
  const projections = useQuery({
    ...answerQuery(PROJECTIONS, '/api/v1/operator/projections/'),
    ...repeated(false),
    refetchInterval: ({ state }) =>
      state.data?.some(({ rebuilding }) => rebuilding !== undefined) === true
        ? repeated(false, PROGRESS_SECONDS).refetchInterval
        : repeated(false).refetchInterval,
  });
  // A rebuild is one for all projections.
  const [one] = projections.data ?? [];
  const rebuilding = one?.rebuilding;
  const last = one?.last_rebuild ?? undefined;
  useOnEnd(rebuilding !== undefined, () => {
    if (last?.error === null) announce(t('The projections are rebuilt.'));
  });
  return (
    <Section
      title={t('Projections')}
      lead={t(
        'The lists that these pages read. Each node makes its own from the log; these are those of the node that answered.',
      )}
      actions={
        <ConfirmButton
          icon="refresh"
          text={t('Rebuild the projections')}
          title={t('Rebuild the projections?')}
          onConfirm={rebuild}
        >
          <p>
            {t(
              'The node that answers reads the whole log and rebuilds all its lists beside those in use. When they are complete, they take their place.',
            )}
          </p>
          <p>
            {t(
              'The service goes on meanwhile, with more load on this node. The log is not changed. Other nodes keep their lists.',
            )}
          </p>
        </ConfirmButton>
      }
    >
      <Loaded query={projections} what={t('the projections')} lines={8}>
        {(rows) => (
          <>
            {projections.isError && (
              <Notice kind="warning">
                {t(
                  'The connection is lost. What is shown may be old. The page asks again by itself.',
                )}
              </Notice>
            )}
            {rebuilding !== undefined && (
              <ProgressBar
                label={t('Rebuilding the projections')}
                value={Number(rebuilding.position)}
                max={Math.max(1, Number(rebuilding.target))}
                text={t('Position {position} of {target}', {
                  position: formatPosition(rebuilding.position),
                  target: formatPosition(rebuilding.target),
                })}
              />
            )}
            {rebuilding === undefined && last !== undefined && <RebuildEnd last={last} />}
            <Table
              label={t('Projections')}
              columns={PROJECTION_COLUMNS}
              rows={rows}
              rowKey={({ name }) => name}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
