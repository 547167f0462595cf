/** Opens the one SQLite file of the embedded stores and makes sure that it is durable, whole and ours. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';

/** "PrLg": tells the store from any other SQLite file. */
const APPLICATION_ID = 0x50724c67;

/** Counted up when the tables change in a way that an older release cannot read. */
export const STORE_VERSION = 1;

/** How long an opening waits for another process's transaction: it keeps nobody else waiting yet. */
export const OPENING_BUSY_MS = 5_000;

/** 16 MiB of WAL between checkpoints: fewer rewrites of hot index pages than SQLite's 4 MiB. */
const CHECKPOINT_PAGES = 4_096;
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
/** What is read again and again is little, and the system's own cache has the rest. */
const CACHE_KIB = 8 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged or not a database; restore it from a backup',
  SQLITE_CORRUPT: 'is damaged; restore it from a backup',
  SQLITE_BUSY: 'is locked by another process; stop that process',
  SQLITE_FULL: 'cannot be written, the disk is full; make room',
  SQLITE_READONLY: 'cannot be written; give this user write access to it and its directory',
  SQLITE_CANTOPEN: 'cannot be opened; give this user access to it and its directory',
};

/**
 * A connection with WAL, `synchronous=FULL` and this release's store version.
 * @throws {Error} one line that names the file and the remedy
 */
export function openConnection(path: string): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite gives its WAL the permissions of the database, so the owner alone reads either.
    closeSync(openSync(path, 'a', 0o600));
    const db = new Sqlite(path, { timeout: OPENING_BUSY_MS });
    try {
      prepare(db, path);
    } catch (error) {
      db.close();
      throw error;
    }
    return db;
  } catch (error) {
    throw clearError(path, error);
  }
}

function prepare(db: Database, path: string): void {
  claim(db, path);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  db.pragma(`cache_size = -${CACHE_KIB}`);
  // Without it, INSERT OR REPLACE would delete a row past the append-only triggers.
  db.pragma('recursive_triggers = ON');
  assertDurable(db, path);
}

/** Stamps an empty file, refuses a foreign or a newer one. */
function claim(db: Database, path: string): void {
  const claimed = db.transaction(() => {
    const id = db.pragma('application_id', { simple: true });
    const version = Number(db.pragma('user_version', { simple: true }));
    if (id === APPLICATION_ID) return version;
    const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get();
    if (id !== 0 || tables !== 0) {
      throw new Error(`${path} is not a store of Pressledger; set DATA_DIR to another directory.`);
    }
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${STORE_VERSION}`);
    return STORE_VERSION;
  });
  const version = claimed.immediate();
  if (version > STORE_VERSION) {
    throw new Error(
      `${path} was written by a newer release (store version ${version}, this one knows ` +
        `${STORE_VERSION}); install that release.`,
    );
  }
}

/**
 * better-sqlite3 compiles WAL down to synchronous=NORMAL, which loses acknowledged commits.
 * @throws {Error} a commit would not be on disk when it returns
 */
export function assertDurable(db: Database, path: string): void {
  const journal = db.pragma('journal_mode', { simple: true });
  const synchronous = db.pragma('synchronous', { simple: true });
  if (journal !== 'wal' || synchronous !== 2) {
    throw new Error(
      `${path} would not be durable (journal_mode ${String(journal)}, synchronous ` +
        `${String(synchronous)}); keep it on a local disk, not on a network file system.`,
    );
  }
}

function clearError(path: string, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`${path} cannot be opened.`, { cause: error });
  const code = 'code' in error ? String(error.code) : '';
  const reason = Object.entries(REASONS).find(([prefix]) => code.startsWith(prefix))?.[1];
  if (reason !== undefined) {
    return new Error(`${path} ${reason} (${error.message}).`, { cause: error });
  }
  if (code === '') return error;
  return new Error(`${path} cannot be opened (${error.message}).`, { cause: error });
}
