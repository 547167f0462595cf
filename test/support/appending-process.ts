/**
 * A process that appends beside others: `node appending-process.ts FILE NAME COUNT` makes COUNT
 * appends, half of them to a stream that all share, deciding again after each version conflict.
 */

import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { appendNext, newEvents } from './events.ts';

const [path = '', name = '', count = '0'] = process.argv.slice(2);
const database = openEmbeddedDatabase(path);
const store = new SqliteEventStore(database);

for (let n = 0; n < Number(count); n += 2) {
  await Promise.all([
    appendNext(store, 'shared', newEvents(2)),
    appendNext(store, `own-${name}`, newEvents(1)),
  ]);
}
await store.close();
database.close();
