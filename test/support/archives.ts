/** Logs as a service has them open, with a directory for copies of them. */
import { join } from 'node:path';
import type { Test } from 'tap';
import type { BackupPlace } from '../../src/archive/places/port.ts';
import { verifyBackup } from '../../src/archive/verify.ts';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { NOW } from './samples.ts';
import { signedLog } from './signed-log.ts';

export const quietly = (): void => {};
export const OPTIONS = { now: NOW, recheck: false, onEvents: quietly, onDocuments: quietly };

/** The log of a data directory, empty where there is none. */
export function openLogIn(t: Test, dataDir: string) {
  const database = openEmbeddedDatabase(join(dataDir, 'pressledger.db'));
  const store = new SqliteEventStore(database);
  t.teardown(async () => {
    await store.close();
    database.close();
  });
  return { database, store };
}

export async function openSource(t: Test) {
  const dataDir = await signedLog(t);
  const { database, store } = openLogIn(t, dataDir);
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(join(dataDir, 'blobs')));
  return { dataDir, store, blobs, retentionMs: 3_600_000, directory: join(dataDir, '..') };
}

export const verify = (place: BackupPlace) => verifyBackup(place, { now: NOW });
