/** The one SQLite file that the embedded event store and the small blobs share. */
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { GroupCommitter, type Work } from './group-commit.ts';

/** "PrLg": tells the store from any other SQLite file. */
const APPLICATION_ID = 0x50724c67;

/** Counted up when the tables change in a way that an older release cannot read. */
const STORE_VERSION = 1;

/** The longest that an opening waits for another process's transaction: it keeps nobody else waiting yet. */
const OPENING_BUSY_MS = 5_000;
const LOOK_EVERY_MS = 10;

/** 16 MiB of WAL between checkpoints: fewer rewrites of hot index pages than SQLite's 4 MiB. */
const CHECKPOINT_PAGES = 4_096;
const WAL_LIMIT_BYTES = 64 * 1024 * 1024;
/** Little is read again and again, and the system's own cache has the rest. */
const CACHE_KIB = 8 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is damaged or not a database; restore it from a backup',
  SQLITE_CORRUPT: 'is damaged; restore it from a backup',
  SQLITE_BUSY: 'is locked by another process; stop that process',
  SQLITE_FULL: 'cannot be written, the disk is full; make room',
  SQLITE_READONLY: 'cannot be written; give this user write access to it and its directory',
  SQLITE_IOERR: 'cannot be read or written; check that it is a file, and its disk (dmesg)',
  SQLITE_CANTOPEN: 'cannot be opened; give this user access to it and its directory',
};
/**
 * The longest that a statement keeps the event loop waiting for another process: about as long as that
 * one's transaction takes. Writes that need more wait between tries.
 */
const BUSY_MS = 50;
/** The longest that writes wait for other processes in all. */
const BUSY_TIMEOUT_MS = 5_000;

const FAILURES: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full',
  SQLITE_BUSY: 'another process keeps it locked',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_CORRUPT: 'it is damaged',
};

export interface EmbeddedDatabase {
  /** Serves reads and prepared statements. Writes go through `enqueue` or `commit`, DDL through `define`. */
  readonly db: Database;
  /** Creates what is not there yet. For the start: it waits for other processes in place. */
  define(ddl: string): void;
  /** Takes part in the next group commit. */
  enqueue(work: Work): void;
  /** Runs `work` in the next group commit; resolves with what it returned once that is on disk. */
  commit<T>(work: (db: Database) => T): Promise<T>;
  /** Calls `listener` after each group commit of this process; returns how to end that. */
  onCommit(listener: () => void): () => void;
  /**
   * Why it takes no writes, as far as the last one tells; if there is a reason, it is looked at again
   * in the background, so that the next call knows better.
   */
  failure(): string | undefined;
  /** Commits what waits and closes it; the last process to do so empties the WAL into the file. */
  close(): void;
}

/** Something that can be written as a part of another's transaction on the same database. */
export interface StoredInDatabase {
  readonly database: EmbeddedDatabase;
  /** Writes it inside the transaction that is open on `database`. */
  storeIn(): void;
}

export function isStoredIn(
  database: EmbeddedDatabase,
  candidate: object,
): candidate is StoredInDatabase {
  return 'storeIn' in candidate && 'database' in candidate && candidate.database === database;
}

interface EmbeddedOptions {
  readonly busyTimeoutMs?: number;
  /** Throws where the tables are not those that they must be: one line that names what differs and the remedy. */
  readonly checkSchema?: (db: Database) => void;
}

/**
 * Opens the file, makes it (and its directory) if there is none.
 * @throws {Error} one line that names the file and the remedy
 */
