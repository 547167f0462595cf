/** What the render queue has in JetStream, and who may touch what of it. */
import {
  AckPolicy,
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';

export const JOBS = 'PRESSLEDGER_JOBS';
export const REPORTS = 'PRESSLEDGER_REPORTS';
/** The consumer that all renderers share. */
export const RENDERERS = 'renderers';
/** The consumer that all who record reports share. */
export const RECORDERS = 'recorders';

/** A conversion has one subject, so that it waits or is in hand at most once. */
export const jobSubject = (conversionId: string): string => `pressledger.jobs.${conversionId}`;
export const conversionOfJob = (subject: string): string => subject.slice(jobSubject('').length);
export const reportSubject = (conversionId: string, report: string): string =>
  `pressledger.reports.${conversionId}.${report}`;
/** What one renderer node has in hand, by its own account. */
export const handsSubject = (node: string): string => `pressledger.hands.${node}`;
/** Where a reporter learns that a report is recorded. */
export const recordedSubject = (reporter: string): string => `pressledger.recorded.${reporter}`;

/** JetStream's refusal of a second message on a subject. */
export const SUBJECT_IS_TAKEN = 10077;

/** Recorders of one report may take this long without a sign of life. */
export const REPORT_ACK_WAIT_MS = 30_000;

interface Wanted {
  readonly stream: string;
  readonly subjects: string[];
  readonly consumer: string;
  readonly ackWaitMs: number;
}

const nanos = (ms: number): number => ms * 1_000_000;

/** Makes the streams and consumers that are missing. One that is there, an operator's own, is left as it is. */
export async function ensureStreams(manager: JetStreamManager, ackWaitMs: number): Promise<void> {
  const jobs = { stream: JOBS, subjects: [jobSubject('*')], consumer: RENDERERS, ackWaitMs };
  const reports = {
    stream: REPORTS,
    subjects: [reportSubject('*', '*')],
    consumer: RECORDERS,
    ackWaitMs: REPORT_ACK_WAIT_MS,
  };
  await Promise.all([ensure(manager, jobs), ensure(manager, reports)]);
}

async function ensure(manager: JetStreamManager, wanted: Wanted): Promise<void> {
  const { stream, subjects, consumer, ackWaitMs } = wanted;
  // Asking for what is there already changes nothing, and fails only where it differs.
  await orThere(
    () =>
      manager.streams.add({
        name: stream,
        subjects,
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        max_msgs_per_subject: 1,
        discard: DiscardPolicy.New,
        discard_new_per_subject: true,
      }),
    () => manager.streams.info(stream),
  );
  await orThere(
    () =>
      manager.consumers.add(stream, {
        durable_name: consumer,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        // Without an end: a job that came too often is failed by the renderer that gets it next, and an
        // exhausted message would stay in the stream with nobody to say so.
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 8192,
      }),
    () => manager.consumers.info(stream, consumer),
  );
}

async function orThere(make: () => Promise<unknown>, look: () => Promise<unknown>): Promise<void> {
  try {
    await make();
  } catch (error) {
    await look().catch(() => {
      throw error;
    });
  }
}

const consumerApi = (stream: string, consumer: string): string[] => [
  `$JS.API.CONSUMER.INFO.${stream}.${consumer}`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`,
  `$JS.ACK.${stream}.${consumer}.>`,
  // Servers that put the domain and account before the stream.
  `$JS.ACK.*.*.${stream}.${consumer}.>`,
];

/**
 * All that each side of the queue needs at the server, in the terms of its configuration. Renderers run
 * strangers' pages: they have an inbox prefix of their own, or they could read others' answers.
 */
export const PERMISSIONS = {
  renderer: {
    inboxPrefix: '_INBOX_RENDERER',
    publish: [
      '$JS.API.INFO',
      ...consumerApi(JOBS, RENDERERS),
      reportSubject('*', '*'),
      handsSubject('*'),
    ],
    subscribe: ['_INBOX_RENDERER.>', recordedSubject('*')],
  },
  api: {
    inboxPrefix: '_INBOX_API',
    publish: [
      '$JS.API.INFO',
      `$JS.API.STREAM.INFO.${JOBS}`,
      `$JS.API.STREAM.INFO.${REPORTS}`,
      `$JS.API.STREAM.CREATE.${JOBS}`,
      `$JS.API.STREAM.CREATE.${REPORTS}`,
      `$JS.API.CONSUMER.CREATE.${JOBS}.${RENDERERS}`,
      `$JS.API.CONSUMER.CREATE.${REPORTS}.${RECORDERS}`,
      `$JS.API.CONSUMER.INFO.${JOBS}.${RENDERERS}`,
      ...consumerApi(REPORTS, RECORDERS),
      jobSubject('*'),
      recordedSubject('*'),
    ],
    subscribe: ['_INBOX_API.>', handsSubject('*')],
  },
} as const;
