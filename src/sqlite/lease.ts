import Database from 'better-sqlite3';
import { reasonOf } from '../reason.ts';

/**
 * Held by at most one process of a data directory at a time, for as long as that keeps this object: the
 * garbage collector closes the file of one that nobody refers to.
 */
export interface Lease {
  release(): void;
}

/**
 * Takes the lease if nobody holds it. It is a lock of the operating system on the file (by way of
 * SQLite), so it ends with its process however that ends: no stale lock, no process id to guess at.
 * @throws {Error} one line that names the file and the remedy
 */
export function tryAcquireLease(path: string): Lease | undefined {
  try {
    return lock(new Database(path, { timeout: 0 }));
  } catch (error) {
    throw new Error(
      `${path} cannot be locked (${reasonOf(error)}); let this user write it, or delete it if it is damaged.`,
      { cause: error },
    );
  }
}

function lock(db: Database.Database): Lease | undefined {
  try {
    db.exec('BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return undefined;
    throw error;
  }
}
