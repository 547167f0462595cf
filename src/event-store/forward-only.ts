/** Refuses a log that ends before what this process has seen of it: an older copy was put back, or an empty one. */
import { setTimeout as delay } from 'node:timers/promises';
import { type CopyableEventStore, EventStoreUnavailable } from './port.ts';

/** The pause before a second look. What looks older may be the answer of a server that is about to catch up. */
const SECOND_LOOK_MS = 100;

/** Passes all calls on, and remembers the highest position in their answers. */
export function forwardOnly(store: CopyableEventStore): CopyableEventStore {
  let highest = 0n;
  const see = (position = 0n): void => {
    if (position > highest) highest = position;
  };
  const head = async (): Promise<bigint> => {
    // Appends that end meanwhile may be beyond the answer.
    const known = highest;
    let found = await store.head();
    if (found < known) {
      await delay(SECOND_LOOK_MS);
      found = await store.head();
    }
    if (found < known) {
      throw new EventStoreUnavailable(
        `The event log ends at position ${found}, and this process has seen position ${known}: an older copy of the log was put back, or an empty one.`,
      );
    }
    see(found);
    return found;
  };
  return {
    head,
    async append(stream, events, expected, blobs) {
      const known = highest;
      const appended = await store.append(stream, events, expected, blobs);
      // A server also answers so to events that it has had before.
      if (appended.position <= known) await head();
      see(appended.position);
      return appended;
    },
    async readAll(options) {
      const events = await store.readAll(options);
      see(events.at(-1)?.position);
      return events;
    },
    subscribe: (after, handle) =>
      store.subscribe(after, async (events) => {
        see(events.at(-1)?.position);
        await handle(events);
      }),
    readStream: (stream, options) => store.readStream(stream, options),
    appendCopies: (events) => store.appendCopies(events),
    barrier: () => store.barrier(),
    setBarrier: (barrier) => store.setBarrier(barrier),
    close: () => store.close(),
  };
}
