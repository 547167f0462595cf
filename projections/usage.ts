/** The conversions of each account on each day in UTC. */
import type { Database } from 'better-sqlite3';
import type { ConversionFailureCode } from '../src/domain/choices.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** `day` counts from 1970-01-01. Each number is of the day when it happened: a conversion may end on a later one. */
const ddl = `
CREATE TABLE usage_days (
  account_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0,
  completed INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  pages INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  tests INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account_id, day)
) STRICT, WITHOUT ROWID;
CREATE TABLE usage_failures (
  account_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  code TEXT NOT NULL,
  failed INTEGER NOT NULL,
  PRIMARY KEY (account_id, day, code)
) STRICT, WITHOUT ROWID;`;

const dayOf = (time: number): number => Math.floor(time / DAY_MS);

export const usage: Projection = {
  name: 'usage',
  version: 2,
  tables: ['usage_days', 'usage_failures'],
  ddl,
  handlers(db) {
    const accept = db.prepare(
      `INSERT INTO usage_days (account_id, day, accepted, tests) VALUES (?, ?, 1, ?)
       ON CONFLICT DO UPDATE SET accepted = accepted + 1, tests = tests + excluded.tests`,
    );
    const complete = db.prepare(
      `INSERT INTO usage_days (account_id, day, completed, pages, bytes) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT DO UPDATE SET completed = completed + 1, pages = pages + excluded.pages,
         bytes = bytes + excluded.bytes`,
    );
    const fail = db.prepare(
      `INSERT INTO usage_days (account_id, day, failed) VALUES (?, ?, 1)
       ON CONFLICT DO UPDATE SET failed = failed + 1`,
    );
    const countCode = db.prepare(
      `INSERT INTO usage_failures VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET failed = failed + 1`,
    );
    const dropDays = db.prepare('DELETE FROM usage_days WHERE account_id = ?');
    const dropFailures = db.prepare('DELETE FROM usage_failures WHERE account_id = ?');
    return typedHandlers({
      ConversionRequested({ accountId, requestedAt, isTest }) {
        accept.run(accountId, dayOf(requestedAt), isTest ? 1 : 0);
      },
      ConversionCompleted({ accountId, completedAt, pages, pdf }) {
        complete.run(accountId, dayOf(completedAt), pages, pdf.bytes);
      },
      ConversionFailed({ accountId, failedAt, code }) {
        fail.run(accountId, dayOf(failedAt));
        countCode.run(accountId, dayOf(failedAt), code);
      },
      // No conversion of the account ends later: those under way have failed by then.
      ErasureCompleted({ accountId }) {
        dropDays.run(accountId);
        dropFailures.run(accountId);
      },
    });
  },
};

export interface UsageDay {
  /** Counted from 1970-01-01. */
  readonly day: number;
  readonly accepted: number;
  readonly completed: number;
  readonly failed: number;
  /** The pages of the PDFs that were completed; `bytes` is their size. */
  readonly pages: number;
  readonly bytes: number;
  /** Those of the accepted ones that are tests. */
  readonly tests: number;
  readonly failures: Readonly<Partial<Record<ConversionFailureCode, number>>>;
}

export interface UsageQueries {
  /** The days on which something happened, oldest first, both ends inclusive. */
  days(accountId: string, first: number, last: number): readonly UsageDay[];
}

export function usageQueries(db: Database): UsageQueries {
  const select = db.prepare<
    [string, number, number],
    Omit<UsageDay, 'failures'> & { failures: string }
  >(
    `SELECT day, accepted, completed, failed, pages, bytes, tests,
       (SELECT json_group_object(code, each.failed) FROM usage_failures AS each
        WHERE each.account_id = usage_days.account_id AND each.day = usage_days.day) AS failures
     FROM usage_days WHERE account_id = ? AND day BETWEEN ? AND ? ORDER BY day`,
  );
  return {
    days: (accountId, first, last) =>
      select
        .all(accountId, first, last)
        .map((row) => ({ ...row, failures: JSON.parse(row.failures) as UsageDay['failures'] })),
  };
}
