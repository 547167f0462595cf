/**
 * A to-do list: conversions that failed and whose credit is to be given back to an open account. Those that cost nothing
 * are remembered until they end.
 */
import type { Database } from 'better-sqlite3';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

const ddl = `
CREATE TABLE refunds_due (
  position INTEGER PRIMARY KEY,
  conversion_id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  failed_event_id TEXT NOT NULL,
  failure INTEGER NOT NULL,
  key_id TEXT,
  debited_at INTEGER
) STRICT;
CREATE TABLE refunds_limited (conversion_id TEXT PRIMARY KEY, key_id TEXT NOT NULL, debited_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE refunds_unpaid (conversion_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE refunds_failures (account_id TEXT PRIMARY KEY, failures INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE refunds_erased_accounts (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`;

export const refundsDue: Projection = {
  name: 'refunds-due',
  version: 5,
  tables: [
    'refunds_due',
    'refunds_unpaid',
    'refunds_limited',
    'refunds_failures',
    'refunds_erased_accounts',
  ],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO refunds_due (position, conversion_id, account_id, failed_event_id, failure, key_id, debited_at)
       SELECT @position, @conversionId, @accountId, @failedEventId, @failure, key_id, debited_at
       FROM (SELECT 1) LEFT JOIN refunds_limited ON conversion_id = @conversionId
       WHERE NOT EXISTS (SELECT 1 FROM refunds_erased_accounts WHERE id = @accountId)`,
    );
    const count = db
      .prepare<[string], number>(
        `INSERT INTO refunds_failures (account_id, failures) VALUES (?, 1)
         ON CONFLICT (account_id) DO UPDATE SET failures = failures + 1 RETURNING failures`,
      )
      .pluck();
    const insertLimited = db.prepare('INSERT OR IGNORE INTO refunds_limited VALUES (?, ?, ?)');
    const removeLimited = db.prepare('DELETE FROM refunds_limited WHERE conversion_id = ?');
    const insertUnpaid = db.prepare('INSERT OR IGNORE INTO refunds_unpaid VALUES (?)');
    const removeUnpaid = db.prepare('DELETE FROM refunds_unpaid WHERE conversion_id = ?');
    const remove = db.prepare('DELETE FROM refunds_due WHERE conversion_id = ?');
    const removeAll = db.prepare('DELETE FROM refunds_due WHERE account_id = ?');
    const erase = db.prepare('INSERT OR IGNORE INTO refunds_erased_accounts (id) VALUES (?)');
    return typedHandlers({
      CreditDebited({ conversionId, keyId, debitedAt }) {
        if (keyId !== undefined) insertLimited.run(conversionId, keyId, debitedAt);
      },
      ConversionRequested({ conversionId, unpaid }) {
        if (unpaid) insertUnpaid.run(conversionId);
      },
      ConversionCompleted({ conversionId }) {
        removeUnpaid.run(conversionId);
        removeLimited.run(conversionId);
      },
      ConversionFailed({ accountId, conversionId }, event) {
        if (removeUnpaid.run(conversionId).changes > 0) return;
        const { position, id: failedEventId } = event;
        const failure = count.get(accountId);
        insert.run({ position, conversionId, accountId, failedEventId, failure });
        removeLimited.run(conversionId);
      },
      CreditRefunded({ conversionId }) {
        remove.run(conversionId);
      },
      // Nobody is left to give a credit to, also for what fails later.
      AccountErased({ accountId }) {
        erase.run(accountId);
        removeAll.run(accountId);
      },
    });
  },
};

export interface RefundDue {
  /** The position of the ConversionFailed event. Refunds of an account are given in this order. */
  readonly position: bigint;
  /** Its number among the paid failures of the account, from 1. */
  readonly failure: number;
  readonly conversionId: string;
  readonly accountId: string;
  /** The id of the event that causes the refund. */
  readonly failedEventId: string;
  /** Both or neither: the API key whose monthly limit the debit counts in, and when it was taken. */
  readonly keyId?: string;
  readonly debitedAt?: number;
}

interface StoredRefund extends Omit<RefundDue, 'failure' | 'keyId' | 'debitedAt'> {
  readonly failure: bigint;
  readonly keyId: string | null;
  readonly debitedAt: bigint | null;
}

export interface RefundsDueQueries {
  /** The oldest failures first. */
  next(limit: number): readonly RefundDue[];
}

export function refundsDueQueries(db: Database): RefundsDueQueries {
  // The sum keeps SQLite from recompiling the statement for each limit that is bound.
  const next = db
    .prepare<[number], StoredRefund>(
      `SELECT position, conversion_id AS conversionId, account_id AS accountId,
         failed_event_id AS failedEventId, failure, key_id AS keyId, debited_at AS debitedAt
       FROM refunds_due ORDER BY position LIMIT ? + 0`,
    )
    .safeIntegers();
  return {
    next: (limit) =>
      next.all(limit).map(({ failure, keyId, debitedAt, ...row }) => ({
        ...row,
        failure: Number(failure),
        ...(keyId !== null && debitedAt !== null && { keyId, debitedAt: Number(debitedAt) }),
      })),
  };
}
