/** The Merkle tree of the log (RFC 6962): a leaf for each event as it is stored, in the log's order. */
import type { Database } from 'better-sqlite3';
import type { Projection } from '../src/read-model/projection.ts';
import { canonicalEvent } from '../src/transparency-log/canonical-event.ts';
import {
  leafHash,
  nodeRoot,
  SUBTREE_WIDTH,
  type TreeHashes,
} from '../src/transparency-log/merkle-tree.ts';

/**
 * Roots of whole subtrees of 256^level leaves are kept, so that a proof needs few hashes, and the last revision of each
 * stream, so that a stream which became shorter is noticed.
 */
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
) STRICT, WITHOUT ROWID;
CREATE TABLE log_streams (
  stream TEXT PRIMARY KEY,
  revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

const indices = 'CREATE UNIQUE INDEX log_leaves_by_position ON log_leaves (position);';

const SIZE = 'SELECT coalesce(max(number) + 1, 0) FROM log_leaves';

export const logTree: Projection = {
  name: 'log-tree',
  version: 2,
  tables: ['log_leaves', 'log_subtrees', 'log_streams'],
  ddl,
  indices,
  handlers: () => ({}),
  everyEvent(db) {
    const { hashes } = logTreeQueries(db);
    // Processes share a read model, so the table alone knows the next number.
    const insertLeaf = db.prepare<[bigint, Buffer]>(
      `INSERT INTO log_leaves (number, position, hash) VALUES ((${SIZE}), ?, ?)`,
    );
    const insertSubtree = db.prepare('INSERT INTO log_subtrees VALUES (?, ?, ?)');
    const setRevision = db.prepare(
      'INSERT INTO log_streams VALUES (?, ?) ON CONFLICT DO UPDATE SET revision = excluded.revision',
    );
    return (event) => {
      setRevision.run(event.stream, event.revision);
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

/** What the tree knows of one event. */
export interface Leaf {
  readonly position: bigint;
  readonly hash: Buffer;
}

export interface LogTreeQueries {
  readonly hashes: TreeHashes;
  /** The index of the event at that position; undefined if there is none. */
  readonly indexAt: (position: bigint) => number | undefined;
  /** The position of the event with that index. */
  readonly positionOf: (index: number) => bigint | undefined;
  /** The position of the last event; 0n if there is none. */
  readonly head: () => bigint;
  readonly leafAt: (position: bigint) => Leaf | undefined;
  /** The leaves of events after a position, in the log's order. */
  readonly leavesAfter: (position: bigint, limit: number) => readonly Leaf[];
  /** The last revision of a stream; -1 if there is none. */
  readonly lastRevision: (stream: string) => number;
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
  const index = db
    .prepare<[bigint], number>('SELECT number FROM log_leaves WHERE position = ?')
    .pluck();
  const head = db
    .prepare<[], bigint>('SELECT coalesce(max(position), 0) FROM log_leaves')
    .pluck()
    .safeIntegers();
  const leafAt = db
    .prepare<[bigint], Leaf>('SELECT position, hash FROM log_leaves WHERE position = ?')
    .safeIntegers();
  const leavesAfter = db
    .prepare<[bigint, number], Leaf>(
      'SELECT position, hash FROM log_leaves WHERE position > ? ORDER BY position LIMIT +?',
    )
    .safeIntegers();
  const revision = db
    .prepare<[string], number>('SELECT revision FROM log_streams WHERE stream = ?')
    .pluck();
  return {
    hashes: {
      get size() {
        return size.get() ?? 0;
      },
      leaves: (from, to) => leaves.all(from, to),
      subtree: (level, number) => subtree.get(level, number),
    },
    indexAt: (at) => index.get(at),
    positionOf: (number) => position.get(number),
    head: () => head.get() ?? 0n,
    leafAt: (at) => leafAt.get(at),
    leavesAfter: (after, limit) => leavesAfter.all(after, limit),
    lastRevision: (stream) => revision.get(stream) ?? -1,
  };
}
