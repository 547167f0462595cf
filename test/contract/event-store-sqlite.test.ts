import { join } from 'node:path';
import { test } from 'tap';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { testDirectory } from '../support/directory.ts';
import { newEvents } from '../support/events.ts';
import { type OpenedEventStore, runEventStoreContract } from './event-store-contract.ts';

function openAt(path: string): OpenedEventStore {
  const database = openEmbeddedDatabase(path);
  const store = new SqliteEventStore(database);
  return {
    store,
    another: async () => openAt(path),
    close: async () => {
      await store.close();
      database.close();
    },
  };
}

runEventStoreContract({
  name: 'SQLite',
  open: async (t) => openAt(join(testDirectory(t), 'pressledger.db')),
});

void test('SQLite: a log that was moved takes no event, also of who had it open', async (t) => {
  const path = join(testDirectory(t), 'pressledger.db');
  const [service, move] = [openAt(path), openAt(path)];
  await service.store.append('a-1', newEvents(1), 'no-stream');
  await move.store.setBarrier({ kind: 'moved', subject: 'elsewhere' });
  await t.rejects(service.store.append('a-1', newEvents(1), 0), {
    name: 'EventStoreUnavailable',
    cause: { message: 'this log goes on in another store' },
  });
  t.equal((await service.store.readAll()).length, 1);
  await move.store.setBarrier(undefined);
  await service.store.append('a-1', newEvents(1), 0);
  await service.close();
  await move.close();
});
