/** Events without a meaning, and what a subscription hands over of them. */
import { randomUUID } from 'node:crypto';
import type { DomainEvent } from '../../src/domain/events.ts';
import {
  type AppendResult,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  VersionConflict,
} from '../../src/event-store/port.ts';

/** The command that the id of an event follows from, which the service names after what it is about. */
export function commandOf({ type, data }: DomainEvent, command: string): string {
  if (type === 'CreditRefunded') return `refund/${data.conversionId}`;
  if (type === 'ConversionExpired') return `expire/${data.conversionId}`;
  if (type === 'BatchEnded') return `end/${data.batchId}`;
  if (type === 'SignatureKeyDestroyed') return `destroy/${data.certificateId}`;
  return type === 'ErasureCompleted' ? `erase/${data.accountId}` : command;
}

export function newEvent(data: object = {}): NewEvent {
  return { id: randomUUID(), type: 'Happened', data, metadata: { schemaVersion: 1 } };
}

export const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, (_, n) => newEvent({ n }));

/** The last revision that `appendNext` has seen of each stream. */
const ends = new WeakMap<EventStore, Map<string, number>>();

/** Appends after whatever the stream holds, again where another writer came first. */
export async function appendNext(
  store: EventStore,
  stream: string,
  events: readonly NewEvent[],
): Promise<AppendResult> {
  const streams = ends.get(store) ?? new Map<string, number>();
  ends.set(store, streams);
  for (;;) {
    const known = streams.get(stream) ?? -1;
    const newer = await store.readStream(stream, { from: known + 1, limit: 100_000 });
    const last = newer.at(-1)?.revision ?? known;
    try {
      const appended = await store.append(stream, events, last === -1 ? 'no-stream' : last);
      streams.set(stream, appended.revision);
      return appended;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

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
        () => reject(new Error(`${seen.length} of ${count} events came in 60 s`)),
        60_000,
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
