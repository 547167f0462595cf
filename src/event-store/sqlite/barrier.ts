/** The barrier that keeps services off a log: a row, and a trigger that refuses events where the log was moved. */
import type { Database } from 'better-sqlite3';
import type { Barrier } from '../port.ts';

/** A service that has the log open meets it with its next append, before that is stored. */
const MOVED_TRIGGER = `CREATE TRIGGER events_moved BEFORE INSERT ON events
BEGIN SELECT RAISE(ABORT, 'this log goes on in another store'); END`;

export function readBarrier(db: Database): Barrier | undefined {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'barrier'").get();
  if (isThere === undefined) return undefined;
  return db.prepare<[], Barrier>('SELECT kind, subject FROM barrier').get();
}

/** Runs in a transaction of its caller. */
export function writeBarrier(db: Database, barrier: Barrier | undefined): void {
  db.exec(`
    DROP TABLE IF EXISTS barrier;
    DROP TRIGGER IF EXISTS events_moved;
  `);
  if (barrier === undefined) return;
  db.exec('CREATE TABLE barrier (kind TEXT NOT NULL, subject TEXT NOT NULL) STRICT');
  db.prepare('INSERT INTO barrier VALUES (?, ?)').run(barrier.kind, barrier.subject);
  if (barrier.kind !== 'incomplete') db.exec(MOVED_TRIGGER);
}
