import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { errorMessage } from '../errors/error-message.ts';
import type { HeldLease, Lease } from './port.ts';

/**
 * A lease that processes of one machine share: a lock of the operating system on a file (by way of
 * SQLite). It ends with its process however that ends: no stale lock, no process id to guess at.
 */
export class FileLease implements Lease {
  readonly #path: string;
  /** The garbage collector would close the file of a lock that nobody refers to. */
  #held: Database.Database | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async acquire(): Promise<HeldLease | undefined> {
    const db = this.#lock();
    if (db === undefined) return undefined;
    this.#held = db;
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    const release = async (): Promise<void> => {
      db.close();
      if (this.#held === db) this.#held = undefined;
      lose();
    };
    return { lost, release };
  }

  /** @throws {Error} one line that names the file and the remedy */
  #lock(): Database.Database | undefined {
    let db: Database.Database | undefined;
    try {
      db = new Database(this.#path, { timeout: 0 });
      db.exec('BEGIN EXCLUSIVE');
      return db;
    } catch (error) {
      db?.close();
      if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return undefined;
      throw new Error(
        `${this.#path} cannot be locked (${errorMessage(error)}); let this user write it, or delete it if it is damaged.`,
        { cause: error },
      );
    }
  }
}

/** Tells whether a process holds the lease of that file. A reader is locked out only while one does. */
export async function isFileLeaseHeld(path: string): Promise<boolean> {
  if (!existsSync(path)) return false;
  let db: Database.Database | undefined;
  try {
    db = new Database(path, { readonly: true, timeout: 0 });
    db.pragma('schema_version');
    return false;
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return true;
    throw error;
  } finally {
    db?.close();
  }
}
