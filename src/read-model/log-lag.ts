import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventStore } from '../event-store/port.ts';

/** Events that a lag is counted up to. */
const MOST_LAG = 1_000;

/** The distance of a reader of the log from the log's head. */
export interface Lag {
  /** Up to a thousand. */
  readonly lagEvents: number;
  /** Milliseconds since the first event that it lacks. */
  readonly lagMs: number;
}

/** @param after the position that the reader has reached */
export async function lagBehind(
  store: Pick<EventStore, 'readAll'>,
  after: bigint,
  now: number,
): Promise<Lag> {
  const behind = await store.readAll({ after, limit: MOST_LAG });
  const [first] = behind;
  const since = first && (first.metadata as EventMetadata).time;
  return { lagEvents: behind.length, lagMs: since === undefined ? 0 : Math.max(0, now - since) };
}
