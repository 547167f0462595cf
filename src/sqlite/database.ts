/** The one SQLite file that the embedded event store and the small blobs share. */
import Sqlite, { type Database } from 'better-sqlite3';
import { OPENING_BUSY_MS, openConnection, STORE_VERSION } from './connection.ts';
import { GroupCommitter, type Work } from './group-commit.ts';

/**
 * How long a statement may keep the event loop waiting for another process: about as long as that one's
 * transaction takes. Writes that need more wait between tries.
 */
const BUSY_MS = 50;
/** How long writes wait for other processes in all. */
const PATIENCE_MS = 5_000;

const FAILURES: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk is full',
  SQLITE_BUSY: 'another process keeps it locked',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_CORRUPT: 'it is damaged',
};

export interface EmbeddedDatabase {
  /** For reads and prepared statements. Writes go through `enqueue` or `commit`, DDL through `define`. */
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
   * Why it takes no writes, as far as the last one tells; where there is a reason, it is looked at again
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

/**
 * Opens the file, makes it (and its directory) where there is none.
 * @throws {Error} one line that names the file and the remedy
 */
export function openEmbeddedDatabase(
  path: string,
  { patienceMs = PATIENCE_MS }: { readonly patienceMs?: number } = {},
): EmbeddedDatabase {
  const db = openConnection(path);
  const waitInPlace = (ms: number): unknown => db.pragma(`busy_timeout = ${ms}`);
  waitInPlace(BUSY_MS);
  const listeners = new Set<() => void>();
  const committer = new GroupCommitter(
    db,
    () => {
      for (const listener of listeners) listener();
    },
    patienceMs,
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
