/**
 * Compares the tables of two read models: first their digests, then, where these differ, row by row.
 * Both read in the order of the primary key, so neither needs more memory for a larger table.
 */
import { createHash } from 'node:crypto';
import type { Database } from 'better-sqlite3';

/** Rows hashed at once. */
const CHUNK = 1_000;

export type Value = null | bigint | number | string | Buffer;
type Row = readonly Value[];

/** `rebuilt` is what the log gives. */
export type Side = 'live' | 'rebuilt';

/** A row that one side alone has, or a column in which the two rows of a key differ. */
export type RowDifference = {
  /** The primary key, by column. */
  readonly key: Readonly<Record<string, Value>>;
} & (
  | { readonly onlyIn: Side }
  | { readonly column: string; readonly live: Value; readonly rebuilt: Value }
);

export interface TableComparison {
  readonly table: string;
  readonly rows: Readonly<Record<Side, number>>;
  /** SHA-256, hex, of the columns that both have, in the order of the primary key. */
  readonly digest: Readonly<Record<Side, string>>;
  /** Its primary key; empty if there is no such table. Rows are compared where both sides have one key. */
  readonly key: Readonly<Record<Side, readonly string[]>>;
  /** The columns that one side alone has. */
  readonly onlyIn: Readonly<Record<Side, readonly string[]>>;
  /** Rows that differ. */
  readonly differing: number;
  /** The first of them, a difference for each column. */
  readonly first: readonly RowDifference[];
}

interface Shape {
  readonly columns: readonly string[];
  readonly key: readonly string[];
}

/** @param most the number of differences that are kept; all are counted */
export function compareTable(
  table: string,
  live: Database,
  rebuilt: Database,
  most: number,
): TableComparison {
  const [old, made] = [shapeOf(table, live), shapeOf(table, rebuilt)];
  const columns = made.columns.filter((column) => old.columns.includes(column));
  const from = hasOneKey({ live: old.key, rebuilt: made.key })
    ? `SELECT ${names(columns)} FROM "${table}" ORDER BY ${names(made.key)}`
    : 'SELECT 1 WHERE 0';
  const [one, other] = [digestOf(live, from), digestOf(rebuilt, from)];
  const keyAt = made.key.map((column) => columns.indexOf(column));
  const found =
    one.digest === other.digest
      ? { differing: 0, first: [] }
      : differencesIn(rowsOf(live, from), rowsOf(rebuilt, from), columns, keyAt, most);
  return {
    table,
    rows: { live: one.rows, rebuilt: other.rows },
    digest: { live: one.digest, rebuilt: other.digest },
    key: { live: old.key, rebuilt: made.key },
    onlyIn: {
      live: old.columns.filter((column) => !made.columns.includes(column)),
      rebuilt: made.columns.filter((column) => !old.columns.includes(column)),
    },
    ...found,
  };
}

export const hasOneKey = ({ live, rebuilt }: TableComparison['key']): boolean =>
  live.length > 0 && live.join() === rebuilt.join();

export const isEqual = ({ onlyIn, key, differing }: TableComparison): boolean =>
  hasOneKey(key) && differing === 0 && onlyIn.live.length === 0 && onlyIn.rebuilt.length === 0;

const names = (columns: readonly string[]): string =>
  columns.map((column) => `"${column}"`).join(', ');

/** The table's columns and key; none if there is no such table. */
function shapeOf(table: string, db: Database): Shape {
  const columns = db
    .prepare<[string], { readonly name: string; readonly pk: number }>(
      'SELECT name, pk FROM pragma_table_info(?)',
    )
    .all(table);
  const key = columns.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk);
  return { columns: columns.map(({ name }) => name), key: key.map(({ name }) => name) };
}

const rowsOf = (db: Database, from: string): IterableIterator<Row> =>
  db.prepare<[], Row>(from).raw().safeIntegers().iterate();

/** The type and the length stand before each value, so no two rows have one text. */
function textOf(value: Value): string {
  if (value === null) return 'n';
  if (typeof value === 'string') return `t${value.length}:${value}`;
  return Buffer.isBuffer(value) ? `b${value.toString('hex')};` : `${typeof value}${value};`;
}

function digestOf(db: Database, from: string): { readonly rows: number; readonly digest: string } {
  const hash = createHash('sha256');
  let rows = 0;
  let chunk = '';
  for (const row of rowsOf(db, from)) {
    for (const value of row) chunk += textOf(value);
    rows += 1;
    if (rows % CHUNK > 0) continue;
    hash.update(chunk);
    chunk = '';
  }
  return { rows, digest: hash.update(chunk).digest('hex') };
}

/** Goes through both at once: the one whose key comes first is ahead by a row that the other lacks. */
function differencesIn(
  live: IterableIterator<Row>,
  rebuilt: IterableIterator<Row>,
  columns: readonly string[],
  keyAt: readonly number[],
  most: number,
): { readonly differing: number; readonly first: readonly RowDifference[] } {
  const first: RowDifference[] = [];
  let differing = 0;
  const keyOf = (row: Row): RowDifference['key'] =>
    Object.fromEntries(keyAt.map((at) => [columns[at] ?? '', row[at] ?? null]));
  const tell = (difference: RowDifference): void => {
    if (first.length < most) first.push(difference);
  };
  let [one, other] = [live.next().value, rebuilt.next().value] as [Row?, Row?];
  while (one !== undefined || other !== undefined) {
    const order = orderOf(one, other, keyAt);
    if (order === 0 && one !== undefined && other !== undefined) {
      const [is, should] = [one, other];
      const at = [...columns.keys()].filter((each) => !isSame(is[each], should[each]));
      if (at.length > 0) differing += 1;
      for (const each of at) {
        const [column = '', of = null, to = null] = [columns[each], is[each], should[each]];
        tell({ key: keyOf(is), column, live: of, rebuilt: to });
      }
    } else {
      differing += 1;
      const [row = [], onlyIn] =
        order < 0 ? ([one, 'live'] as const) : ([other, 'rebuilt'] as const);
      tell({ key: keyOf(row), onlyIn });
    }
    if (order <= 0) one = live.next().value as Row | undefined;
    if (order >= 0) other = rebuilt.next().value as Row | undefined;
  }
  return { differing, first };
}

const isSame = (one: Value | undefined, other: Value | undefined): boolean =>
  one === other || (one !== undefined && other !== undefined && textOf(one) === textOf(other));

/** The order of two rows by their keys, as SQLite sorts: texts by their bytes. No row comes last. */
function orderOf(one: Row | undefined, other: Row | undefined, keyAt: readonly number[]): number {
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  for (const at of keyAt) {
    const [a, b] = [one[at] ?? null, other[at] ?? null];
    if (a === b) continue;
    const order =
      typeof a === 'bigint' && typeof b === 'bigint'
        ? Number(a > b) - Number(a < b)
        : Buffer.compare(bytesOf(a), bytesOf(b));
    if (order !== 0) return order;
  }
  return 0;
}

const bytesOf = (value: Value): Buffer =>
  Buffer.isBuffer(value) ? value : Buffer.from(String(value), 'utf8');
