/** Logs that nobody lived through, as a service would have written them. */
import { encodeEvent } from '../src/event-store/codec.ts';
import type { CopiedEvent } from '../src/event-store/port.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { eventId } from '../src/time/ids.ts';
import { commandOf } from '../test/support/events.ts';
import { history, type Step } from '../test/support/history.ts';
import { NOW } from '../test/support/samples.ts';

export const EVENTS_PER_CONVERSION = 4.3;
const ACCOUNTS = 100;

/** Writes about so many events into a new store; returns how many. */
export function fillLog(path: string, events: number): number {
  const database = openEmbeddedDatabase(path);
  const store = new SqliteEventStore(database);
  const written = appendSteps(
    database,
    history(ACCOUNTS, Math.round(events / EVENTS_PER_CONVERSION)),
  );
  void store.close();
  database.close();
  return written;
}

/**
 * Appends steps to a store in one transaction, each to the end of its stream; returns the number of their events.
 * @param onEvent called with each, before the next step is made
 */
export function appendSteps(
  { db }: EmbeddedDatabase,
  steps: Iterable<Step>,
  onEvent: (event: CopiedEvent) => void = () => {},
): number {
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)');
  const lastRevision = db
    .prepare<[string], number>('SELECT coalesce(max(revision), -1) FROM events WHERE stream = ?')
    .pluck();
  const head = db.prepare<[], number>('SELECT coalesce(max(position), 0) FROM events').pluck();
  const revisions = new Map<string, number>();
  const first = head.get() ?? 0;
  let position = first;
  let [failedAt, failure, newest] = [0, '', ''];
  db.transaction(() => {
    for (const step of steps) {
      for (const event of step.events(BigInt(failedAt))) {
        position += 1;
        const last = revisions.get(step.stream) ?? lastRevision.get(step.stream) ?? -1;
        revisions.set(step.stream, last + 1);
        const cause = `bench/${position}`;
        const isRefund = event.type === 'CreditRefunded';
        newest = eventId(`${commandOf(event, cause)}/${step.stream}/0`);
        const { id, type, data, metadata } = encodeEvent(newest, event, {
          correlationId: step.stream,
          causationId: isRefund ? failure : cause,
          actor: { kind: 'service' },
          time: NOW + position,
        });
        const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
        insert.run(position, step.stream, last + 1, id, type, dataText, metadataText);
        onEvent({ id, stream: step.stream, revision: last + 1, type, data, metadata });
      }
      if (step.failure === true) [failedAt, failure] = [position, newest];
    }
  })();
  return position - first;
}
