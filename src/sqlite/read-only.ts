/** A database that is read and not changed, also beside a process that writes to it. */
import { existsSync, statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { checkStamp, clearError, type EmbeddedDatabase, waitWhile } from './database.ts';

/** The longest wait for another process that opens or closes the file. */
const BUSY_MS = 5_000;

export interface ReadOnlyDatabase {
  readonly db: Database;
  readonly close: () => void;
}

/** @throws {Error} SQLite's or the system's own, where the file cannot be read */
export function openReadOnly(path: string): ReadOnlyDatabase {
  // The driver calls a directory missing that this user may not use.
  statSync(path, { throwIfNoEntry: false });
  // Nobody has the file open where both are missing. SQLite makes them to read it, and leaves them there.
  const hadLog = existsSync(`${path}-wal`) || existsSync(`${path}-shm`);
  const db = new Sqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS });
  return {
    db,
    close() {
      db.close();
      if (!hadLog) removeEmptyLog(path);
    },
  };
}

/** Has SQLite do it, which knows whether somebody has opened the file meanwhile. It writes nothing to it. */
function removeEmptyLog(path: string): void {
  try {
    const db = new Sqlite(path, { fileMustExist: true, timeout: 0 });
    try {
      db.pragma('schema_version');
    } finally {
      db.close();
    }
  } catch {
    // The file may not be written, or somebody else has it now.
  }
}

/**
 * The database of a store, for reading alone: what would be written fails, tables are taken as they are.
 * @throws {Error} one line that names the file and the remedy
 */
export function openEmbeddedReadOnly(path: string): EmbeddedDatabase {
  try {
    const { db, close } = openReadOnly(path);
    try {
      const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck();
      waitWhile(() => tables.get() === 0);
      checkStamp(db, path);
    } catch (error) {
      close();
      throw error;
    }
    const refused = (): Error => new Error(`${path} is open for reading alone.`);
    return {
      db,
      close,
      define: () => {},
      enqueue: (work) => work.failed(refused()),
      commit: () => Promise.reject(refused()),
      onCommit: () => () => {},
      failure: () => undefined,
    };
  } catch (error) {
    throw clearError(path, error);
  }
}
