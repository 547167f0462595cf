/** Pages of an account's conversions, whichever the filter: none skips many rows, and none counts them all. */
import type { Database } from 'better-sqlite3';

export const CONVERSION_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
export type ConversionStatus = (typeof CONVERSION_STATUSES)[number];

/** Numbers of an account whose failures are counted together. */
export const BLOCK = 1_000;

/**
 * The fewest characters of an id that are searched for. These have the time of the request to 5 minutes, and
 * the index is searched for all that was requested then.
 */
export const MIN_ID_START = 'conv_'.length + 6;

export interface ConversionFilter {
  readonly status?: ConversionStatus;
  /** The first characters of the id, `MIN_ID_START` or more. */
  readonly idStart?: string;
  /** Created then or later: milliseconds since the Unix epoch. */
  readonly from?: number;
  /** Created before. */
  readonly to?: number;
}

export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

/** The numbers of an account's conversions that are looked at, both inclusive. */
interface Numbers {
  readonly first: number;
  readonly last: number;
}

interface Found<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** @param columns those of a `Row` */
export function conversionPages<Row>(
  db: Database,
  columns: string,
): (accountId: string, page: ConversionFilter & Slice) => Found<Row> {
  const totalOf = db
    .prepare<[string], number>('SELECT total FROM conversion_totals WHERE account_id = ?')
    .pluck();
  const timeOf = db
    .prepare<[string, number], number>(
      'SELECT time FROM conversions WHERE account_id = ? AND number = ?',
    )
    .pluck();
  const counted = db
    .prepare<[string, string, number, number], number>(
      `SELECT count(*) FROM conversions
       WHERE account_id = ? AND status = ? AND number BETWEEN ? AND ?`,
    )
    .pluck();
  const failedInWholeBlocks = db
    .prepare<[string, number, number], number>(
      `SELECT coalesce(sum(failed), 0) FROM conversion_failures
       WHERE account_id = ? AND block BETWEEN ? AND ?`,
    )
    .pluck();
  const newest = db.prepare<[string, number, number, number], Row>(
    `SELECT ${columns} FROM conversions WHERE account_id = ? AND number BETWEEN ? AND ?
     ORDER BY number DESC LIMIT ?`,
  );
  // The inner select skips within the index alone; only the page's own rows are then read.
  const newestOfStatus = db.prepare<[string, string, string, number, number, number, number], Row>(
    `SELECT ${columns} FROM conversions WHERE account_id = ? AND number IN (
       SELECT number FROM conversions WHERE account_id = ? AND status = ? AND number BETWEEN ? AND ?
       ORDER BY number DESC LIMIT ? OFFSET ?)
     ORDER BY number DESC`,
  );
  const failedInBlocks = db
    .prepare<[string], [number, number]>(
      'SELECT block, failed FROM conversion_failures WHERE account_id = ?',
    )
    .raw();
  const unfinishedInBlocks = db
    .prepare<[string], [number, number]>(
      `SELECT number / ${BLOCK} AS block, count(*) FROM conversions
       WHERE account_id = ? AND status IN ('pending', 'processing') GROUP BY block`,
    )
    .raw();
  // An id's first characters are its time: these are few among all accounts'.
  const ofIdStart = `FROM conversions INDEXED BY conversions_by_id
    WHERE id >= @start AND id < @end AND account_id = @accountId
      AND number BETWEEN @first AND @last AND (@status IS NULL OR status = @status)`;
  const countByIdStart = db.prepare<[object], number>(`SELECT count(*) ${ofIdStart}`).pluck();
  const newestByIdStart = db.prepare<[object], Row>(
    `SELECT ${columns} ${ofIdStart} ORDER BY number DESC LIMIT @limit OFFSET @offset`,
  );

  /** The number of the account's conversions that are older than the time. */
  function countBefore(accountId: string, total: number, time: number): number {
    let [low, high] = [0, total];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((timeOf.get(accountId, middle + 1) ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function numbersOf(accountId: string, { from, to }: ConversionFilter): Numbers {
    const total = totalOf.get(accountId) ?? 0;
    const first = from === undefined ? 1 : countBefore(accountId, total, from) + 1;
    return { first, last: to === undefined ? total : countBefore(accountId, total, to) };
  }

  function countFailed(accountId: string, { first, last }: Numbers): number {
    const firstBlock = Math.ceil(first / BLOCK);
    const blocksEnd = Math.floor((last + 1) / BLOCK);
    const count = (from: number, to: number): number =>
      counted.get(accountId, 'failed', from, to) ?? 0;
    if (firstBlock >= blocksEnd) return count(first, last);
    const inBlocks = failedInWholeBlocks.get(accountId, firstBlock, blocksEnd - 1) ?? 0;
    return count(first, firstBlock * BLOCK - 1) + inBlocks + count(blocksEnd * BLOCK, last);
  }

  function countOf(accountId: string, status: ConversionStatus, numbers: Numbers): number {
    const { first, last } = numbers;
    if (last < first) return 0;
    if (status === 'failed') return countFailed(accountId, numbers);
    // Few are ever unfinished, so these two are counted and the many completed ones are the rest.
    if (status !== 'completed') return counted.get(accountId, status, first, last) ?? 0;
    const others = (['pending', 'processing', 'failed'] as const).map((each) =>
      countOf(accountId, each, numbers),
    );
    return others.reduce((left, count) => left - count, last - first + 1);
  }

  /** A number from which on downwards only few of the status are to be skipped to reach the offset. */
  function nearOffset(
    accountId: string,
    status: ConversionStatus,
    { first, last }: Numbers,
    offset: number,
  ): { readonly from: number; readonly skipped: number } {
    if (offset < BLOCK || status === 'pending' || status === 'processing') {
      return { from: last, skipped: offset };
    }
    const failed = new Map(failedInBlocks.all(accountId));
    const unfinished = new Map(unfinishedInBlocks.all(accountId));
    let from = last;
    let skipped = offset;
    while (from >= first) {
      const block = Math.floor(from / BLOCK);
      // There is no number 0.
      const start = Math.max(1, block * BLOCK);
      const isWhole = first <= start && (from + 1) % BLOCK === 0;
      const failures = failed.get(block) ?? 0;
      const all =
        status === 'failed' ? failures : from - start + 1 - failures - (unfinished.get(block) ?? 0);
      const lowest = Math.max(first, start);
      const count = isWhole ? all : countOf(accountId, status, { first: lowest, last: from });
      if (skipped < count) break;
      skipped -= count;
      from = lowest - 1;
    }
    return { from, skipped };
  }

  return (accountId, { offset, limit, ...filter }) => {
    const { status, idStart } = filter;
    const numbers = numbersOf(accountId, filter);
    const { first, last } = numbers;
    if (idStart !== undefined) {
      // No id has a character beyond z.
      const range = { start: idStart, end: `${idStart}{`, status: status ?? null };
      const total = countByIdStart.get({ accountId, ...numbers, ...range }) ?? 0;
      const page = { accountId, ...numbers, ...range, limit, offset };
      return { rows: newestByIdStart.all(page), total };
    }
    if (status === undefined) {
      const total = Math.max(0, last - first + 1);
      return { rows: newest.all(accountId, first, last - offset, limit), total };
    }
    const { from, skipped } = nearOffset(accountId, status, numbers, offset);
    const rows = newestOfStatus.all(accountId, accountId, status, first, from, limit, skipped);
    return { rows, total: countOf(accountId, status, numbers) };
  };
}
