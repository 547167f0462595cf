/**
 * The tables of every generation of the read model beside the projections' own: their checkpoints, and
 * the last event it was made of, by which it is known whether it was made of the log it is used with.
 */
import type { Database } from 'better-sqlite3';
import type { RecordedEvent } from '../event-store/port.ts';
import type { Projection } from './projection.ts';

/** `user_version` of a generation; counted up when this file's tables change. */
export const FORMAT = 2;
/** `user_version` of a generation that another has taken the place of: nothing is written to it. */
export const SUPERSEDED = 0x7fffffff;

const DDL = `
CREATE TABLE IF NOT EXISTS checkpoints (
  projection TEXT PRIMARY KEY,
  definition TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS last_event (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  position INTEGER NOT NULL,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL
) STRICT;`;

/** The place of an event, and its id. */
export type LastEvent = Pick<RecordedEvent, 'position' | 'stream' | 'revision' | 'id'>;

export interface Checkpoint {
  readonly projection: string;
  readonly definition: string;
  readonly position: bigint;
}

/** The definition that a projection's tables were made by: when it changes, they are rebuilt. */
export function definitionOf({ version, ddl, indices = '' }: Projection): string {
  return `${version}\n${ddl}${indices}`;
}

export function checkpointsOf(db: Database): () => readonly Checkpoint[] {
  const select = db
    .prepare<[], Checkpoint>('SELECT projection, definition, position FROM checkpoints')
    .safeIntegers();
  return () => select.all();
}

/** The furthest event that any projection holds; absent in an empty generation. */
export function lastEventOf(db: Database): LastEvent | undefined {
  const row = db
    .prepare<[], Omit<LastEvent, 'revision'> & { revision: bigint }>(
      'SELECT position, stream, revision, id FROM last_event',
    )
    .safeIntegers()
    .get();
  return row && { ...row, revision: Number(row.revision) };
}

export function formatOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/**
 * Makes the tables of each projection that is new or was made by another definition; the rest stand.
 * @param options `indices`: false leaves out those that wait for `addIndices`
 */
export function install(
  db: Database,
  projections: readonly Projection[],
  { indices } = { indices: true },
): void {
  const installing = db.transaction(() => {
    db.exec(DDL);
    db.pragma(`user_version = ${FORMAT}`);
    const forget = db.prepare('DELETE FROM checkpoints WHERE projection = ?');
    const begin = db.prepare('INSERT INTO checkpoints VALUES (?, ?, 0)');
    for (const projection of changed(db, projections)) {
      for (const table of projection.tables) db.exec(`DROP TABLE IF EXISTS ${table}`);
      db.exec(projection.ddl);
      if (indices) db.exec(projection.indices ?? '');
      forget.run(projection.name);
      begin.run(projection.name, definitionOf(projection));
    }
  });
  if (formatOf(db) !== FORMAT || changed(db, projections).length > 0) installing.immediate();
}

/** Adds what `install` has left out. */
export function addIndices(db: Database, projections: readonly Projection[]): void {
  for (const { indices = '' } of projections) db.exec(indices);
}

function changed(db: Database, projections: readonly Projection[]): readonly Projection[] {
  const made = new Map(checkpointsOf(db)().map((each) => [each.projection, each.definition]));
  return projections.filter((each) => made.get(each.name) !== definitionOf(each));
}
