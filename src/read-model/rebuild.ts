/**
 * Builds a new generation of the read model from the log, beside whatever runs on the old one, and
 * puts it in the old one's place. Cut off at any point, it leaves the old one in use.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Sqlite, { type Database } from 'better-sqlite3';
import {
  EventDamaged,
  type EventStore,
  EventStoreUnavailable,
  LogDiffers,
} from '../event-store/port.ts';
import type { ReadModelOptions } from './database.ts';
import { Fold } from './fold.ts';
import {
  currentGeneration,
  exclusively,
  generationPath,
  isDamage,
  makeCurrent,
  removeDatabase,
  sweep,
} from './generations.ts';
import { addIndices, checkpointsOf, FORMAT, formatOf, install, SUPERSEDED } from './schema.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** The longest outage of the event store for which a build waits, and the pause between two tries. */
const OUTAGE_MS = 60_000;
const RETRY_MS = 500;

export interface RebuildProgress {
  /** The position that was reached, and that of the log's head at the beginning. */
  readonly position: bigint;
  readonly end: bigint;
  /** Events applied so far. */
  readonly done: number;
  /** Events there are; an estimate where the store's positions do not count events. */
  readonly total: number;
  /** Events applied a second, since the beginning. */
  readonly perSecond: number;
}

export interface RebuildResult {
  readonly events: number;
  readonly seconds: number;
}

export interface RebuildOptions {
  readonly readModel: ReadModelOptions;
  readonly store: EventStore;
  readonly onProgress?: (progress: RebuildProgress) => void;
  readonly signal?: AbortSignal;
  /** Events applied in one turn of the event loop. */
  readonly batch?: number;
}

/**
 * @throws {ProjectionFailed} a projection cannot take an event; the old generation stays in use
 * @throws {LogDiffers} the same
 */
export async function rebuildReadModel(options: RebuildOptions): Promise<RebuildResult> {
  const { directory, projections } = options.readModel;
  return await withBuilding(options, async (building, path) => {
    await readThrough(building, options.signal);
    const { db } = building.fold;
    addIndices(db, projections);
    makeDurable(db);
    do await building.readOn();
    while (!exclusively(directory, () => takeOver(directory, path, db)));
    return building.result();
  });
}

/** Reads to the end of the log. What was built by then outlasts an outage of the event store. */
async function readThrough(building: Building, signal?: AbortSignal): Promise<void> {
  for (let failedAt = 0, until = 0; ; ) {
    try {
      return await building.readOn();
    } catch (error) {
      const isAway = error instanceof EventStoreUnavailable && !isLasting(error);
      const { events } = building.fold;
      if (events > failedAt) until = performance.now() + OUTAGE_MS;
      failedAt = events;
      if (!isAway || performance.now() >= until) throw error;
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}

const isLasting = (error: EventStoreUnavailable): boolean =>
  error instanceof LogDiffers || error instanceof EventDamaged;

/** Makes an empty generation that nobody else sees, and deletes it afterwards unless it was put into use. */
export async function withBuilding<T>(
  options: RebuildOptions,
  use: (building: Building, path: string) => Promise<T>,
): Promise<T> {
  const { directory, projections, guardOf } = options.readModel;
  const path = join(directory, `build-${randomUUID()}.db`);
  const db = exclusively(directory, () => {
    sweep(directory);
    return openForBuilding(path);
  });
  try {
    install(db, projections, { indices: false });
    return await use(buildingOf(options, new Fold(db, projections, guardOf)), path);
  } finally {
    db.close();
    removeDatabase(path);
  }
}

/** Nothing is synced or journalled while it is built: what is cut off is thrown away. */
function openForBuilding(path: string): Database {
  const db = new Sqlite(path);
  db.pragma('locking_mode = EXCLUSIVE');
  // SQLite keeps its journal otherwise: without one, a failed transaction leaves a damaged file.
  db.unsafeMode(true);
  db.pragma('journal_mode = OFF');
  db.unsafeMode(false);
  db.pragma('synchronous = OFF');
  db.pragma('cache_size = -131072');
  // Exclusive mode keeps the lock from now on. The lock tells others that this file is not abandoned.
  db.exec('BEGIN EXCLUSIVE; COMMIT');
  return db;
}

/** A generation that is built from the log. */
export interface Building {
  readonly fold: Fold;
  /** Applies what the log holds now. @param upTo the position of the last event to apply; default: all */
  readOn(upTo?: bigint): Promise<void>;
  result(): RebuildResult;
}

function buildingOf({ store, signal, batch, onProgress }: RebuildOptions, fold: Fold): Building {
  const startedAt = performance.now();
  const result = () => ({ events: fold.events, seconds: (performance.now() - startedAt) / 1000 });
  const report = (position: bigint, end: bigint): void => {
    const share = end > position ? Number(position) / Number(end) : 1;
    const { events: done, seconds } = result();
    const total = Math.round(done / share);
    onProgress?.({ position, end, done, total, perSecond: done / seconds });
  };
  return {
    fold,
    result,
    async readOn(upTo) {
      const end = upTo ?? (await store.head());
      const told = (position: bigint): void => report(position, end);
      await fold.readOn(store, { upTo, signal, batch, onProgress: told });
    },
  };
}

/**
 * Under the lock and in one turn of the event loop: false where the old generation has got further
 * meanwhile. Nobody writes to the old one while this looks, and nobody does once it is superseded.
 */
function takeOver(directory: string, path: string, db: Database): boolean {
  const old = openCurrent(directory);
  try {
    if (old !== undefined && furthest(old) > furthest(db)) return false;
    finish(db);
    makeCurrent(directory, path);
    if (old !== undefined) {
      old.pragma(`user_version = ${SUPERSEDED}`);
      old.exec('COMMIT');
    }
  } finally {
    old?.close();
  }
  sweep(directory);
  return true;
}

/** The generation in use with its write lock taken, if there is one that can be read. */
function openCurrent(directory: string): Database | undefined {
  const path = generationPath(directory, currentGeneration(directory));
  let db: Database | undefined;
  try {
    db = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
    db.exec('BEGIN IMMEDIATE');
    if (formatOf(db) === FORMAT) return db;
    db.close();
    return undefined;
  } catch (error) {
    db?.close();
    const missing = error instanceof Sqlite.SqliteError && error.code === 'SQLITE_CANTOPEN';
    if (missing || isDamage(error)) return undefined;
    throw error;
  }
}

/** Any projection's: one that was just added holds the others' readers to nothing. */
function furthest(db: Database): bigint {
  return checkpointsOf(db)().reduce(
    (most, { position }) => (position > most ? position : most),
    0n,
  );
}

/** Syncs what was written so far, before others are kept waiting. */
function makeDurable(db: Database): void {
  db.pragma('synchronous = FULL');
  db.pragma(`user_version = ${FORMAT}`);
}

/** Leaves the file as the service opens it. */
function finish(db: Database): void {
  db.pragma('locking_mode = NORMAL');
  db.pragma('journal_mode = WAL');
  db.close();
}
