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
import { nameIn } from '../nats/address.ts';

export const jobsStream = (namespace: string): string => nameIn(namespace, 'JOBS');
/** The consumer that all renderers share. */
export const RENDERERS = 'renderers';
/** The queue group of all who record reports. */
export const RECORDERS = 'recorders';
/**
 * The subject on which renderers report, and ask to be answered. No stream keeps reports: a renderer keeps
 * each of its reports until it is recorded, and an unfinished job comes again.
 */
export const reportSubject = (namespace: string): string => `${namespace}.report`;
/** The answers to a report: its event is on disk, or it may be said again, or it is no report. */
export const RECORDED = 'recorded';
export const AGAIN = 'again';
export const REFUSED = 'refused';

/** A conversion has one subject, so that it waits or is in hand at most once. */
export const jobSubject = (namespace: string, conversionId: string): string =>
  `${namespace}.jobs.${conversionId}`;
/** The subject on which a renderer node tells what it has in hand. */
export const handsSubject = (namespace: string, node: string): string =>
  `${namespace}.hands.${node}`;

/** JetStream's refusal of a second message on a subject. */
export const SUBJECT_IS_TAKEN = 10077;

const nanos = (ms: number): number => ms * 1_000_000;

/** Makes the stream and its consumer where they are missing. What is there, an operator's own, is left as it is. */
export async function ensureJobs(
  manager: JetStreamManager,
  namespace: string,
  ackWaitMs: number,
): Promise<void> {
  const stream = jobsStream(namespace);
  // Asking for what is there already changes nothing, and fails only where it differs.
  await orThere(
    () =>
      manager.streams.add({
        name: stream,
        subjects: [jobSubject(namespace, '*')],
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
        durable_name: RENDERERS,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ackWaitMs),
        // Deliveries have no limit. The next renderer fails a job that came too often. An exhausted message
        // would stay in the stream with nobody to say so.
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 8192,
      }),
    () => manager.consumers.info(stream, RENDERERS),
  );
}

/** @returns undefined where there is no stream */
export async function lookAtJobs(
  manager: JetStreamManager,
  namespace: string,
): Promise<{ readonly consumers: number; readonly conversionIds: readonly string[] } | undefined> {
  try {
    const { state } = await manager.streams.info(jobsStream(namespace), { subjects_filter: '>' });
    const before = jobSubject(namespace, '').length;
    const conversionIds = Object.keys(state.subjects ?? {}).map((each) => each.slice(before));
    return { consumers: state.consumer_count, conversionIds };
  } catch (error) {
    const isMissing =
      error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
    if (isMissing) return undefined;
    throw error;
  }
}

/** @returns whether it was in the stream */
export async function removeJob(
  manager: JetStreamManager,
  namespace: string,
  conversionId: string,
): Promise<boolean> {
  const stream = jobsStream(namespace);
  try {
    const query = { last_by_subj: jobSubject(namespace, conversionId) };
    const message = await manager.streams.getMessage(stream, query);
    // The sequence is used: a purge by subject makes a 2.9 server hand over again what is in hand.
    return message !== null && (await manager.streams.deleteMessage(stream, message.seq, false));
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
export function permissionsOf(namespace: string) {
  const jobs = jobsStream(namespace);
  const reports = reportSubject(namespace);
  const hands = handsSubject(namespace, '*');
  const inboxes = {
    api: `_INBOX_${nameIn(namespace, 'API')}`,
    renderer: `_INBOX_${nameIn(namespace, 'RENDERER')}`,
  };
  return {
    renderer: {
      inboxPrefix: inboxes.renderer,
      publish: [
        '$JS.API.INFO',
        `$JS.API.CONSUMER.INFO.${jobs}.${RENDERERS}`,
        `$JS.API.CONSUMER.MSG.NEXT.${jobs}.${RENDERERS}`,
        `$JS.ACK.${jobs}.${RENDERERS}.>`,
        // Servers that put the domain and account before the stream.
        `$JS.ACK.*.*.${jobs}.${RENDERERS}.>`,
        reports,
        hands,
      ],
      subscribe: [`${inboxes.renderer}.>`],
    },
    api: {
      inboxPrefix: inboxes.api,
      publish: [
        '$JS.API.INFO',
        `$JS.API.STREAM.INFO.${jobs}`,
        `$JS.API.STREAM.CREATE.${jobs}`,
        `$JS.API.STREAM.MSG.DELETE.${jobs}`,
        `$JS.API.STREAM.MSG.GET.${jobs}`,
        `$JS.API.CONSUMER.CREATE.${jobs}.${RENDERERS}`,
        `$JS.API.CONSUMER.INFO.${jobs}.${RENDERERS}`,
        jobSubject(namespace, '*'),
        // The answers to reports.
        `${inboxes.renderer}.>`,
      ],
      subscribe: [`${inboxes.api}.>`, `${reports} ${RECORDERS}`, hands],
    },
  };
}
