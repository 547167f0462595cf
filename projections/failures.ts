/** The latest failures of conversions, of all accounts. */
import type { Database } from 'better-sqlite3';
import type { ConversionFailureCode } from '../src/domain/choices.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import type { Page, Slice } from '../src/read-model/rows.ts';

/** Failures that are kept: somebody who looks for an older one knows its account, whose history has it. */
export const KEPT_FAILURES = 10_000;

/** `number` counts from 1, so that a page is found without skipping rows. */
const ddl = `
CREATE TABLE failures (
  number INTEGER PRIMARY KEY,
  conversion_id TEXT NOT NULL,
  account_id TEXT NOT NULL,
  code TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  renderer TEXT NOT NULL,
  failed_at INTEGER NOT NULL
) STRICT;`;

export const failures: Projection = {
  name: 'failures',
  version: 1,
  tables: ['failures'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO failures (conversion_id, account_id, code, attempt, renderer, failed_at)
       VALUES (?, ?, ?, ?, ?, ?)`,
    );
    const prune = db.prepare('DELETE FROM failures WHERE number <= ?');
    return typedHandlers({
      ConversionFailed({ conversionId, accountId, code, attempt, renderer, failedAt }) {
        const { lastInsertRowid: number } = insert.run(
          conversionId,
          accountId,
          code,
          attempt,
          renderer,
          failedAt,
        );
        prune.run(BigInt(number) - BigInt(KEPT_FAILURES));
      },
    });
  },
};

export interface NumberedFailure {
  /** Counts all failures, the same in each read model of the log. */
  readonly number: number;
  readonly conversionId: string;
  /** `service` where a renderer may still have it. */
  readonly renderer: string;
}

export interface FailureRow {
  readonly conversionId: string;
  readonly accountId: string;
  readonly code: ConversionFailureCode;
  readonly attempt: number;
  readonly renderer: string;
  /** Milliseconds since the Unix epoch. */
  readonly failedAt: number;
}

export interface FailureQueries {
  /** Those after the one with this number, oldest first. */
  after(number: number, limit: number): readonly NumberedFailure[];
  /** The number of the newest one; 0 where there is none. */
  last(): number;
  /** Newest first. */
  page(page: Slice): Page<FailureRow>;
}

export function failureQueries(db: Database): FailureQueries {
  const ends = db.prepare<[], { first: number | null; last: number | null }>(
    'SELECT (SELECT min(number) FROM failures) AS first, (SELECT max(number) FROM failures) AS last',
  );
  const select = db.prepare<[number, number], FailureRow>(
    `SELECT conversion_id AS conversionId, account_id AS accountId, code, attempt, renderer,
       failed_at AS failedAt
     FROM failures WHERE number <= ? ORDER BY number DESC LIMIT ?`,
  );
  const after = db.prepare<[number, number], NumberedFailure>(
    `SELECT number, conversion_id AS conversionId, renderer FROM failures
     WHERE number > ? ORDER BY number LIMIT ?`,
  );
  return {
    after: (number, limit) => after.all(number, limit),
    last: () => ends.get()?.last ?? 0,
    page({ offset, limit }) {
      const { first = null, last = null } = ends.get() ?? {};
      if (first === null || last === null) return { rows: [], total: 0 };
      return { rows: select.all(last - offset, limit), total: last - first + 1 };
    },
  };
}
