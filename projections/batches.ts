/** The batches of each account, how many of their conversions have ended, and which batches are to be ended. */
import type { Database } from 'better-sqlite3';
import { keyOf, type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { countingOf, type Page, present, type Slice, type Stored } from '../src/read-model/rows.ts';

/** `number` counts an account's batches from 1, or a batch's conversions, so that a page is found without skipping rows. */
const ddl = `
CREATE TABLE batches (
  account_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  total INTEGER NOT NULL,
  pending INTEGER NOT NULL,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  reference TEXT,
  tags TEXT,
  key_id TEXT,
  cancelled_at INTEGER,
  cancelled_event_id TEXT,
  message TEXT,
  ended_at INTEGER,
  last_event_id TEXT,
  is_test INTEGER,
  erased INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX batches_by_id ON batches (id);
CREATE INDEX batches_of_tests ON batches (account_id, number) WHERE is_test IS NOT NULL;
CREATE INDEX batches_to_end ON batches (id)
  WHERE pending = 0 AND ended_at IS NULL AND erased = 0;
CREATE INDEX batches_to_cancel ON batches (id)
  WHERE pending > 0 AND cancelled_at IS NOT NULL AND erased = 0;
CREATE TABLE batch_conversions (
  batch_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  conversion_id TEXT NOT NULL,
  PRIMARY KEY (batch_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX batch_conversions_by_id ON batch_conversions (conversion_id);
CREATE TABLE batch_totals (
  account_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

export const batches: Projection = {
  name: 'batches',
  version: 4,
  tables: ['batches', 'batch_conversions', 'batch_totals'],
  ddl,
  handlers(db) {
    const count = countingOf(db, 'batch_totals');
    const insert = db.prepare(
      `INSERT INTO batches (account_id, number, id, total, pending, created_at, reference, tags, key_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const add = db.prepare(
      `INSERT INTO batch_conversions
       SELECT ?, 1 + coalesce(max(number), 0), ? FROM batch_conversions WHERE batch_id = ?`,
    );
    const markTest = db.prepare('UPDATE batches SET is_test = 1 WHERE id = ? AND is_test IS NULL');
    const countEnd = (column: 'completed' | 'failed') =>
      db.prepare(
        `UPDATE batches SET ${column} = ${column} + 1, pending = pending - 1, last_event_id = ?
         WHERE id = (SELECT batch_id FROM batch_conversions WHERE conversion_id = ?)`,
      );
    const [complete, fail] = [countEnd('completed'), countEnd('failed')];
    const cancel = db.prepare(
      'UPDATE batches SET cancelled_at = ?, cancelled_event_id = ?, message = ? WHERE id = ?',
    );
    const end = db.prepare('UPDATE batches SET ended_at = ? WHERE id = ?');
    const erase = db.prepare('UPDATE batches SET erased = 1 WHERE account_id = ?');
    return typedHandlers({
      BatchRequested({ accountId, batchId, total, requestedAt, ...texts }, event) {
        const { reference = null, tags = null } = texts;
        const key = keyOf(event);
        const { total: number } = count.get(accountId, requestedAt) ?? {};
        insert.run(accountId, number, batchId, total, total, requestedAt, reference, tags, key);
      },
      ConversionRequested({ conversionId, batchId, isTest }) {
        if (batchId === undefined) return;
        add.run(batchId, conversionId, batchId);
        // One key asks for all of a batch.
        if (isTest) markTest.run(batchId);
      },
      ConversionCompleted({ conversionId }, { id }) {
        complete.run(id, conversionId);
      },
      ConversionFailed({ conversionId }, { id }) {
        fail.run(id, conversionId);
      },
      BatchCancelled({ batchId, message, cancelledAt }, { id }) {
        cancel.run(cancelledAt, id, message, batchId);
      },
      BatchEnded({ batchId, endedAt }) {
        end.run(endedAt, batchId);
      },
      // Nobody is left to be told of an end.
      AccountErased({ accountId }) {
        erase.run(accountId);
      },
    });
  },
};

