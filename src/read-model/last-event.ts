/** Compares the last event that a read model was made of with the log. */
import { findEvent } from '../event-store/look-again.ts';
import { type EventStore, LogDiffers } from '../event-store/port.ts';
import type { LastEvent } from './schema.ts';

/**
 * Says whether the log has the event at its place, or at another: then the log was moved here from another store.
 * @throws {LogDiffers} the log does not have it
 * @throws {EventStoreUnavailable}
 */
export async function placeOf(
  store: Pick<EventStore, 'readStream'>,
  last: LastEvent | undefined,
): Promise<'same' | 'another'> {
  if (last === undefined) return 'same';
  const event = await findEvent(store, last);
  if (event === undefined) throw new LogDiffers(missing(last));
  return event.position === last.position ? 'same' : 'another';
}

const missing = ({ stream, revision, id, position }: LastEvent): string =>
  `The log lacks revision ${revision} of ${stream} (event ${id}, position ${position}), which the read models were made of: ` +
  'an older copy of the log was put back, or it is another log.';
