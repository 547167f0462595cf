/** The state of the service: itself, its renderers and its queue. */
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Chart, Charts } from '../../ui/Chart.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Calm, EmptyState, Section } from '../../ui/Page.tsx';
import { ProgressBar } from '../../ui/ProgressBar.tsx';
import { Badge, type Column, Facts, type Figure, Figures, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import styles from './operations.module.css';
import { type ServiceStatus, useSteadyOrder } from './operator-api.ts';
import { linesOf } from './OverTime.tsx';

/** The service counts no further behind the end of the log. */
const MOST_EVENTS = 1000;

type StatusProps = { readonly status: ServiceStatus };

export const eventsText = (events: number): string =>
  events >= MOST_EVENTS
    ? t('{MOST_EVENTS} or more', { MOST_EVENTS: formatNumber(MOST_EVENTS) })
    : formatNumber(events);

const perMinute = (name: string, value: number): Figure => ({
  name,
  value: formatNumber(value),
  note: t('per minute'),
});

function figuresOf({ queue, time, lag, recent }: ServiceStatus): readonly Figure[] {
  const { accepted, completed, failed, requeued } = recent.per_minute;
  const { oldest_at: oldest } = queue;
  return [
    {
      name: t('Waiting'),
      value: formatNumber(queue.depth),
      note:
        oldest === null
          ? t('nothing waits')
          : t('the oldest for {oldest}', { oldest: ageOf(oldest, time) }),
    },
    {
      name: t('Events not shown yet'),
      value: eventsText(lag.events),
      note:
        lag.events === 0
          ? t('the lists are up to date')
          : t('{seconds} s behind', { seconds: formatNumber(lag.seconds) }),
    },
    perMinute(t('Accepted'), accepted),
    perMinute(t('Completed'), completed),
    perMinute(t('Failed'), failed),
    perMinute(t('Put back in the queue'), requeued),
  ];
}

const ageOf = (iso: string, now: string): string =>
  formatDuration(Math.max(0, Date.parse(now) - Date.parse(iso)));

function mailText({ mail, time }: ServiceStatus): string {
  if (mail === null) return t('Off: there is no mail server');
  const { waiting, oldest_at: oldest, last_sent_at: sent, failed } = mail;
  const waits =
    oldest === null
      ? t('nothing waits')
      : t('the oldest of {waiting} waits for {oldest}', {
          waiting: formatNumber(waiting),
          oldest: ageOf(oldest, time),
        });
  const last =
    sent === null ? t('None sent yet') : t('Last sent {sent} ago', { sent: ageOf(sent, time) });
  return t('{last}, {waits}, {failed} not sent in all', {
    last,
    waits,
    failed: formatNumber(failed),
  });
}

function leadText({ led, leads }: ServiceStatus): string {
  if (leads) return t('This node feeds the renderers');
  if (led === null) return t('Not known: nobody can be asked');
  return led ? t('Another node feeds the renderers') : t('No node feeds the renderers');
}

export function StateSection({ status }: StatusProps) {
  const { ready, missing, version, uptime_seconds: uptime, memory } = status;
  return (
    <Section
      title={t('State')}
      lead={t('The rates are those of the last {formatDuration}.', {
        formatDuration: formatDuration(status.recent.window_seconds * 1000),
      })}
    >
      {/* Changes alone are read out: the text is the same as long as the state is. */}
      <div role="status" className="line">
        <Badge
          tone={ready ? 'ok' : 'danger'}
          icon={ready ? 'check' : 'warning'}
          text={ready ? t('Ready') : t('Not ready')}
        />
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
          [t('Version')]: version,
          [t('Runs for')]: formatDuration(uptime * 1000),
          [t('Memory')]: formatBytes(memory.rss_bytes),
          [t('Leader')]: leadText(status),
          [t('Mail')]: mailText(status),
          ...(status.credits === 'off' && { [t('Credits')]: t('Off: conversions cost nothing') }),
          ...(status.rate_limit === 'off' && {
            [t('Rate limits')]: t('Off: requests are not limited'),
          }),
        }}
      />
    </Section>
  );
}

type Reporter = ServiceStatus['recent']['renderers'][number];

interface Renderer extends Partial<Omit<Reporter, 'name'>> {
  readonly name: string;
  /** None where it takes no more conversions. */
  readonly slots?: number;
}

/** The service calls itself so where it renders in its own process. */
const HERE = 'here';

/**
 * The renderers that take conversions and those that have reported, in one list. Only one process renders in itself at
 * a time: its reports are the latest.
 */
function renderersOf({ nodes, recent }: ServiceStatus): readonly Renderer[] {
  const [latest] = recent.renderers;
  const here = nodes.some(({ id }) => id === HERE) ? latest?.name : undefined;
  const nameOf = (id: string): string => (id === HERE ? (here ?? HERE) : id);
  const slots = new Map(nodes.map((node) => [nameOf(node.id), node.slots]));
  const reported = new Map(recent.renderers.map((each) => [each.name, each]));
  return [...new Set([...slots.keys(), ...reported.keys()])].map((name) => {
    const count = slots.get(name);
    return { ...reported.get(name), name, ...(count !== undefined && { slots: count }) };
  });
}

