/**
 * Compares the read model in use with what the log and the projections at hand give. It only reads the
 * one in use, beside a service that goes on writing to it.
 */
import Sqlite, { type Database } from 'better-sqlite3';
import { compareTable, isEqual, type TableComparison } from './comparison.ts';
import type { ReadModelOptions } from './database.ts';
import { currentGeneration, exclusively, generationPath, isDamage } from './generations.ts';
import { placeOf } from './last-event.ts';
import type { Projection } from './projection.ts';
import { type Building, type RebuildOptions, type RebuildResult, withBuilding } from './rebuild.ts';
import { checkpointsOf, definitionOf, FORMAT, formatOf, lastEventOf } from './schema.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** Events that a lag is counted up to. */
export const MOST_LAG = 10_000;

export interface ProjectionState {
  readonly name: string;
  /** `added`: the read model in use lacks it. `removed`: it alone has it. */
  readonly definition: 'same' | 'changed' | 'added' | 'removed';
  /** Its version among the projections at hand; absent where it is removed. */
  readonly version: number | undefined;
  /** Its version in the read model in use; absent where it is added. */
  readonly liveVersion: number | undefined;
  /** The position that it has reached. */
  readonly position: bigint;
  /** Its tables, those of the read model in use included. */
  readonly tables: readonly string[];
}

export interface ListedProjection extends ProjectionState {
  /** Rows of each table of the read model in use. */
  readonly rows: Readonly<Record<string, number>>;
  /** Events of the log that it does not hold yet, up to `MOST_LAG`. */
  readonly lag: number;
}

export interface ComparedProjection extends ProjectionState {
  /** Empty where it is added or removed. */
  readonly comparisons: readonly TableComparison[];
}

export interface Verification extends RebuildResult {
  readonly projections: readonly ComparedProjection[];
}

export interface VerificationOptions extends RebuildOptions {
  /** Differences of each table that are kept; all are counted. */
  readonly most: number;
  /** Refuses if the read model in use was made by other projections. */
  readonly mustBeSame: boolean;
  readonly onTable?: (table: string) => void;
}

/** @throws {Error} one line: there is no read model that this release can read */
export async function listProjections({
  readModel,
  store,
}: Pick<RebuildOptions, 'readModel' | 'store'>): Promise<readonly ListedProjection[]> {
  return await withLive(readModel, async (live) => {
    const lags = new Map<bigint, number>();
    const listed: ListedProjection[] = [];
    for (const state of statesOf(live, readModel.projections)) {
      const { position: after, tables } = state;
      const lag = lags.get(after) ?? (await store.readAll({ after, limit: MOST_LAG })).length;
      lags.set(after, lag);
      const rows = tables.flatMap((table) => {
        const count = countOf(live, table);
        return count === undefined ? [] : [[table, count] as const];
      });
      listed.push({ ...state, rows: Object.fromEntries(rows), lag });
    }
    return listed;
  });
}

/**
 * Compares each projection at the position that it has reached, table by table.
 * @throws {Error} one line: what stands in the way of a comparison, and the remedy
 */
export async function compareWithLog(options: VerificationOptions): Promise<Verification> {
  const { readModel, store, mustBeSame } = options;
  const begin = await withLive(readModel, async (live) => {
    if ((await placeOf(store, lastEventOf(live))) === 'another') {
      throw new Error(
        'The log was moved here after the read model was made; the next start of the service rebuilds it.',
      );
    }
    const states = statesOf(live, readModel.projections);
    if (mustBeSame) assertSame(states);
    return states.find(isInBoth)?.position ?? 0n;
  });
  return await withBuilding(options, async (building) => {
    // The long part comes before the transaction, which keeps the write-ahead log from being emptied.
    await building.readOn(begin);
    return await withLive(readModel, async (live) => {
      const projections = await compareAll(options, building, live);
      return { projections, ...building.result() };
    });
  });
}

/** True if the two sides are not equal in it. */
export const differs = (compared: ComparedProjection): boolean =>
  !isInBoth(compared) || !compared.comparisons.every(isEqual);

const isInBoth = ({ definition }: ProjectionState): boolean =>
  definition === 'same' || definition === 'changed';

