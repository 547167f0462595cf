/**
 * Compares the schema of `pressledger.db` with what the service itself makes. A trigger on any of its tables
 * could add events while others are written, and they would be signed; other tables and columns hold what the
 * log does not show. The texts of older stores are the same: test/e2e/upgrades.test.ts opens them.
 */
import { isDeepStrictEqual } from 'node:util';
import Sqlite, { type Database } from 'better-sqlite3';
import { createBlobTable } from '../documents/embedded.ts';
import { type Barrier, ForeignSchema, type SchemaFault } from '../event-store/port.ts';
import { createEventTables, readBarrier, writeBarrier } from '../event-store/sqlite/append.ts';
import { plainText } from '../text/plain-text.ts';

interface SchemaObject {
  readonly type: string;
  readonly name: string;
  readonly tbl_name: string;
  readonly sql: string | null;
}

/** The schema that was found right last, as text: services that share the file look again after each commit of another. */
let known = '';

/** The first difference; none in a database that nothing was made in yet. */
export function schemaFault(db: Database): SchemaFault | undefined {
  const found = objectsOf(db);
  if (found.length === 0) return undefined;
  const barrier = barrierOf(db);
  const text = JSON.stringify([found, barrier?.kind]);
  if (text === known) return undefined;
  const fault = differenceOf(found, madeByService(found, barrier));
  if (fault === undefined) known = text;
  return fault;
}

function differenceOf(
  found: readonly SchemaObject[],
  expected: readonly SchemaObject[],
): SchemaFault | undefined {
  const isIn = (objects: readonly SchemaObject[], { type, name }: SchemaObject): boolean =>
    objects.some((each) => each.type === type && each.name === name);
  const foreign = found.find((each) => !isIn(expected, each));
  if (foreign !== undefined) {
    const on = foreign.type === 'trigger' ? ` on ${plainText(foreign.tbl_name)}` : '';
    return faultAt(foreign, 'only what the service makes', `one${on} that it does not make`);
  }
  const missing = expected.find((each) => !isIn(found, each));
  if (missing !== undefined) return faultAt(missing, 'it, as the service makes it', 'none');
  const changed = found.find((each) => !expected.some((own) => isDeepStrictEqual(own, each)));
  if (changed === undefined) return undefined;
  const definition = plainText(changed.sql ?? 'none');
  return faultAt(changed, 'it, as the service makes it', `another definition: ${definition}`);
}

const faultAt = ({ type, name }: SchemaObject, expected: string, found: string): SchemaFault => ({
  schema: { object: plainText(`${type} ${name}`), expected },
  found,
});

/** @throws {ForeignSchema} one line: the schema is not the service's own, and what to do */
export function refuseForeignSchema(db: Database): void {
  const fault = schemaFault(db);
  if (fault === undefined) return;
  const { schema, found } = fault;
  throw new ForeignSchema(
    `The schema of ${db.name} was changed past the service, at the ${schema.object}: expected ${schema.expected}, found ${found}. ` +
      'Find out who did it; then restore a backup, or put the schema right with sqlite3 and run `pressledger verify`.',
    fault,
  );
}

const objectsOf = (db: Database): readonly SchemaObject[] =>
  db.prepare<[], SchemaObject>('SELECT type, name, tbl_name, sql FROM sqlite_schema').all();

/** Makes it in memory, with the parts that not every store has where this one has them. */
function madeByService(
  found: readonly SchemaObject[],
  barrier: Barrier | undefined,
): readonly SchemaObject[] {
  const own = new Sqlite(':memory:');
  try {
    const made = { define: (ddl: string): unknown => own.exec(ddl) };
    createEventTables(made);
    // Documents in S3, NATS or a folder need no table.
    if (found.some(({ name }) => name === 'blobs')) createBlobTable(made);
    writeBarrier(own, barrier);
    return objectsOf(own);
  } finally {
    own.close();
  }
}

/** Returns undefined if the table is not the service's own: the comparison then names it. */
function barrierOf(db: Database): Barrier | undefined {
  try {
    return readBarrier(db);
  } catch {
    return undefined;
  }
}
