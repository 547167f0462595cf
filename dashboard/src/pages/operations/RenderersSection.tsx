import { formatDuration, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { useSteadyOrder } from './live.ts';
import styles from './operations.module.css';
import type { ServiceStatus } from './operator-api.ts';

type Node = ServiceStatus['nodes'][number];
type Reporter = ServiceStatus['recent']['renderers'][number];

/** The service calls itself so where it renders in its own process. */
const HERE = 'here';

const NODE_COLUMNS: readonly Column<Node>[] = [
  {
    header: 'Renderer',
    isRowHeader: true,
    cell: ({ id }) => (id === HERE ? 'The service itself' : <code>{id}</code>),
  },
  { header: 'Slots', align: 'end', cell: ({ slots }) => formatNumber(slots) },
];

const REPORTER_COLUMNS: readonly Column<Reporter>[] = [
  { header: 'Renderer', isRowHeader: true, cell: ({ name }) => <code>{name}</code> },
  { header: 'Completed', align: 'end', cell: ({ completed }) => formatNumber(completed) },
  { header: 'Failed', align: 'end', cell: ({ failed }) => formatNumber(failed) },
  { header: 'Last report', cell: ({ last_report_at: at }) => <Time iso={at} /> },
];

export function RenderersSection({ status }: { readonly status: ServiceStatus }) {
  const { slots, recent } = status;
  const nodes = useSteadyOrder(status.nodes, ({ id }) => id);
  const reporters = useSteadyOrder(recent.renderers, ({ name }) => name);
  const window = formatDuration(recent.window_seconds * 1000);
  return (
    <Section title="Renderers" lead="Each slot renders one conversion at a time.">
      {nodes.length === 0 ? (
        <EmptyState icon="server" title="No renderer takes conversions">
          Accepted conversions wait until one is started. None is lost.
        </EmptyState>
      ) : (
        <div className="stack">
          <ProgressBar
            label="Slots in use"
            value={Math.min(slots.busy, slots.total)}
            max={slots.total}
            text={`${formatNumber(slots.busy)} of ${formatNumber(slots.total)} in use`}
          />
          <Table
            label="Renderers that take conversions now"
            columns={NODE_COLUMNS}
            rows={nodes}
            rowKey={({ id }) => id}
          />
        </div>
      )}
      <div className={`${styles.group} ${styles.steady}`}>
        <h3>Reports of the last {window}</h3>
        {reporters.length === 0 ? (
          <p className="muted">No renderer has reported an outcome in this time.</p>
        ) : (
          <Table
            label={`Renderers that reported in the last ${window}`}
            columns={REPORTER_COLUMNS}
            rows={reporters}
            rowKey={({ name }) => name}
          />
        )}
      </div>
    </Section>
  );
}
