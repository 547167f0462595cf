/** Holds two generations against each other: a replay must give the rows that the live run gave. */
import Sqlite, { type Database } from 'better-sqlite3';
import type { Projection } from '../../src/read-model/projection.ts';

/** Differences told before it gives up. */
const MOST_TOLD = 20;

/**
 * Reads two read-model files row for row, in the order of their keys, checkpoints included.
 * @returns what differs, one line each, at most 20; empty where they are equal
 */
export function compareGenerations(
  a: string,
  b: string,
  projections: readonly Projection[],
): readonly string[] {
  const left = new Sqlite(a, { readonly: true });
  const right = new Sqlite(b, { readonly: true });
  try {
    const tables = ['checkpoints', ...projections.flatMap((projection) => projection.tables)];
    const differences: string[] = [];
    for (const table of tables) {
      for (const difference of differencesIn(table, left, right)) {
        if (differences.push(difference) === MOST_TOLD) return differences;
      }
    }
    return differences;
  } finally {
    left.close();
    right.close();
  }
}

function* differencesIn(table: string, a: Database, b: Database): Generator<string> {
  const left = rowsOf(table, a);
  const right = rowsOf(table, b);
  try {
    for (let number = 1; ; number += 1) {
      const [one, other] = [left.next(), right.next()];
      if (one.done === true && other.done === true) return;
      const [was, is] = [textOf(one.value), textOf(other.value)];
      if (was !== is) yield `${table}, row ${number}: ${was} and ${is}`;
    }
  } finally {
    left.return?.();
    right.return?.();
  }
}

/** Every table here has a key of its own, so the order does not depend on how rows came in. */
function rowsOf(table: string, db: Database): Iterator<unknown[]> {
  const key = db
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk')
    .pluck()
    .all(table);
  return db
    .prepare<[], unknown[]>(`SELECT * FROM ${table} ORDER BY ${key.join(', ')}`)
    .raw()
    .safeIntegers()
    .iterate();
}

function textOf(row: unknown[] | undefined): string {
  return row === undefined
    ? 'no row'
    : JSON.stringify(row, (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      );
}