async function compareAll(
  { readModel, most, onTable }: VerificationOptions,
  building: Building,
  live: Database,
): Promise<ComparedProjection[]> {
  const compared: ComparedProjection[] = [];
  for (const state of statesOf(live, readModel.projections)) {
    if (!isInBoth(state)) {
      compared.push({ ...state, comparisons: [] });
      continue;
    }
    await building.readOn(state.position);
    if (building.fold.reached() !== state.position) {
      throw new Error('The read model was rebuilt meanwhile; try again when it has caught up.');
    }
    const comparisons = state.tables.map((table) => {
      onTable?.(table);
      return compareTable(table, live, building.fold.db, most);
    });
    compared.push({ ...state, comparisons });
  }
  return compared;
}

/** The projections at hand and those of the read model in use, the furthest behind first. */
function statesOf(live: Database, projections: readonly Projection[]): readonly ProjectionState[] {
  const made = new Map(checkpointsOf(live)().map((each) => [each.projection, each]));
  const known = new Set(projections.map(({ name }) => name));
  const states = projections.map((projection): ProjectionState => {
    const { name, version, tables } = projection;
    const checkpoint = made.get(name);
    if (checkpoint === undefined) {
      return { name, definition: 'added', version, liveVersion: undefined, position: 0n, tables };
    }
    const { definition, position } = checkpoint;
    const all = new Set([...tables, ...tablesOf(definition)]);
    return {
      name,
      definition: definition === definitionOf(projection) ? 'same' : 'changed',
      version,
      liveVersion: Number.parseInt(definition, 10),
      position,
      tables: [...all],
    };
  });
  for (const { projection: name, definition, position } of made.values()) {
    if (known.has(name)) continue;
    const [liveVersion, tables] = [Number.parseInt(definition, 10), tablesOf(definition)];
    states.push({ name, definition: 'removed', version: undefined, liveVersion, position, tables });
  }
  return states.toSorted((a, b) => Number(a.position - b.position));
}

const tablesOf = (definition: string): readonly string[] =>
  [...definition.matchAll(/CREATE TABLE (\w+)/g)].flatMap(([, table]) => table ?? []);

function assertSame(states: readonly ProjectionState[]): void {
  const others = states.filter(
    ({ definition }) => definition === 'changed' || definition === 'added',
  );
  if (others.length === 0) return;
  throw new Error(
    `The read model in use was made by another definition of ${others.map(({ name }) => name).join(', ')}; ` +
      "compare with 'pressledger projections diff', or run the release of the service.",
  );
}

function countOf(db: Database, table: string): number | undefined {
  const exists = db.prepare('SELECT 1 FROM pragma_table_info(?)').get(table) !== undefined;
  if (!exists) return undefined;
  return db.prepare<[], number>(`SELECT count(*) FROM "${table}"`).pluck().get();
}

/**
 * Opens the generation in use as it is at this moment: what others commit meanwhile is not seen.
 * @throws {Error} one line: there is none, or it cannot be read, and the remedy
 */
async function withLive<T>(
  { directory }: ReadModelOptions,
  use: (live: Database) => Promise<T>,
): Promise<T> {
  const live = openLive(directory);
  try {
    live.exec('BEGIN');
    if (formatOf(live) !== FORMAT) {
      throw new Error('The read model in use was made by a release that keeps it in another form.');
    }
    return await use(live);
  } catch (error) {
    if (!isDamage(error)) throw error;
    throw new Error(DAMAGED, { cause: error });
  } finally {
    live.close();
  }
}

const DAMAGED = 'The read model in use is damaged; the next start of the service rebuilds it.';

function openLive(directory: string): Database {
  // Under the lock, nobody replaces it between the look at its name and its opening.
  return exclusively(directory, () => {
    const generation = currentGeneration(directory);
    if (generation === 0) {
      throw new Error(`There is no read model in ${directory}; a start of the service makes one.`);
    }
    try {
      const path = generationPath(directory, generation);
      return new Sqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    } catch (error) {
      throw new Error(DAMAGED, { cause: error });
    }
  });
}
