/** The latest failures of conversions, of all accounts. */
import type { Database } from 'better-sqlite3';
import type { ConversionFailureCode } from '../src/domain/choices.ts';
import type { Source } from '../src/domain/event-fields.ts';
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
  /** What the conversion was made from; null: its account was erased. */
  readonly source: Source | null;
  readonly attempt: number;
  readonly renderer: string;
  /** Milliseconds since the Unix epoch. */
  readonly failedAt: number;
}

/** Failures with the same reason, renderer and kind of document. */
export interface FailureGroup extends Pick<FailureRow, 'code' | 'source' | 'renderer'> {
  readonly count: number;
  readonly lastAt: number;
  readonly lastConversionId: string;
}

export interface FailureFilter extends Partial<FailureRow> {
  /** Milliseconds since the Unix epoch; `to` is exclusive. */
  readonly from?: number;
  readonly to?: number;
}

export interface FailureQueries {
  /** Those after the one with this number, oldest first. */
  after(number: number, limit: number): readonly NumberedFailure[];
  /** The number of the newest one; 0 where there is none. */
  last(): number;
  /** Newest first. */
  page(page: Slice, filter?: FailureFilter): Page<FailureRow>;
  /** The largest first. */
  groups(filter: FailureFilter): readonly FailureGroup[];
}

const MOST_GROUPS = 100;

/** All that a filter does not name is null, and lets every row through. */
const SOURCE = '(SELECT source FROM conversions WHERE id = conversion_id)';
const MATCHING = `FROM failures
  WHERE (@code IS NULL OR code = @code) AND (@renderer IS NULL OR renderer = @renderer)
    AND (@from IS NULL OR failed_at >= @from) AND (@to IS NULL OR failed_at < @to)
    AND (@source IS NULL OR ${SOURCE} = @source)`;

const NO_FILTER = { code: null, renderer: null, source: null, from: null, to: null };

export function failureQueries(db: Database): FailureQueries {
  const last = db.prepare<[], number | null>('SELECT max(number) FROM failures').pluck();
  const count = db.prepare<[object], number>(`SELECT count(*) ${MATCHING}`).pluck();
  const select = db.prepare<[object], FailureRow>(
    `SELECT conversion_id AS conversionId, account_id AS accountId, code, ${SOURCE} AS source, attempt,
       renderer, failed_at AS failedAt
     ${MATCHING} ORDER BY number DESC LIMIT @limit OFFSET @offset`,
  );
  // SQLite takes the other columns from the row that has the greatest number.
  const groups = db.prepare<[object], FailureGroup>(
    `SELECT code, ${SOURCE} AS source, renderer, count(*) AS count, failed_at AS lastAt, conversion_id AS lastConversionId
     ${MATCHING} GROUP BY 1, 2, 3 ORDER BY count DESC, max(number) DESC LIMIT ${MOST_GROUPS}`,
  );
  const after = db.prepare<[number, number], NumberedFailure>(
    `SELECT number, conversion_id AS conversionId, renderer FROM failures
     WHERE number > ? ORDER BY number LIMIT ?`,
  );
  return {
    after: (number, limit) => after.all(number, limit),
    last: () => last.get() ?? 0,
    page: (page, filter = {}) => ({
      rows: select.all({ ...NO_FILTER, ...filter, ...page }),
      total: count.get({ ...NO_FILTER, ...filter }) ?? 0,
    }),
    groups: (filter) => groups.all({ ...NO_FILTER, ...filter }),
  };
}
