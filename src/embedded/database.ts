/** The one SQLite file that the embedded event store and the small blobs share. */
import type { Database } from 'better-sqlite3';
import { openConnection } from './connection.ts';
import { GroupCommitter, type Work } from './group-commit.ts';

export interface EmbeddedDatabase {
  /** For reads, prepared statements and DDL. Writes go through `enqueue` or `commit`. */
  readonly db: Database;
  /** Takes part in the next group commit. */
  enqueue(work: Work): void;
  /** Runs `work` in the next group commit; resolves with what it returned once that is on disk. */
  commit<T>(work: (db: Database) => T): Promise<T>;
  /** Calls `listener` after each group commit of this process; returns how to end that. */
  onCommit(listener: () => void): () => void;
  /** Commits what waits, empties the WAL into the file and closes it. */
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
export function openEmbeddedDatabase(path: string): EmbeddedDatabase {
  const db = openConnection(path);
  const listeners = new Set<() => void>();
  const committer = new GroupCommitter(db, () => {
    for (const listener of listeners) listener();
  });

  const enqueue = (work: Work): void => {
    if (db.open) committer.enqueue(work);
    else work.failed(new Error(`${path} is closed.`));
  };

  return {
    db,
    enqueue,
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
      committer.drain();
      // Another process may be reading: then it, or the next start, empties the WAL.
      db.pragma('busy_timeout = 0');
      db.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}
