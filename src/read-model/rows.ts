/** The forms that rows of projections have in a table and outside of it, and how a page or a number is found among them. */
import type { Database, Statement } from 'better-sqlite3';

/** Which rows of a list are wanted. */
export interface Slice {
  readonly offset: number;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** All rows of the list. */
  readonly total: number;
}

/**
 * A page of a list, oldest first if that is asked for. It is then found from the other end, where late pages take no
 * longer than early ones.
 * @param page the rows of a slice, newest first; it answers all calls of a turn as of the same moment
 */
export function inOrder<Row>(
  { offset, limit }: Slice,
  order: 'newest' | 'oldest',
  page: (slice: Slice) => Page<Row>,
): Page<Row> {
  if (order === 'newest') return page({ offset, limit });
  const { total } = page({ offset: 0, limit: 0 });
  const end = Math.max(0, total - offset);
  const first = Math.max(0, end - limit);
  const { rows } = page({ offset: first, limit: end - first });
  return { rows: rows.toReversed(), total };
}

/** A row as it lies in its table: what may be absent in it is null there. */
export type Stored<Row> = {
  readonly [C in keyof Row]-?: Partial<Pick<Row, C>> extends Pick<Row, C>
    ? Exclude<Row[C], undefined> | null
    : Row[C];
};

/** The row without the columns that are null. */
export const present = <Row extends object>(stored: Stored<Row>): Row =>
  Object.fromEntries(Object.entries(stored).filter(([, value]) => value !== null)) as Row;

/**
 * Counts one more row of an account in a table of totals, by account and time.
 * @returns the row's number, from 1, and a time that never decreases with it
 */
export const countingOf = (
  db: Database,
  table: string,
): Statement<[account: string, time: number], { total: number; time: number }> =>
  db.prepare(
    `INSERT INTO ${table} (account_id, total, time) VALUES (?, 1, ?)
     ON CONFLICT DO UPDATE SET total = total + 1, time = max(time, excluded.time)
     RETURNING total, time`,
  );

/** Counts the numbers from 1 that the condition holds for, which holds for none after the first that it does not. */
export function countWhile(total: number, holds: (number: number) => boolean): number {
  let [low, high] = [0, total];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle + 1)) low = middle + 1;
    else high = middle;
  }
  return low;
}
