/** Compares the last event that a read model was made of with the log. */
import { setTimeout as delay } from 'node:timers/promises';
import { type EventStore, LogDiffers } from '../event-store/port.ts';
import type { LastEvent } from './schema.ts';

/** The longest that a member of a cluster may answer as its leader without being it any more. */
const STALE_MS = 3_000;
const RETRY_MS = 500;

type Streams = Pick<EventStore, 'readStream'>;

/**
 * Says whether the log has the event at its place, or at another: then the log was moved here from another store.
 * @throws {LogDiffers} the log does not have it
 * @throws {EventStoreUnavailable}
 */
export async function placeOf(
  store: Streams,
  last: LastEvent | undefined,
): Promise<'same' | 'another'> {
  const end = performance.now() + STALE_MS;
  for (;;) {
    const place = await look(store, last);
    if (place !== undefined) return place;
    if (last !== undefined && performance.now() > end) throw new LogDiffers(missing(last));
    await delay(RETRY_MS);
  }
}

async function look(
  store: Streams,
  last: LastEvent | undefined,
): Promise<'same' | 'another' | undefined> {
  if (last === undefined) return 'same';
  const { stream, revision: from, id, position } = last;
  const [event] = await store.readStream(stream, { from, limit: 1 });
  if (event?.id !== id) return undefined;
  return event.position === position ? 'same' : 'another';
}

const missing = ({ stream, revision, id, position }: LastEvent): string =>
  `The log lacks revision ${revision} of ${stream} (event ${id}, position ${position}), which the read models were made of: ` +
  'an older copy of the log was put back, or it is another log.';
