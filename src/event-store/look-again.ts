/** Finds events that a member of a cluster may not have when it is asked first. */
import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore, RecordedEvent } from './port.ts';

/** The longest that a member of a cluster may answer as its leader after it has lost its lead. */
const STALE_MS = 3_000;
const RETRY_MS = 500;

/** Looks until something is found; undefined if it is still missing when no member can be stale any more. */
export async function lookAgain<Found>(
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  const end = performance.now() + STALE_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > end) return found;
    await delay(RETRY_MS);
  }
}

/** The first event after a position that the log is known to go beyond; undefined if it does not. */
export const findNext = (
  store: Pick<EventStore, 'readAll'>,
  after: bigint,
): Promise<RecordedEvent | undefined> =>
  lookAgain(async () => (await store.readAll({ after, limit: 1 }))[0]);

/** The event with that id at that revision; undefined if the log does not have it there. */
export function findEvent(
  store: Pick<EventStore, 'readStream'>,
  { stream, revision, id }: Pick<RecordedEvent, 'stream' | 'revision' | 'id'>,
): Promise<RecordedEvent | undefined> {
  return lookAgain(async () => {
    const [event] = await store.readStream(stream, { from: revision, limit: 1 });
    return event?.id === id ? event : undefined;
  });
}
