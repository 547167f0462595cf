/** The render queue's stream and subjects at the server, and the permissions for them. */
import {
  AckPolicy,
  DiscardPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';

export const JOBS = 'PRESSLEDGER_JOBS';
/** The consumer that all renderers share. */
export const RENDERERS = 'renderers';
/** The queue group of all who record reports. */
export const RECORDERS = 'recorders';
/**
 * The subject on which renderers report, and ask to be answered. No stream keeps reports: a renderer keeps
 * each of its reports until it is recorded, and an unfinished job comes again.
 */
export const REPORTS = 'pressledger.report';

/** A conversion has one subject, so that it has at most one job. */
export const jobSubject = (conversionId: string): string => `pressledger.jobs.${conversionId}`;
/** The subject on which a renderer node tells how many slots it has. */
export const slotsSubject = (node: string): string => `pressledger.slots.${node}`;

/** JetStream's refusal of a second message on a subject. */
const SUBJECT_IS_TAKEN = 10077;

export const isSubjectTaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === SUBJECT_IS_TAKEN;

/** Makes the stream and its consumer where they are missing. What is there, an operator's own, is left as it is. */
export async function ensureJobs(manager: JetStreamManager, ackWaitMs: number): Promise<void> {
  // Asking for what is there already changes nothing, and fails only where it differs.
  await orThere(
    () =>
      manager.streams.add({
        name: JOBS,
        subjects: [jobSubject('*')],
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        max_msgs_per_subject: 1,
        discard: DiscardPolicy.New,
        discard_new_per_subject: true,
      }),
    () => manager.streams.info(JOBS),
  );
  await orThere(
    () =>
      manager.consumers.add(JOBS, {
        durable_name: RENDERERS,
        ack_policy: AckPolicy.Explicit,
        ack_wait: ackWaitMs * 1_000_000,
        // Deliveries have no limit: an exhausted message would stay in the stream. The log counts tries.
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 8192,
      }),
    () => manager.consumers.info(JOBS, RENDERERS),
  );
}

/** @returns the conversions whose jobs are in the stream; undefined where it or its consumer is missing */
export async function listJobs(manager: JetStreamManager): Promise<Set<string> | undefined> {
  try {
    const { state } = await manager.streams.info(JOBS, { subjects_filter: '>' });
    const prefix = jobSubject('').length;
    const ids = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix));
    return state.consumer_count === 0 ? undefined : new Set(ids);
  } catch (error) {
    const isMissing =
      error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
    if (isMissing) return undefined;
    throw error;
  }
}

/** @returns whether it was in the stream */
export async function removeJob(manager: JetStreamManager, conversionId: string): Promise<boolean> {
  try {
    const query = { last_by_subj: jobSubject(conversionId) };
    const message = await manager.streams.getMessage(JOBS, query);
    // The sequence is used: a purge by subject makes a 2.9 server hand over again what is in flight.
    return message !== null && (await manager.streams.deleteMessage(JOBS, message.seq, false));
  } catch (error) {
    if (error instanceof JetStreamApiError) return false;
    throw error;
  }
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

/**
 * All that each side of the queue needs at the server, in the terms of its configuration. Renderers run
 * strangers' pages: they have an inbox prefix of their own, or they could read others' answers.
 */
export const PERMISSIONS = {
  renderer: {
    inboxPrefix: '_INBOX_RENDERER',
    publish: [
      '$JS.API.INFO',
      `$JS.API.CONSUMER.INFO.${JOBS}.${RENDERERS}`,
      `$JS.API.CONSUMER.MSG.NEXT.${JOBS}.${RENDERERS}`,
      `$JS.ACK.${JOBS}.${RENDERERS}.>`,
      // Servers that put the domain and account before the stream.
      `$JS.ACK.*.*.${JOBS}.${RENDERERS}.>`,
      REPORTS,
      slotsSubject('*'),
    ],
    subscribe: ['_INBOX_RENDERER.>'],
  },
  api: {
    inboxPrefix: '_INBOX_API',
    publish: [
      '$JS.API.INFO',
      `$JS.API.STREAM.INFO.${JOBS}`,
      `$JS.API.STREAM.CREATE.${JOBS}`,
      `$JS.API.STREAM.MSG.DELETE.${JOBS}`,
      `$JS.API.STREAM.MSG.GET.${JOBS}`,
      `$JS.API.CONSUMER.CREATE.${JOBS}.${RENDERERS}`,
      `$JS.API.CONSUMER.INFO.${JOBS}.${RENDERERS}`,
      jobSubject('*'),
      // The answers to reports.
      '_INBOX_RENDERER.>',
    ],
    subscribe: ['_INBOX_API.>', `${REPORTS} ${RECORDERS}`, slotsSubject('*')],
  },
} as const;
