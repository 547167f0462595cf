/** Holds two generations against each other: a replay must give the rows that the live run gave. */
import Sqlite from 'better-sqlite3';
import { compareTable, isEqual } from '../../src/read-model/comparison.ts';
import type { Projection } from '../../src/read-model/projection.ts';

/** Differences told of each table. */
const MOST_TOLD = 20;

/**
 * Compares two read-model files, checkpoints included.
 * @returns what differs, one line each; empty where they are equal
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
    return tables.flatMap((table) => {
      const compared = compareTable(table, left, right, MOST_TOLD);
      if (isEqual(compared)) return [];
      const lines = compared.first.map((difference) => `${table}: ${textOf(difference)}`);
      return lines.length > 0 ? lines : [`${table}: ${textOf(compared)}`];
    });
  } finally {
    left.close();
    right.close();
  }
}

const textOf = (value: object): string =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each));
