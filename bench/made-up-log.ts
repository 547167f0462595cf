/** The log that replay and verification are measured with. */
import { encodeEvent } from '../src/event-store/codec.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { eventId } from '../src/ids.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { history } from '../test/support/history.ts';
import { NOW } from '../test/support/samples.ts';

export const EVENTS_PER_CONVERSION = 4.3;
const ACCOUNTS = 100;

/** Writes about so many events into a new store, as a service would have; returns how many. */
export function fillLog(path: string, events: number): number {
  const database = openEmbeddedDatabase(path);
  const store = new SqliteEventStore(database);
  const insert = database.db.prepare('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)');
  const revisions = new Map<string, number>();
  let position = 0;
  let failedAt = 0;
  database.db.transaction(() => {
    for (const step of history(ACCOUNTS, Math.round(events / EVENTS_PER_CONVERSION))) {
      for (const event of step.events(BigInt(failedAt))) {
        position += 1;
        const revision = (revisions.get(step.stream) ?? -1) + 1;
        revisions.set(step.stream, revision);
        const cause = `bench/${position}`;
        const { id, type, data, metadata } = encodeEvent(eventId(cause), event, {
          correlationId: step.stream,
          causationId: cause,
          actor: { kind: 'service' },
          time: NOW + position,
        });
        const [dataText, metadataText] = [JSON.stringify(data), JSON.stringify(metadata)];
        insert.run(position, step.stream, revision, id, type, dataText, metadataText);
      }
      if (step.failure === true) failedAt = position;
    }
  })();
  void store.close();
  database.close();
  return position;
}