export interface BatchRow {
  readonly id: string;
  readonly accountId: string;
  readonly total: number;
  readonly completed: number;
  readonly failed: number;
  /** Milliseconds since the Unix epoch, as are the other times. */
  readonly createdAt: number;
  readonly cancelledAt?: number;
  readonly endedAt?: number;
  /** Sealed, as is `tags`. */
  readonly reference?: string;
  /** An object as JSON. */
  readonly tags?: string;
  /** The API key that it was asked for with, if it was one. */
  readonly keyId?: string;
  /** Present if it was asked for with a test key: then all of its conversions are tests. */
  readonly isTest?: 1;
}

/** A batch whose conversions have all ended. */
export interface BatchToEnd extends BatchRow {
  /** The event that ended the last of its conversions. */
  readonly lastEventId: string;
}

/** A batch that was cancelled and has conversions that have not ended. */
export interface BatchToCancel extends BatchRow {
  readonly cancelledEventId: string;
  /** The text that they fail with. Sealed. */
  readonly message: string;
}

const COLUMNS = `id, account_id AS accountId, total, completed, failed, created_at AS createdAt,
  cancelled_at AS cancelledAt, ended_at AS endedAt, reference, tags, key_id AS keyId, is_test AS isTest`;

export interface BatchQueries {
  byId(id: string): BatchRow | undefined;
  /** Newest first; `total` counts all of the account, or its tests. */
  page(accountId: string, page: Slice, testsOnly?: boolean): Page<BatchRow>;
  /** The ids of its conversions, in the order of the requests. */
  conversionsOf(id: string): readonly string[];
  toEnd(limit: number): readonly BatchToEnd[];
  toCancel(limit: number): readonly BatchToCancel[];
}

export function batchQueries(db: Database): BatchQueries {
  const byId = db.prepare<[string], Stored<BatchRow>>(
    `SELECT ${COLUMNS} FROM batches WHERE id = ?`,
  );
  const totalOf = db
    .prepare<[string], number>('SELECT total FROM batch_totals WHERE account_id = ?')
    .pluck();
  const newest = db.prepare<[string, number, number], Stored<BatchRow>>(
    `SELECT ${COLUMNS} FROM batches WHERE account_id = ? AND number <= ?
     ORDER BY number DESC LIMIT ?`,
  );
  const ofTests =
    'FROM batches INDEXED BY batches_of_tests WHERE account_id = ? AND is_test IS NOT NULL';
  const countTests = db.prepare<[string], number>(`SELECT count(*) ${ofTests}`).pluck();
  const newestTests = db.prepare<[string, number, number], Stored<BatchRow>>(
    `SELECT ${COLUMNS} ${ofTests} ORDER BY number DESC LIMIT ? OFFSET ?`,
  );
  const conversions = db
    .prepare<[string], string>(
      'SELECT conversion_id FROM batch_conversions WHERE batch_id = ? ORDER BY number',
    )
    .pluck();
  const toEnd = db.prepare<[number], Stored<BatchToEnd>>(
    `SELECT ${COLUMNS}, last_event_id AS lastEventId FROM batches INDEXED BY batches_to_end
     WHERE pending = 0 AND ended_at IS NULL AND erased = 0 LIMIT ?`,
  );
  const toCancel = db.prepare<[number], Stored<BatchToCancel>>(
    `SELECT ${COLUMNS}, cancelled_event_id AS cancelledEventId, message
     FROM batches INDEXED BY batches_to_cancel
     WHERE pending > 0 AND cancelled_at IS NOT NULL AND erased = 0 LIMIT ?`,
  );
  return {
    byId(id) {
      const stored = byId.get(id);
      return stored && present<BatchRow>(stored);
    },
    page(accountId, { offset, limit }, testsOnly = false) {
      if (testsOnly) {
        const rows = newestTests.all(accountId, limit, offset).map(present<BatchRow>);
        return { rows, total: countTests.get(accountId) ?? 0 };
      }
      const total = totalOf.get(accountId) ?? 0;
      return { rows: newest.all(accountId, total - offset, limit).map(present<BatchRow>), total };
    },
    conversionsOf: (id) => conversions.all(id),
    toEnd: (limit) => toEnd.all(limit).map(present<BatchToEnd>),
    toCancel: (limit) => toCancel.all(limit).map(present<BatchToCancel>),
  };
}
