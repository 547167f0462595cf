import { statSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../sqlite/database.ts';
import type { EventStore } from '../../event-store/port.ts';
import { SqliteEventStore } from '../../event-store/sqlite/store.ts';
import type { Logger } from '../../log.ts';
import type { Openings } from '../openings.ts';
import { inDataDir, openDataDir } from './data-dir.ts';

const notAnswering = (): string => 'the event store does not answer';

/** False also for a file that this user may not see: what opens the directory says so. */
function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** The store, and the database that it may share with others of the same data directory. */
export async function openStore(
  config: Config,
  logger: Logger,
  openings: Openings,
  create: boolean,
): Promise<{ store: EventStore; database?: EmbeddedDatabase }> {
  const { eventStoreUrl } = config;
  if (eventStoreUrl !== undefined) {
    openDataDir(config);
    const { openKurrentDb } = await import('../../event-store/kurrentdb/store.ts');
    const store = await openKurrentDb(eventStoreUrl, { logger });
    openings.add({
      missing: () => store.head().then(() => undefined, notAnswering),
      close: () => store.close(),
    });
    return { store };
  }
  const file = inDataDir(config, 'pressledger.db');
  if (!create && isMissing(file)) {
    throw new Error(
      `There is no store in ${config.dataDir}: set DATA_DIR to the directory of the service, or create ` +
        "one with 'pressledger start' or 'pressledger account create'.",
    );
  }
  openDataDir(config);
  const database = openEmbeddedDatabase(file);
  const store = new SqliteEventStore(database);
  openings.add({
    missing: async () => {
      const failure = database.failure();
      return failure === undefined ? undefined : `the event store takes no writes: ${failure}`;
    },
    close: async () => {
      await store.close();
      database.close();
    },
  });
  return { store, database };
}
