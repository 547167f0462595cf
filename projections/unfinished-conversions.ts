/** A to-do list: what was accepted and has not ended, in the order of acceptance. What leaves it is counted over time. */
import type { Database } from 'better-sqlite3';
import type { BlobRef, PrintOptions } from '../src/domain/event-fields.ts';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { type Projection, typedHandlers } from '../src/read-model/projection.ts';
import { present } from '../src/read-model/rows.ts';
import { ACTIVITY_DDL, activityCounter, type EndedConversion } from './activity.ts';

const ddl = `
CREATE TABLE unfinished_conversions (
  position INTEGER PRIMARY KEY,
  conversion_id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  request TEXT NOT NULL,
  options TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER,
  trace TEXT,
  rerender_of TEXT,
  low INTEGER NOT NULL,
  signed_by TEXT,
  is_test INTEGER,
  erased INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX unfinished_conversions_of_account ON unfinished_conversions (account_id, low);
${ACTIVITY_DDL}`;

export const unfinishedConversions: Projection = {
  name: 'unfinished-conversions',
  version: 10,
  tables: ['unfinished_conversions', 'activity'],
  ddl,
  handlers(db) {
    const insert = db.prepare(
      `INSERT INTO unfinished_conversions
         (position, conversion_id, account_id, request, options, requested_at, trace, rerender_of, low, signed_by, is_test)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const start = db.prepare(
      `UPDATE unfinished_conversions SET attempts = max(attempts, ?), started_at = ?
       WHERE conversion_id = ?`,
    );
    const requeue = db.prepare(
      'UPDATE unfinished_conversions SET attempts = ?, started_at = NULL WHERE conversion_id = ?',
    );
    const remove = db.prepare<[string], EndedConversion>(
      `DELETE FROM unfinished_conversions WHERE conversion_id = ?
       RETURNING requested_at AS requestedAt, started_at AS startedAt`,
    );
    const activity = activityCounter(db);
    const erase = db.prepare('UPDATE unfinished_conversions SET erased = 1 WHERE account_id = ?');
    return typedHandlers({
      ConversionRequested(data, event) {
        const { accountId, conversionId, request, options, requestedAt, priority, rerenderOf } =
          data;
        const { signedBy = null } = data;
        insert.run(
          event.position,
          conversionId,
          accountId,
          JSON.stringify(request),
          JSON.stringify(options),
          requestedAt,
          (event.metadata as EventMetadata).trace ?? null,
          rerenderOf ?? null,
          priority === 'low' ? 1 : 0,
          signedBy,
          data.isTest ? 1 : null,
        );
      },
      ConversionStarted({ conversionId, attempt, startedAt }) {
        start.run(attempt, startedAt, conversionId);
      },
      ConversionRequeued({ conversionId, attempt }) {
        requeue.run(attempt - 1, conversionId);
      },
      ConversionCompleted({ conversionId, completedAt }) {
        const ended = remove.get(conversionId);
        if (ended !== undefined) activity.completed(ended, completedAt);
      },
      ConversionFailed({ conversionId, failedAt, code }) {
        const ended = remove.get(conversionId);
        if (ended !== undefined) activity.failed(ended, failedAt, code === 'cancelled');
      },
      // It accepts no more, so there are no others to come.
      AccountErased({ accountId }) {
        erase.run(accountId);
      },
    });
  },
};

export type Priority = 'normal' | 'low';

export interface UnfinishedRow {
  /** The position of its ConversionRequested event. */
  readonly position: bigint;
  readonly conversionId: string;
  readonly accountId: string;
  readonly request: BlobRef;
  readonly options: PrintOptions;
  /** Milliseconds since the Unix epoch, as is `startedAt`. */
  readonly requestedAt: number;
  /** The highest attempt that a renderer has begun and not given back; 0 before the first. */
  readonly attempts: number;
  /** The time when the latest attempt began. */
  readonly startedAt?: number;
  /** The trace that its request belongs to, sealed. */
  readonly trace?: string;
  /** The conversion whose PDF it is to be compared with. */
  readonly rerenderOf?: string;
  readonly priority: Priority;
  /** Its PDF is to be signed with that certificate; absent: it is not to be signed. */
  readonly signedBy?: 'account' | 'service';
  /** What is made is to show that it is a test. */
  readonly isTest?: true;
}

/** The conversions that are to be rendered. */
export interface Backlog {
  /** Those that no renderer has, and the time when the oldest of them was accepted. */
  readonly waiting: number;
  readonly oldestAt: number | undefined;
  readonly started: number;
}

interface StoredUnfinished {
  readonly position: bigint;
  readonly conversion_id: string;
  readonly account_id: string;
  readonly request: string;
  readonly options: string;
  readonly requested_at: bigint;
  readonly attempts: bigint;
  readonly started_at: bigint | null;
  readonly trace: string | null;
  readonly rerender_of: string | null;
  readonly low: bigint;
  readonly signed_by: 'account' | 'service' | null;
  readonly is_test: bigint | null;
}

function toRow(stored: StoredUnfinished): UnfinishedRow {
  return present<UnfinishedRow>({
    position: stored.position,
    conversionId: stored.conversion_id,
    accountId: stored.account_id,
    request: JSON.parse(stored.request) as BlobRef,
    options: JSON.parse(stored.options) as PrintOptions,
    requestedAt: Number(stored.requested_at),
    attempts: Number(stored.attempts),
    startedAt: stored.started_at === null ? null : Number(stored.started_at),
    trace: stored.trace,
    rerenderOf: stored.rerender_of,
    priority: stored.low === 1n ? 'low' : 'normal',
    signedBy: stored.signed_by,
    isTest: stored.is_test === null ? null : true,
  });
}

export type UnfinishedKey = Pick<
  UnfinishedRow,
  'position' | 'conversionId' | 'accountId' | 'priority'
>;

export interface UnfinishedQueries {
  /** Those accepted after the position that are to be rendered, oldest first. */
  after(position: bigint, limit: number): readonly UnfinishedKey[];
  /** Those of the account and the priority among them. */
  ofAccount(
    accountId: string,
    priority: Priority,
    after: bigint,
    limit: number,
  ): readonly UnfinishedRow[];
  /** Undefined if it is not to be rendered: it has ended, or its account was erased. */
  byId(conversionId: string): UnfinishedRow | undefined;
  /** True if it is to be rendered. Takes a fifth of the time of `byId`. */
  has(conversionId: string): boolean;
  /** Ids of those of an erased account, which are to be ended. */
  abandoned(accountId: string, limit: number): readonly string[];
  count(): number;
  countOf(accountId: string): number;
  /** Reads every row. */
  backlog(): Backlog;
}

export function unfinishedQueries(db: Database): UnfinishedQueries {
  // The sum keeps SQLite from recompiling the statement for each limit that is bound.
  const after = db
    .prepare<[bigint, number], UnfinishedKey>(
      `SELECT position, conversion_id AS conversionId, account_id AS accountId, iif(low, 'low', 'normal') AS priority
       FROM unfinished_conversions WHERE position > ? AND erased = 0 ORDER BY position LIMIT ? + 0`,
    )
    .safeIntegers();
  const ofAccount = db
    .prepare<[string, number, bigint, number], StoredUnfinished>(
      `SELECT * FROM unfinished_conversions
       WHERE account_id = ? AND low = ? AND position > ? AND erased = 0 ORDER BY position LIMIT ? + 0`,
    )
    .safeIntegers();
  const byId = db
    .prepare<[string], StoredUnfinished>(
      'SELECT * FROM unfinished_conversions WHERE conversion_id = ? AND erased = 0',
    )
    .safeIntegers();
  const has = db
    .prepare<[string], 1>(
      'SELECT 1 FROM unfinished_conversions WHERE conversion_id = ? AND erased = 0',
    )
    .pluck();
  const abandoned = db
    .prepare<[string, number], string>(
      'SELECT conversion_id FROM unfinished_conversions WHERE account_id = ? AND erased = 1 LIMIT ?',
    )
    .pluck();
  const count = db.prepare<[], number>('SELECT count(*) FROM unfinished_conversions').pluck();
  const countOf = db
    .prepare<[string], number>('SELECT count(*) FROM unfinished_conversions WHERE account_id = ?')
    .pluck();
  const backlog = db.prepare<
    [],
    { readonly total: number; readonly started: number; readonly oldest: number | null }
  >(
    `SELECT count(*) AS total, count(started_at) AS started,
       min(requested_at) FILTER (WHERE started_at IS NULL) AS oldest
     FROM unfinished_conversions WHERE erased = 0`,
  );
  return {
    after: (position, limit) => after.all(position, limit),
    ofAccount: (accountId, priority, position, limit) =>
      ofAccount.all(accountId, priority === 'low' ? 1 : 0, position, limit).map(toRow),
    byId(conversionId) {
      const stored = byId.get(conversionId);
      return stored && toRow(stored);
    },
    has: (conversionId) => has.get(conversionId) !== undefined,
    abandoned: (accountId, limit) => abandoned.all(accountId, limit),
    count: () => count.get() ?? 0,
    countOf: (accountId) => countOf.get(accountId) ?? 0,
    backlog() {
      const { total = 0, started = 0, oldest = null } = backlog.get() ?? {};
      return { waiting: total - started, oldestAt: oldest ?? undefined, started };
    },
  };
}

/** The unfinished conversions of one account, counted. */
export interface QueuedAccount {
  readonly accountId: string;
  readonly waiting: number;
  readonly rendering: number;
  /** The time of the oldest request, in milliseconds since the Unix epoch. */
  readonly oldestAt: number;
}

export function queueQueries(db: Database): {
  /** Those with most unfinished conversions first. */
  byAccount(limit: number): readonly QueuedAccount[];
} {
  const select = db.prepare<[number], QueuedAccount>(
    `SELECT account_id AS accountId, count(*) - count(started_at) AS waiting,
       count(started_at) AS rendering, min(requested_at) AS oldestAt
     FROM unfinished_conversions GROUP BY account_id ORDER BY count(*) DESC, account_id LIMIT ?`,
  );
  return { byAccount: (limit) => select.all(limit) };
}
