/** The Merkle tree of the log (RFC 6962): a leaf for each event as it is stored, in the log's order. */
import type { Database } from 'better-sqlite3';
import type { Projection } from '../src/read-model/projection.ts';
import { countWhile } from '../src/read-model/rows.ts';
import { canonicalEvent } from '../src/transparency-log/canonical-event.ts';
import {
  leafHash,
  nodeRoot,
  SUBTREE_WIDTH,
  type TreeHashes,
} from '../src/transparency-log/merkle-tree.ts';

/** Roots of whole subtrees of 256^level leaves are kept, so that a proof needs few hashes. */
const ddl = `
CREATE TABLE log_leaves (
  number INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE TABLE log_subtrees (
  level INTEGER NOT NULL,
  number INTEGER NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (level, number)
) STRICT, WITHOUT ROWID;`;

const SIZE = 'SELECT coalesce(max(number) + 1, 0) FROM log_leaves';

export const logTree: Projection = {
  name: 'log-tree',
  version: 1,
  tables: ['log_leaves', 'log_subtrees'],
  ddl,
  handlers: () => ({}),
  everyEvent(db) {
    const { hashes } = logTreeQueries(db);
    // Processes share a read model, so the table alone knows the next number.
    const insertLeaf = db.prepare<[bigint, Buffer]>(
      `INSERT INTO log_leaves (number, position, hash) VALUES ((${SIZE}), ?, ?)`,
    );
    const insertSubtree = db.prepare('INSERT INTO log_subtrees VALUES (?, ?, ?)');
    return (event) => {
      const leaf = insertLeaf.run(event.position, leafHash(canonicalEvent(event)));
      // `number` is the row's id.
      const size = Number(leaf.lastInsertRowid) + 1;
      for (let level = 1, width = SUBTREE_WIDTH; size % width === 0; width *= SUBTREE_WIDTH) {
        insertSubtree.run(level, size / width - 1, nodeRoot(hashes, size - width, size));
        level += 1;
      }
    };
  },
};

export interface LogTreeQueries {
  readonly hashes: TreeHashes;
  /** The index of the event at that position; undefined if there is none. */
  readonly indexAt: (position: bigint) => number | undefined;
  /** The position of the event with that index. */
  readonly positionOf: (index: number) => bigint | undefined;
}

export function logTreeQueries(db: Database): LogTreeQueries {
  const size = db.prepare<[], number>(SIZE).pluck();
  const leaves = db
    .prepare<[number, number], Buffer>(
      'SELECT hash FROM log_leaves WHERE number >= ? AND number < ? ORDER BY number',
    )
    .pluck();
  const subtree = db
    .prepare<[number, number], Buffer>(
      'SELECT hash FROM log_subtrees WHERE level = ? AND number = ?',
    )
    .pluck();
  const position = db
    .prepare<[number], bigint>('SELECT position FROM log_leaves WHERE number = ?')
    .pluck()
    .safeIntegers();
  const sizeNow = (): number => size.get() ?? 0;
  const positionOf = (index: number): bigint | undefined => position.get(index);
  return {
    hashes: {
      get size() {
        return sizeNow();
      },
      leaves: (from, to) => leaves.all(from, to),
      subtree: (level, index) => subtree.get(level, index),
    },
    indexAt(at) {
      const index = countWhile(sizeNow(), (number) => (positionOf(number - 1) ?? 0n) < at);
      return positionOf(index) === at ? index : undefined;
    },
    positionOf,
  };
}
