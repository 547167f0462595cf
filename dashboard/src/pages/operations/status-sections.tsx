/** The state of the service: itself, its renderers and its queue. */
import { Link } from '@tanstack/react-router';
import { Facts } from '../../ui/Facts.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { Calm, EmptyState } from '../../ui/states.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { useSteadyOrder } from './live.ts';
import styles from './operations.module.css';
import type { ServiceStatus } from './operator-api.ts';

/** The service counts no further behind the end of the log. */
const MOST_EVENTS = 1000;

interface StatusProps {
  readonly status: ServiceStatus;
}

export const eventsText = (events: number): string =>
  events >= MOST_EVENTS ? `${formatNumber(MOST_EVENTS)} or more` : formatNumber(events);

const perMinute = (name: string, value: number): Figure => ({
  name,
  value: formatNumber(value),
  note: 'per minute',
});

function figuresOf({ queue, time, lag, recent }: ServiceStatus): readonly Figure[] {
  const { accepted, completed, failed, requeued } = recent.per_minute;
  const { oldest_at: oldest } = queue;
  return [
    {
      name: 'Waiting',
      value: formatNumber(queue.depth),
      note: oldest === null ? 'nothing waits' : `the oldest for ${ageOf(oldest, time)}`,
    },
    {
      name: 'Events not shown yet',
      value: eventsText(lag.events),
      note: lag.events === 0 ? 'the lists are up to date' : `${formatNumber(lag.seconds)} s behind`,
    },
    perMinute('Accepted', accepted),
    perMinute('Completed', completed),
    perMinute('Failed', failed),
    perMinute('Put back in the queue', requeued),
  ];
}

const ageOf = (iso: string, now: string): string =>
  formatDuration(Math.max(0, Date.parse(now) - Date.parse(iso)));

function mailText({ mail, time }: ServiceStatus): string {
  if (mail === null) return 'Off: there is no mail server';
  const { waiting, oldest_at: oldest, last_sent_at: sent, failed } = mail;
  const waits =
    oldest === null
      ? 'nothing waits'
      : `the oldest of ${formatNumber(waiting)} waits for ${ageOf(oldest, time)}`;
  const last = sent === null ? 'None sent yet' : `Last sent ${ageOf(sent, time)} ago`;
  return `${last}, ${waits}, ${formatNumber(failed)} not sent in all`;
}

function leadText({ led, leads }: ServiceStatus): string {
  if (leads) return 'This node feeds the renderers';
  if (led === null) return 'Not known: nobody can be asked';
  return led ? 'Another node feeds the renderers' : 'No node feeds the renderers';
}

export function StateSection({ status }: StatusProps) {
  const { ready, missing, version, uptime_seconds: uptime, memory } = status;
  return (
    <Section
      title="State"
      lead={`The rates are those of the last ${formatDuration(status.recent.window_seconds * 1000)}.`}
    >
      {/* Changes alone are read out: the text is the same as long as the state is. */}
      <div role="status" className="line">
        <Badge tone={ready ? 'ok' : 'danger'} icon={ready ? 'check' : 'warning'}>
          {ready ? 'Ready' : 'Not ready'}
        </Badge>
        {missing.length > 0 && (
          <ul>
            {missing.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        )}
      </div>
      <Figures figures={figuresOf(status)} />
      <Facts
        wide
        facts={{
          Version: version,
          'Runs for': formatDuration(uptime * 1000),
          Memory: formatBytes(memory.rss_bytes),
          Leader: leadText(status),
          Mail: mailText(status),
          ...(status.credits === 'off' && { Credits: 'Off: conversions cost nothing' }),
          ...(status.rate_limit === 'off' && { 'Rate limits': 'Off: requests are not limited' }),
        }}
      />
    </Section>
  );
}

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

export function RenderersSection({ status }: StatusProps) {
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

export function QueueSection({ status }: StatusProps) {
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
