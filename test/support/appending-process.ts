/**
 * A process that appends beside others: `node appending-process.ts FILE NAME COUNT` makes COUNT
 * appends, half of them to a stream that all share, deciding again after each version conflict.
 */
import { openEmbeddedDatabase } from '../../src/embedded/database.ts';
import { VersionConflict } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite.ts';
import { newEvents } from './events.ts';

const [path = '', name = '', count = '0'] = process.argv.slice(2);
const database = openEmbeddedDatabase(path);
const store = new SqliteEventStore(database);

async function appendShared(): Promise<void> {
  const events = newEvents(2);
  for (;;) {
    const [last] = await store.readStream('shared', { backwards: true, limit: 1 });
    try {
      await store.append('shared', events, last?.revision ?? 'no-stream');
      return;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
}

for (let n = 0; n < Number(count); n += 2) {
  await Promise.all([appendShared(), store.append(`own-${name}`, newEvents(1), 'any')]);
}
await store.close();
database.close();