export function openEmbeddedDatabase(
  path: string,
  { busyTimeoutMs = BUSY_TIMEOUT_MS, checkSchema = () => {} }: EmbeddedOptions = {},
): EmbeddedDatabase {
  const db = openConnection(path, checkSchema);
  const waitInPlace = (ms: number): unknown => db.pragma(`busy_timeout = ${ms}`);
  waitInPlace(BUSY_MS);
  const listeners = new Set<() => void>();
  const committer = new GroupCommitter(
    db,
    () => {
      for (const listener of listeners) listener();
    },
    { busyTimeoutMs, checkSchema },
  );
  let probing = false;

  const enqueue = (work: Work): void => {
    if (db.open) committer.enqueue(work);
    else work.failed(new Error(`${path} is closed.`));
  };

  const restamp = (): unknown => db.pragma(`user_version = ${STORE_VERSION}`);
  /** The smallest write there is: it changes nothing. */
  const probe = (): void => {
    if (probing) return;
    probing = true;
    const ended = (): void => void (probing = false);
    enqueue({ run: () => void restamp(), done: ended, failed: ended });
  };

  return {
    db,
    enqueue,
    define(ddl) {
      waitInPlace(OPENING_BUSY_MS);
      try {
        db.transaction(() => db.exec(ddl)).immediate();
      } finally {
        waitInPlace(BUSY_MS);
      }
    },
    failure() {
      const error = committer.failure();
      if (error === undefined) return undefined;
      probe();
      if (error instanceof Error && !(error instanceof Sqlite.SqliteError)) return error.message;
      const code = error instanceof Sqlite.SqliteError ? error.code : '';
      const known = Object.entries(FAILURES).find(([prefix]) => code.startsWith(prefix));
      return known?.[1] ?? 'the disk reports errors';
    },
    commit<T>(work: (db: Database) => T): Promise<T> {
      return new Promise((resolve, reject) => {
        let result: T;
        enqueue({
          run() {
            result = work(db);
          },
          done: () => resolve(result),
          failed: reject,
        });
      });
    },
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      if (!db.open) return;
      waitInPlace(OPENING_BUSY_MS);
      committer.drain();
      // SQLite empties the WAL when nobody else has the file; a checkpoint here would lock others out.
      db.close();
    },
  };
}

/**
 * A connection with WAL, `synchronous=FULL` and this release's store version.
 * @throws {Error} one line that names the file and the remedy
 */
function openConnection(path: string, checkSchema: (db: Database) => void): Database {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite gives its WAL the permissions of the database, so the owner alone reads either.
    closeSync(openSync(path, 'a', 0o600));
    const db = new Sqlite(path, { timeout: OPENING_BUSY_MS });
    try {
      prepare(db, path);
      checkSchema(db);
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
  useWal(db);
  db.pragma('synchronous = FULL');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  db.pragma(`journal_size_limit = ${WAL_LIMIT_BYTES}`);
  db.pragma(`cache_size = -${CACHE_KIB}`);
  // Otherwise INSERT OR REPLACE would delete a row past the append-only triggers.
  db.pragma('recursive_triggers = ON');
  assertDurable(db, path);
}

/** SQLite does not wait for another process that sets this at the same time. */
function useWal(db: Database): void {
  const set = (): unknown => db.pragma('journal_mode = WAL');
  waitWhile(() => {
    try {
      set();
      return false;
    } catch (error) {
      if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) return true;
      throw error;
    }
  });
  set();
}

/** Blocks while another process makes the store, for as long as an opening waits. */
export function waitWhile(isBeingMade: () => boolean): void {
  const end = performance.now() + OPENING_BUSY_MS;
  while (isBeingMade() && performance.now() < end) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
  }
}

/** Stamps an empty file, refuses a foreign or a newer one. */
function claim(db: Database, path: string): void {
  const claimed = db.transaction(() => {
    const id = db.pragma('application_id', { simple: true });
    const tables = db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get();
    if (id === 0 && tables === 0) {
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${STORE_VERSION}`);
    }
    checkStamp(db, path);
  });
  claimed.immediate();
}

/** @throws {Error} it is not a store, or one of a newer release */
export function checkStamp(db: Database, path: string): void {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new Error(`${path} is not a store of Pressledger; set DATA_DIR to another directory.`);
  }
  const version = Number(db.pragma('user_version', { simple: true }));
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

/** Words an error of SQLite for the operator: the file and the remedy. */
export function clearError(path: string, error: unknown): Error {
  if (!(error instanceof Error)) return new Error(`${path} cannot be opened.`, { cause: error });
  const code = 'code' in error ? String(error.code) : '';
  const reason = Object.entries(REASONS).find(([prefix]) => code.startsWith(prefix))?.[1];
  if (reason !== undefined) {
    return new Error(`${path} ${reason} (${error.message}).`, { cause: error });
  }
  if (code === '') return error;
  return new Error(`${path} cannot be opened (${error.message}).`, { cause: error });
}
