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
/** The answers to a report: its event is on disk, or it may be said again, or it is no report. */
export const RECORDED = 'recorded';
export const AGAIN = 'again';
export const REFUSED = 'refused';

/** A conversion has one subject, so that it waits or is in hand at most once. */
export const jobSubject = (conversionId: string): string => `pressledger.jobs.${conversionId}`;
const conversionOfJob = (subject: string): string => subject.slice(jobSubject('').length);
/** The subject on which a renderer node tells what it has in hand. */
export const handsSubject = (node: string): string => `pressledger.hands.${node}`;

/** JetStream's refusal of a second message on a subject. */
export const SUBJECT_IS_TAKEN = 10077;

const nanos = (ms: number): number => ms * 1_000_000;

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
        ack_wait: nanos(ackWaitMs),
        // Deliveries have no limit. The next renderer fails a job that came too often. An exhausted message
        // would stay in the stream with nobody to say so.
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 8192,
      }),
    () => manager.consumers.info(JOBS, RENDERERS),
  );
}

/** @returns undefined where there is no stream */
export async function lookAtJobs(
  manager: JetStreamManager,
): Promise<{ readonly consumers: number; readonly conversionIds: readonly string[] } | undefined> {
  try {
    const { state } = await manager.streams.info(JOBS, { subjects_filter: '>' });
    const conversionIds = Object.keys(state.subjects ?? {}).map(conversionOfJob);
    return { consumers: state.consumer_count, conversionIds };
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
    // The sequence is used: a purge by subject makes a 2.9 server hand over again what is in hand.
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
      handsSubject('*'),
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
    subscribe: ['_INBOX_API.>', `${REPORTS} ${RECORDERS}`, handsSubject('*')],
  },
} as const;
