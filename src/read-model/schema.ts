/** What every generation of the read model holds beside the projections' tables: their checkpoints. */
import type { Database } from 'better-sqlite3';
import type { Projection } from './projection.ts';

/** `user_version` of a generation; counted up when this file's tables change. */
export const FORMAT = 1;
/** `user_version` of a generation that another has taken the place of: nothing is written to it. */
export const SUPERSEDED = 0x7fffffff;

const DDL = `
CREATE TABLE IF NOT EXISTS checkpoints (
  projection TEXT PRIMARY KEY,
  definition TEXT NOT NULL,
  position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

export interface Checkpoint {
  readonly projection: string;
  readonly definition: string;
  readonly position: bigint;
}

/** What a projection's tables were made by: when it changes, they are made anew. */
export function definitionOf({ version, ddl }: Projection): string {
  return `${version}\n${ddl}`;
}

export function checkpointsOf(db: Database): () => readonly Checkpoint[] {
  const select = db
    .prepare<[], Checkpoint>('SELECT projection, definition, position FROM checkpoints')
    .safeIntegers();
  return () => select.all();
}

export function formatOf(db: Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** Makes the tables of each projection that is new or was made by another definition; the rest stand. */
export function install(db: Database, projections: readonly Projection[]): void {
  const installing = db.transaction(() => {
    db.exec(DDL);
    db.pragma(`user_version = ${FORMAT}`);
    const forget = db.prepare('DELETE FROM checkpoints WHERE projection = ?');
    const begin = db.prepare('INSERT INTO checkpoints VALUES (?, ?, 0)');
    for (const projection of changed(db, projections)) {
      for (const table of projection.tables) db.exec(`DROP TABLE IF EXISTS ${table}`);
      db.exec(projection.ddl);
      forget.run(projection.name);
      begin.run(projection.name, definitionOf(projection));
    }
  });
  if (formatOf(db) !== FORMAT || changed(db, projections).length > 0) installing.immediate();
}

function changed(db: Database, projections: readonly Projection[]): readonly Projection[] {
  const made = new Map(checkpointsOf(db)().map((each) => [each.projection, each.definition]));
  return projections.filter((each) => made.get(each.name) !== definitionOf(each));
}
