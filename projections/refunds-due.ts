/** A to-do list: conversions that failed and whose credit has not been given back. */
import type { Database } from 'better-sqlite3';
import type { Projection } from '../src/read-model/projection.ts';
import { typedHandlers } from '../src/read-model/typed-handlers.ts';

const ddl = `
CREATE TABLE refunds_due (
  position INTEGER PRIMARY KEY,
  conversion_id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  failed_event_id TEXT NOT NULL
) STRICT;`;

export const refundsDue: Projection = {
  name: 'refunds-due',
  version: 1,
  tables: ['refunds_due'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO refunds_due (position, conversion_id, account_id, failed_event_id)
       VALUES (?, ?, ?, ?)`,
    );
    const remove = db.prepare('DELETE FROM refunds_due WHERE conversion_id = ?');
    return typedHandlers({
      ConversionFailed({ accountId, conversionId }, event) {
        insert.run(event.position, conversionId, accountId, event.id);
      },
      CreditRefunded({ conversionId }) {
        remove.run(conversionId);
      },
    });
  },
};

export interface RefundDue {
  /** Of the ConversionFailed event: refunds of an account are given in this order. */
  readonly position: bigint;
  readonly conversionId: string;
  readonly accountId: string;
  /** What causes the refund. */
  readonly failedEventId: string;
}

export interface RefundsDueQueries {
  /** The oldest failures first. */
  next(limit: number): readonly RefundDue[];
  /** Whether this conversion failed and its credit is not back yet. */
  has(conversionId: string): boolean;
}

export function refundsDueQueries(db: Database): RefundsDueQueries {
  const next = db
    .prepare<[number], RefundDue>(
      `SELECT position, conversion_id AS conversionId, account_id AS accountId,
         failed_event_id AS failedEventId
       FROM refunds_due ORDER BY position LIMIT ?`,
    )
    .safeIntegers();
  const has = db
    .prepare<[string], number>('SELECT count(*) FROM refunds_due WHERE conversion_id = ?')
    .pluck();
  return {
    next: (limit) => next.all(limit),
    has: (conversionId) => has.get(conversionId) === 1,
  };
}
