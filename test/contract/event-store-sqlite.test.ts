import { join } from 'node:path';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { testDirectory } from '../support/directory.ts';
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
