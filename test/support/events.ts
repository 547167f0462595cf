/** Events without a meaning, and what a subscription hands over of them. */
import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent, RecordedEvent } from '../../src/event-store/port.ts';

export function newEvent(data: object = {}): NewEvent {
  return { id: randomUUID(), type: 'Happened', data, metadata: { schemaVersion: 1 } };
}

export const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, n) => newEvent({ n }));

/** Follows a store; `until` resolves when so many events were handed over. */
export function follow(store: EventStore, after: bigint) {
  const seen: RecordedEvent[] = [];
  let check: (() => void) | undefined;
  const subscription = store.subscribe(after, (events) => {
    seen.push(...events);
    check?.();
  });
  const until = (count: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const deadline = setTimeout(
        () => reject(new Error(`${seen.length} of ${count} events came in 10 s`)),
        10_000,
      );
      check = () => {
        if (seen.length < count) return;
        clearTimeout(deadline);
        resolve();
      };
      check();
    });
  return { seen, subscription, until };
}
