/** A to-do list: ended conversions whose blobs are still kept, by the time they ended. */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

const ddl = `
CREATE TABLE expirations_due (
  conversion_id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  ended_event_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX expirations_due_by_end ON expirations_due (ended_at, conversion_id);`;

export const expirationsDue: Projection = {
  name: 'expirations-due',
  version: 1,
  tables: ['expirations_due'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO expirations_due (conversion_id, account_id, ended_at, ended_event_id)
       VALUES (?, ?, ?, ?)`,
    );
    const remove = db.prepare('DELETE FROM expirations_due WHERE conversion_id = ?');
    return typedHandlers({
      ConversionCompleted({ accountId, conversionId, completedAt }, event) {
        insert.run(conversionId, accountId, completedAt, event.id);
      },
      ConversionFailed({ accountId, conversionId, failedAt }, event) {
        insert.run(conversionId, accountId, failedAt, event.id);
      },
      ConversionExpired({ conversionId }) {
        remove.run(conversionId);
      },
    });
  },
};

export interface ExpirationDue {
  readonly conversionId: string;
  readonly accountId: string;
  /** Milliseconds since the Unix epoch. */
  readonly endedAt: number;
  /** The event that ended it, which causes the expiration. */
  readonly endedEventId: string;
}

export interface ExpirationsDueQueries {
  /** Those that ended before that time (milliseconds since the Unix epoch), oldest first. */
  next(endedBefore: number, limit: number): readonly ExpirationDue[];
}

export function expirationsDueQueries(db: Database): ExpirationsDueQueries {
  const next = db.prepare<[number, number], ExpirationDue>(
    `SELECT conversion_id AS conversionId, account_id AS accountId, ended_at AS endedAt,
       ended_event_id AS endedEventId
     FROM expirations_due WHERE ended_at < ? ORDER BY ended_at, conversion_id LIMIT ?`,
  );
  return { next: (endedBefore, limit) => next.all(endedBefore, limit) };
}
