/**
 * Every metric there is, by the part of the service that has it. No label has ids, addresses or URLs: each
 * has a few fixed values. docs/monitoring.md has the same table.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Seconds: from a read of a cached page to a disk or server that hardly answers. */
const CALLS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
/** Seconds: a client may prefer to wait 30 s for a conversion. */
const REQUESTS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Seconds: from a written page to one that takes its whole time limit. */
const RENDERING = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
/** Seconds: conversions may wait for long. */
const WHOLE = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600];
const DELAYS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const name = (short: string): string => `pressledger_${short}`;

function makersFor(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(
      short: string,
      help: string,
      labelNames: readonly L[] = [],
    ) => new Counter<L>({ name: name(short), help, labelNames, registers }),
    gauge: <L extends string = never>(short: string, help: string, labelNames: readonly L[] = []) =>
      new Gauge<L>({ name: name(short), help, labelNames, registers }),
    histogram: <L extends string = never>(
      short: string,
      help: string,
      buckets: readonly number[],
      labelNames: readonly L[] = [],
    ) =>
      new Histogram<L>({ name: name(short), help, labelNames, buckets: [...buckets], registers }),
  };
}

type Makers = ReturnType<typeof makersFor>;

/** The calls of one part that the service depends on. */
const callsOf = ({ counter, histogram }: Makers, part: string, named: string) => ({
  duration: histogram(
    `${part}_call_duration_seconds`,
    `Time that calls of ${named} took, failed ones too.`,
    CALLS,
    ['call'],
  ),
  failures: counter(`${part}_call_failures_total`, `Calls of ${named} that failed.`, [
    'call',
    'error',
  ]),
});

/** The metrics of every process. */
export function processMetrics(registry: Registry) {
  const makers = makersFor(registry);
  const { counter, gauge, histogram } = makers;
  return {
    info: gauge('build_info', 'Always 1; the labels say what runs.', ['version', 'role']),
    ready: gauge('ready', '1 while /readyz answers 200, else 0.'),
    startTime: gauge('process_start_time_seconds', 'When the process started, in Unix time.'),
    cpu: counter('process_cpu_seconds_total', 'Processor time of the process, without Chrome.'),
    memory: gauge('process_resident_memory_bytes', 'Memory of the process, without Chrome.'),
    openFiles: gauge('process_open_fds', 'Open file descriptors.'),
    eventLoopDelay: histogram(
      'event_loop_delay_seconds',
      'How late a timer of 100 ms came.',
      DELAYS,
    ),
    freeDisk: gauge('data_dir_free_bytes', 'Room on the file system of DATA_DIR.'),
    blobStore: callsOf(makers, 'blob_store', 'the blob store'),
    nats: callsOf(makers, 'nats', 'NATS'),
    natsUp: gauge('nats_up', '1 while NATS can be reached. Absent without NATS_URL.'),
  };
}

/** The metrics of a process that serves the API. */
export function apiMetrics(registry: Registry) {
  const makers = makersFor(registry);
  const { counter, gauge, histogram } = makers;
  return {
    requests: histogram(
      'http_request_duration_seconds',
      'Time from a request to the end of its answer.',
      REQUESTS,
      ['method', 'route', 'status'],
    ),
    refusals: counter('refusals_total', 'Requests refused because a bound was reached.', ['bound']),
    boundUsed: gauge('bound_used', 'What is in use of a bound, in its own unit.', ['bound']),
    boundLimit: gauge('bound_limit', 'The bound, in its own unit.', ['bound']),
    eventStore: callsOf(makers, 'event_store', 'the event store'),
    projectionDelay: histogram(
      'projection_delay_seconds',
      'Time from an event to its being in the read models; one count for each batch.',
      WHOLE,
    ),
    lagEvents: gauge(
      'projection_lag_events',
      'Events that the read models lack; more than 1000 count as 1000.',
    ),
    lagSeconds: gauge(
      'projection_lag_seconds',
      'Age of the oldest event that the read models lack; 0 if they lack none.',
    ),
    queue: gauge(
      'queue_conversions',
      'Accepted conversions that have not ended, by the read models: the same on every API node.',
      ['state'],
    ),
    oldest: gauge(
      'queue_oldest_age_seconds',
      'Age of the oldest conversion that no renderer has started; 0 if there is none.',
    ),
    keyringCopied: gauge(
      'keyring_copy_timestamp_seconds',
      'When the keyring was last copied by a command with this DATA_DIR, in Unix time; absent where none was.',
    ),
    backupVerified: gauge(
      'verified_backup_timestamp_seconds',
      'When the newest backup was made that a command with this DATA_DIR has verified, in Unix time; absent where none was.',
    ),
    leader: gauge('leader', '1 in the process that feeds the queue.'),
    // Counted in the leader, from the log: it sees what every node and command has appended.
    accepted: counter('conversions_accepted_total', 'Conversions accepted; counted by the leader.'),
    completed: counter(
      'conversions_completed_total',
      'Conversions completed; counted by the leader.',
    ),
    failed: counter('conversions_failed_total', 'Conversions failed; counted by the leader.', [
      'reason',
    ]),
    conversionDuration: histogram(
      'conversion_duration_seconds',
      'Time from the acceptance of a conversion to its end; counted by the leader.',
      WHOLE,
      ['outcome'],
    ),
    granted: counter('credits_granted_total', 'Credits granted; counted by the leader.'),
    debited: counter('credits_debited_total', 'Credits debited; counted by the leader.'),
    refunded: counter('credits_refunded_total', 'Credits refunded; counted by the leader.'),
    webhookTries: counter(
      'webhook_tries_total',
      'Tries to deliver a webhook, by what came of them; counted by the leader.',
      ['outcome'],
    ),
    webhooksWaiting: gauge(
      'webhook_deliveries_waiting',
      'Webhook deliveries that will be tried, by the read models: the same on every API node.',
    ),
    mails: counter(
      'mails_total',
      'Mails that the mail server has taken, or that nobody tries any more; counted by the leader.',
      ['outcome'],
    ),
    mailsWaiting: gauge(
      'mails_waiting',
      'Mails that will be sent, by the read models: the same on every API node.',
    ),
    oldestMail: gauge(
      'mails_oldest_age_seconds',
      'Age of the oldest mail that waits; 0 if there is none.',
    ),
  };
}

/** The metrics of a process that renders. */
export function renderMetrics(registry: Registry) {
  const { counter, gauge, histogram } = makersFor(registry);
  return {
    phases: histogram(
      'render_phase_duration_seconds',
      'Time of each phase of the renderings that ended with a PDF.',
      RENDERING,
      ['phase'],
    ),
    renderings: histogram(
      'render_duration_seconds',
      'Time that a job took in this process, by how it ended.',
      RENDERING,
      ['outcome'],
    ),
    slots: gauge('render_slots', 'Documents that can be rendered at a time.'),
    slotsInUse: gauge('render_slots_in_use', 'Slots that hold a job.'),
    browsers: gauge('browsers', 'Chromes that run.'),
    browserStarts: counter('browser_starts_total', 'Chromes that were started.'),
    browserMemory: gauge(
      'browser_memory_bytes',
      'Memory of all Chromes, without what they map of files.',
    ),
  };
}

export type ApiMetrics = ReturnType<typeof apiMetrics>;
export type RenderMetrics = ReturnType<typeof renderMetrics>;
export type Calls = ReturnType<typeof callsOf>;
