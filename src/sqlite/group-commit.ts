/**
 * Group commit: all work that one turn of the event loop brings goes into one transaction, so that
 * its writers share one fsync. See docs/decisions/0002-group-commit.md.
 */
import Sqlite, { type Database } from 'better-sqlite3';

/** One attempt at a transaction. */
export interface Batch {
  /** Turns true when the transaction is on disk; stays false when it was rolled back. */
  committed: boolean;
}

/** A caller's share of a transaction. Exactly one of `done` and `failed` ends it. */
export interface Work {
  /**
   * Reads and writes. Runs again in a new batch when another's work broke this one. What it throws
   * undoes the batch and fails this work only, unless the storage itself failed.
   */
  run(batch: Batch): void;
  /** The transaction is on disk. */
  done(): void;
  /** Nothing of it is on disk. */
  failed(error: unknown): void;
}

/** Pause between two tries for a lock that another process holds; others have the event loop then. */
const RETRY_MS = 25;
/** A transaction that waits for another process longer than this is logged. */
const TELL_AFTER_MS = 1_000;

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const MAX_BATCH = 512;

/** Errors of SQLite that speak about the statement, not about the storage below it. */
const OWN_FAULTS = ['SQLITE_CONSTRAINT', 'SQLITE_MISMATCH', 'SQLITE_TOOBIG', 'SQLITE_RANGE'];

export class GroupCommitter {
  readonly #db: Database;
  readonly #begin;
  readonly #commit;
  readonly #onCommit: () => void;
  readonly #checkSchema: (db: Database) => void;
  readonly #dataVersion;
  /** The commit of another process up to which the schema is known to be the service's own. */
  #checkedVersion = -1;
  readonly #busyTimeoutMs: number;
  #waiting: Work[] = [];
  #scheduled = false;
  #retry: NodeJS.Timeout | undefined;
  /** Since when another process holds the lock, on the clock of `performance.now()`. */
  #lockedSince: number | undefined;
  #failure: unknown;

  /**
   * @param options `busyTimeoutMs`: how long work waits for other processes' transactions before it fails;
   * `checkSchema`: throws where another process has changed the schema past the service
   */
  constructor(
    db: Database,
    onCommit: () => void,
    {
      busyTimeoutMs,
      checkSchema,
    }: { readonly busyTimeoutMs: number; readonly checkSchema: (db: Database) => void },
  ) {
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#checkSchema = checkSchema;
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
    this.#db = db;
    this.#begin = db.prepare('BEGIN IMMEDIATE');
    this.#commit = db.prepare('COMMIT');
    this.#onCommit = onCommit;
  }

  enqueue(work: Work): void {
    this.#waiting.push(work);
    this.#schedule();
  }

  /** Commits all that waits, before the database is closed; what is locked out now fails. */
  drain(): void {
    clearTimeout(this.#retry);
    this.#lockedSince = -Infinity;
    while (this.#waiting.length > 0) this.#commitWaiting();
  }

  /** Why the last transaction failed, or has waited for long; absent while all is well. */
  failure(): unknown {
    return this.#isLockedFor(TELL_AFTER_MS) ? LOCKED : this.#failure;
  }

  // After the poll phase: every request that this turn of the loop has read is in the batch.
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    this.#commitWaiting();
    if (this.#waiting.length === 0) return;
    if (this.#lockedSince === undefined) return this.#schedule();
    this.#scheduled = true;
    this.#retry = setTimeout(() => this.#turn(), RETRY_MS);
  }

  #isLockedFor(ms: number): boolean {
    return this.#lockedSince !== undefined && performance.now() - this.#lockedSince >= ms;
  }

  #commitWaiting(): void {
    let works = this.#waiting;
    if (works.length > MAX_BATCH) {
      this.#waiting = works.slice(MAX_BATCH);
      works = works.slice(0, MAX_BATCH);
    } else {
      this.#waiting = [];
    }
    while (works.length > 0) {
      const culprit = this.#attempt(works);
      if (culprit === undefined) return;
      works = works.filter((work) => work !== culprit);
    }
  }

  /** Returns the work whose own fault undid the batch, if any; the others are to be run again. */
  #attempt(works: readonly Work[]): Work | undefined {
    const batch: Batch = { committed: false };
    let running: Work | undefined;
    try {
      if (this.#db.inTransaction) this.#rollback();
      this.#begin.run();
      this.#lockedSince = undefined;
      this.#checkAgain();
      for (const work of works) {
        running = work;
        work.run(batch);
      }
      running = undefined;
      this.#commit.run();
      batch.committed = true;
      this.#failure = undefined;
    } catch (error) {
      this.#rollback();
      if (running !== undefined && !isStorageError(error)) {
        running.failed(error);
        return running;
      }
      if (isLocked(error) && !this.#isLockedFor(this.#busyTimeoutMs)) {
        this.#lockedSince ??= performance.now();
        this.#waiting = [...works, ...this.#waiting];
        return undefined;
      }
      this.#failure = error;
      const given = isLocked(error) ? [...works, ...this.#waiting.splice(0)] : works;
      this.#lockedSince = undefined;
      for (const work of given) work.failed(error);
      return undefined;
    }
    for (const work of works) work.done();
    this.#onCommit();
    return undefined;
  }

  /**
   * Checks the schema inside the transaction if another process has committed since. `schema_version` would
   * not do: it can be set back.
   */
  #checkAgain(): void {
    const version = this.#dataVersion.get() ?? 0;
    if (version === this.#checkedVersion) return;
    this.#checkSchema(this.#db);
    this.#checkedVersion = version;
  }

  // SQLite itself rolls back after some errors (a full disk, an I/O error), and may fail to.
  #rollback(): void {
    try {
      if (this.#db.inTransaction) this.#db.exec('ROLLBACK');
    } catch {
      // The next attempt tries it once more, and fails with the reason if it cannot.
    }
  }
}

const LOCKED = new Sqlite.SqliteError('The database is locked by another process.', 'SQLITE_BUSY');

function isLocked(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

function isStorageError(error: unknown): boolean {
  return (
    error instanceof Sqlite.SqliteError && !OWN_FAULTS.some((code) => error.code.startsWith(code))
  );
}
