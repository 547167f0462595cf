/** Pages of an account's conversions, whichever the filter: none skips many rows, and none counts them all. */
import type { Database } from 'better-sqlite3';
import type { Page, Slice } from '../src/read-model/rows.ts';

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

/** The numbers of an account's conversions that are looked at, both inclusive. */
export interface Numbers {
  readonly first: number;
  readonly last: number;
}

/** How many conversions an account has, and the time of the newest. */
interface Totals {
  readonly total: number;
  readonly time: number;
}

export interface ConversionPages<Row> {
  page(accountId: string, page: ConversionFilter & Slice): Page<Row>;
  /** The numbers of the account's conversions of the period; if there are none, the last is before the first. */
  numbersIn(accountId: string, period: Pick<ConversionFilter, 'from' | 'to'>): Numbers;
  /** The time of a conversion by its number, as periods count it. */
  timeOf(accountId: string, number: number): number | undefined;
}

/** @param columns those of a `Row` */
export function conversionPages<Row>(db: Database, columns: string): ConversionPages<Row> {
  const totalsOf = db.prepare<[string], Totals>(
    'SELECT total, time FROM conversion_totals WHERE account_id = ?',
  );
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
  // One text: a row for each block takes twice as long to read.
  const failedInBlocks = db
    .prepare<[string], string>(
      'SELECT json_group_object(block, failed) FROM conversion_failures WHERE account_id = ?',
    )
    .pluck();
  const oldestOf = db
    .prepare<[string, ConversionStatus, number], number>(
      `SELECT number FROM conversions WHERE account_id = ? AND status = ? AND number >= ?
       ORDER BY number LIMIT 1`,
    )
    .pluck();
  // An id's first characters are its time: these are few among all accounts'.
  const ofIdStart = `FROM conversions INDEXED BY conversions_by_id
    WHERE id >= @start AND id < @end AND account_id = @accountId
      AND number BETWEEN @first AND @last AND (@status IS NULL OR status = @status)`;
  const countByIdStart = db.prepare<[object], number>(`SELECT count(*) ${ofIdStart}`).pluck();
  const newestByIdStart = db.prepare<[object], Row>(
    `SELECT ${columns} ${ofIdStart} ORDER BY number DESC LIMIT @limit OFFSET @offset`,
  );

  /**
   * The number of the account's conversions that are older than the time. Every second guess takes the times in
   * between for evenly spread, which most nearly are. The others halve, whatever the times.
   */
  function countBefore(accountId: string, { total, time: latest }: Totals, time: number): number {
    if (latest < time) return total;
    const oldest = timeOf.get(accountId, 1) ?? time;
    if (oldest >= time) return 0;
    let low = { number: 1, time: oldest };
    let high = { number: total, time: latest };
    for (let halves = false; high.number - low.number > 1; halves = !halves) {
      const share = halves ? 0.5 : (time - low.time) / (high.time - low.time);
      const guess = low.number + Math.round((high.number - low.number) * share);
      const number = Math.max(low.number + 1, Math.min(guess, high.number - 1));
      const found = { number, time: timeOf.get(accountId, number) ?? time };
      if (found.time < time) low = found;
      else high = found;
    }
    return low.number;
  }

  function numbersOf(accountId: string, { from, to }: ConversionFilter): Numbers {
    const totals = totalsOf.get(accountId) ?? { total: 0, time: -Infinity };
    const first = from === undefined ? 1 : countBefore(accountId, totals, from) + 1;
    return { first, last: to === undefined ? totals.total : countBefore(accountId, totals, to) };
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

  /**
   * A number from which on downwards only few of the status are to be skipped to reach the offset. It is looked for
   * from the oldest on: a late page is nearly always older than all that are unfinished, which need no counting then.
   * @param total of the status among the numbers
   */
  function nearOffset(
    accountId: string,
    status: ConversionStatus,
    { first, last }: Numbers,
    { offset, total }: { readonly offset: number; readonly total: number },
  ): { readonly from: number; readonly skipped: number } {
    if (offset < BLOCK || status === 'pending' || status === 'processing') {
      return { from: last, skipped: offset };
    }
    const failed = JSON.parse(failedInBlocks.get(accountId) ?? '{}') as Record<number, number>;
    const unfinishedFrom = (number: number): number => {
      if (status === 'failed') return Infinity;
      const oldest = (each: ConversionStatus) => oldestOf.get(accountId, each, number) ?? Infinity;
      return Math.min(oldest('pending'), oldest('processing'));
    };
    let unfinished = unfinishedFrom(first);
    const wanted = total - offset;
    let from = first - 1;
    let count = 0;
    while (count < wanted && from < last) {
      const start = from + 1;
      const block = Math.floor(start / BLOCK);
      const end = (block + 1) * BLOCK - 1;
      from = Math.min(end, last);
      // There is no number 0.
      const isWhole = start === Math.max(1, block * BLOCK) && from === end;
      const failures = failed[block] ?? 0;
      if (isWhole && end < unfinished) {
        count += status === 'failed' ? failures : end - start + 1 - failures;
      } else {
        count += countOf(accountId, status, { first: start, last: from });
        unfinished = unfinishedFrom(from + 1);
      }
    }
    const skipped = count - wanted;
    if (status === 'failed') return { from, skipped };
    // Nearly all numbers are completed ones: beyond as many as are to be skipped, few are left of these.
    const passed = countOf(accountId, status, { first: from - skipped + 1, last: from });
    return { from: from - skipped, skipped: skipped - passed };
  }

  function page(
    accountId: string,
    { offset, limit, ...filter }: ConversionFilter & Slice,
  ): Page<Row> {
    const { status, idStart } = filter;
    const numbers = numbersOf(accountId, filter);
    const { first, last } = numbers;
    if (idStart !== undefined) {
      // No id has a character beyond z.
      const range = { start: idStart, end: `${idStart}{`, status: status ?? null };
      const total = countByIdStart.get({ accountId, ...numbers, ...range }) ?? 0;
      const slice = { accountId, ...numbers, ...range, limit, offset };
      return { rows: newestByIdStart.all(slice), total };
    }
    if (status === undefined) {
      const total = Math.max(0, last - first + 1);
      return { rows: newest.all(accountId, first, last - offset, limit), total };
    }
    const total = countOf(accountId, status, numbers);
    if (offset >= total) return { rows: [], total };
    const { from, skipped } = nearOffset(accountId, status, numbers, { offset, total });
    const rows = newestOfStatus.all(accountId, accountId, status, first, from, limit, skipped);
    return { rows, total };
  }

  return {
    page,
    numbersIn: numbersOf,
    timeOf: (accountId, number) => timeOf.get(accountId, number),
  };
}