const orNone = (count: number | undefined): string =>
  count === undefined ? '–' : formatNumber(count);

const columnsOf = (isHere: boolean, window: string): readonly Column<Renderer>[] => [
  {
    header: t('Renderer'),
    isRowHeader: true,
    cell: ({ name, slots }) => (
      <>
        {isHere && slots !== undefined && t('The service itself ')}
        {name !== HERE && <code>{name}</code>}
      </>
    ),
  },
  { header: t('Slots'), align: 'end', cell: ({ slots }) => orNone(slots) },
  {
    header: t('Completed in {window}', { window }),
    align: 'end',
    cell: ({ completed = 0 }) => formatNumber(completed),
  },
  {
    header: t('Failed in {window}', { window }),
    align: 'end',
    cell: ({ failed = 0 }) => formatNumber(failed),
  },
  {
    header: t('Last report'),
    cell: ({ last_report_at: at }) =>
      at === undefined ? t('None in this time') : <Time iso={at} look="short" />,
  },
];

export function RenderersSection({ status }: StatusProps) {
  const { slots, nodes, recent } = status;
  const renderers = useSteadyOrder(renderersOf(status), ({ name }) => name);
  const window = formatDuration(recent.window_seconds * 1000);
  return (
    <Section title={t('Renderers')} lead={t('Each slot renders one conversion at a time.')}>
      {nodes.length === 0 ? (
        <EmptyState icon="server" title={t('No renderer takes conversions')}>
          {t('Accepted conversions wait until one is started. None is lost.')}
        </EmptyState>
      ) : (
        <ProgressBar
          label={t('Slots in use')}
          value={Math.min(slots.busy, slots.total)}
          max={slots.total}
          text={t('{busy} of {total} in use', {
            busy: formatNumber(slots.busy),
            total: formatNumber(slots.total),
          })}
        />
      )}
      <Table
        label={t('Renderers')}
        columns={columnsOf(
          nodes.some(({ id }) => id === HERE),
          window,
        )}
        rows={renderers}
        rowKey={({ name }) => name}
        empty={null}
      />
      <Live status={status} />
    </Section>
  );
}

/** The looks that are kept: an hour of them. */
const MOST_LOOKS = 720;
const MEGABYTE = 1_000_000;

/** The log does not hold slots and memory: the page keeps what it has seen. */
function Live({ status }: StatusProps) {
  const [looks, setLooks] = useState<readonly ServiceStatus[]>([status]);
  useEffect(() => {
    setLooks((before) =>
      before.at(-1)?.time === status.time ? before : [...before, status].slice(-MOST_LOOKS),
    );
  }, [status]);
  const times = looks.map(({ time }) => Date.parse(time) / 1000);
  const line = linesOf(looks);
  return (
    <>
      <p className="note">
        {t('The log does not hold slots and memory: these lines begin when this page is opened.')}
      </p>
      <Charts>
        <Chart
          times={times}
          title={t('Slots')}
          format={formatNumber}
          series={[
            line(t('There'), 'text-muted', (look) => look.slots.total, true),
            line(t('In use'), 'accent', (look) => look.slots.busy),
          ]}
        />
        <Chart
          times={times}
          title={t('Memory of the node that answers')}
          format={formatBytes}
          least={100 * MEGABYTE}
          steps={[1, 2, 5, 10, 20, 50, 100].map((each) => each * 10 * MEGABYTE)}
          series={[line(t('Memory'), 'accent', (look) => look.memory.rss_bytes)]}
        />
      </Charts>
    </>
  );
}

type Queued = ServiceStatus['queue']['by_account'][number];

/** The service lists no more. */
const MOST_ACCOUNTS = 100;

const columnsAt = (now: string): readonly Column<Queued>[] => [
  {
    header: t('Account'),
    isRowHeader: true,
    cell: ({ account_id: id, email }) =>
      email === null ? (
        <>{t('An account that is being erased')}</>
      ) : (
        <Link to="/operations/accounts/$id" params={{ id }}>
          {email}
        </Link>
      ),
  },
  { header: t('Waiting'), align: 'end', cell: ({ pending }) => formatNumber(pending) },
  { header: t('Rendering'), align: 'end', cell: ({ processing }) => formatNumber(processing) },
  {
    header: t('Age of the oldest'),
    align: 'end',
    cell: ({ oldest_at: at }) => ageOf(at, now),
  },
];

export function QueueSection({ status }: StatusProps) {
  const rows = useSteadyOrder(status.queue.by_account, ({ account_id: id }) => id);
  return (
    <Section
      title={t('Queue by account')}
      lead={
        rows.length >= MOST_ACCOUNTS
          ? t('The {MOST_ACCOUNTS} accounts with most unfinished conversions.', { MOST_ACCOUNTS })
          : t('All accounts with unfinished conversions. They take turns.')
      }
    >
      <div className={styles.steady}>
        <Table
          label={t('Unfinished conversions by account')}
          columns={columnsAt(status.time)}
          rows={rows}
          rowKey={({ account_id: id }) => id}
          empty={<Calm>{t('No conversion is unfinished.')}</Calm>}
        />
      </div>
    </Section>
  );
}
