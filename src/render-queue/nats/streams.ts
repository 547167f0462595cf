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
import { nameIn } from '../../nats/address.ts';
import { MAX_BYTES, MAX_JOBS, withinStorage } from '../../nats/bucket.ts';
import type { NatsLink } from '../../nats/connection.ts';

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

/** The subject on which those who record reports tell the node that publishes jobs of each job's progress. */
export const progressSubject = (namespace: string): string => `${namespace}.progress`;

/** A conversion has one subject, so that it has at most one job. */
export const jobSubject = (namespace: string, conversionId: string): string =>
  `${namespace}.jobs.${conversionId}`;
/** The subject on which a renderer node tells how many slots it has. */
export const slotsSubject = (namespace: string, node: string): string =>
  `${namespace}.slots.${node}`;

/**
 * The subject on which the node that publishes jobs tells renderers which conversion has ended. No stream keeps it: who
 * misses it learns it from the answer to a report.
 */
export const endedSubject = (namespace: string): string => `${namespace}.ended`;

/** JetStream's refusal of a second message on a subject. */
const SUBJECT_IS_TAKEN = 10077;

export const isSubjectTaken = (error: unknown): boolean =>
  error instanceof JetStreamApiError && error.code === SUBJECT_IS_TAKEN;

/** Makes the stream and its consumer where they are missing. What is there, an operator's own, is left as it is. */
export async function ensureJobs(
  manager: JetStreamManager,
  { namespace, replicas }: Pick<NatsLink, 'namespace' | 'replicas'>,
  ackWaitMs: number,
): Promise<void> {
  const stream = jobsStream(namespace);
  await ensure(
    () => manager.streams.info(stream),
    JetStreamApiCodes.StreamNotFound,
    () =>
      withinStorage(MAX_BYTES.jobs, (max_bytes) =>
        manager.streams.add({
          name: stream,
          max_bytes,
          max_msgs: MAX_JOBS,
          num_replicas: replicas,
          subjects: [jobSubject(namespace, '*')],
          retention: RetentionPolicy.Workqueue,
          storage: StorageType.File,
          max_msgs_per_subject: 1,
          discard: DiscardPolicy.New,
          discard_new_per_subject: true,
        }),
      ),
  );
  await ensure(
    () => manager.consumers.info(stream, RENDERERS),
    JetStreamApiCodes.ConsumerNotFound,
    () =>
      manager.consumers.add(stream, {
        durable_name: RENDERERS,
        ack_policy: AckPolicy.Explicit,
        ack_wait: ackWaitMs * 1_000_000,
        // Deliveries have no limit: an exhausted message would stay in the stream. The log counts tries.
        max_deliver: -1,
        max_ack_pending: -1,
        max_waiting: 8192,
      }),
  );
}

/** Makes what is missing. While a stream has no leader, adding it again fails as if it were another's. */
async function ensure(
  look: () => Promise<unknown>,
  missing: number,
  make: () => Promise<unknown>,
): Promise<void> {
  try {
    await look();
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code !== missing) throw error;
    await make();
  }
}

/** @returns the conversions whose jobs are in the stream; undefined where it or its consumer is missing */
export async function listJobs(
  manager: JetStreamManager,
  namespace: string,
): Promise<Set<string> | undefined> {
  try {
    const { state } = await manager.streams.info(jobsStream(namespace), { subjects_filter: '>' });
    const prefix = jobSubject(namespace, '').length;
    const ids = Object.keys(state.subjects ?? {}).map((subject) => subject.slice(prefix));
    return state.consumer_count === 0 ? undefined : new Set(ids);
  } catch (error) {
    const isMissing =
      error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound;
    if (isMissing) return undefined;
    throw error;
  }
}

/**
 * Overwrites the job on the server's disk, too: its content key would outlive the erasure of the account.
 * @param sequence its place in the stream, where that is known: it need not be looked for then
 * @returns whether it was in the stream
 */
export async function removeJob(
  manager: JetStreamManager,
  namespace: string,
  conversionId: string,
  sequence?: number,
): Promise<boolean> {
  const stream = jobsStream(namespace);
  // Another node may have published it again since.
  if (sequence !== undefined && (await removeAt(manager, stream, sequence))) return true;
  try {
    const query = { last_by_subj: jobSubject(namespace, conversionId) };
    const message = await manager.streams.getMessage(stream, query);
    // The sequence is used: a purge by subject makes a 2.9 server hand over again what is in flight.
    return message !== null && (await removeAt(manager, stream, message.seq));
  } catch (error) {
    if (error instanceof JetStreamApiError) return false;
    throw error;
  }
}

/** @returns false where nothing is there */
async function removeAt(
  manager: JetStreamManager,
  stream: string,
  sequence: number,
): Promise<boolean> {
  try {
    return await manager.streams.deleteMessage(stream, sequence, true);
  } catch (error) {
    if (error instanceof JetStreamApiError) return false;
    throw error;
  }
}
