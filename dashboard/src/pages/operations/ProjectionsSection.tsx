import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { Loaded } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { repeated, useOnEnd } from './live.ts';
import { eventsText } from './status-sections.tsx';
import { rich, t } from '../../words/rich.ts';

type Projection = components['schemas']['ProjectionState'];
type LastRebuild = NonNullable<Projection['last_rebuild']>;

const PROJECTIONS = ['operator', 'projections'];
/** How often the progress of a rebuild is asked for. */
const PROGRESS_SECONDS = 1;

const formatPosition = (position: string): string => formatNumber(Number(position));

const COLUMNS: readonly Column<Projection>[] = [
  { header: t('Projection'), isRowHeader: true, cell: ({ name }) => name },
  { header: t('Version'), align: 'end', cell: ({ version }) => formatNumber(version) },
  { header: t('Position'), align: 'end', cell: ({ position }) => formatPosition(position) },
  { header: t('Events behind'), align: 'end', cell: ({ lag }) => eventsText(lag) },
];

async function rebuild(): Promise<void> {
  await dataOf(api.POST('/api/v1/operator/projections/rebuild/'));
  announce(t('The rebuild has begun.'));
  await queryClient.invalidateQueries({ queryKey: PROJECTIONS });
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
    queryKey: PROJECTIONS,
    queryFn: ({ signal }) => dataOf(api.GET('/api/v1/operator/projections/', { signal })),
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
          action={t('Rebuild the projections')}
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
              columns={COLUMNS}
              rows={rows}
              rowKey={({ name }) => name}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}
