/**
 * A node's read model: one disposable SQLite database. Damage that is met ends the process, and the next opening
 * rebuilds it. A rebuild may replace its generation in use.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import Sqlite, { type Database } from 'better-sqlite3';
import type { Logger } from 'pino';
import { errorMessage } from '../errors/error-message.ts';
import type { EventStore } from '../event-store/port.ts';
import { BatchWriter, type TableGuard } from './batch-writer.ts';
import {
  currentGeneration,
  currentMark,
  exclusively,
  generationPath,
  makeCurrent,
  sweep,
} from './generations.ts';
import type { Projection } from './projection.ts';
import { placeOf } from './last-event.ts';
import { FORMAT, formatOf, install, type LastEvent, lastEventOf } from './schema.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** The longest time that queries read a generation that another process has replaced. */
const QUERY_CHECK_MS = 100;
/** Two processes that replace each other's generations for ever would be a fault of ours. */
const MAX_OPEN_ATTEMPTS = 5;

interface Opened {
  readonly db: Database;
  readonly mark: string;
  readonly writer: BatchWriter;
  readonly queries: Map<unknown, unknown>;
}

export interface ReadModelOptions {
  /** Holds the database's files and nothing else. */
  readonly directory: string;
  readonly projections: readonly Projection[];
  /** Makes what holds each generation against what is known of the log. */
  readonly guardOf?: ((db: Database) => TableGuard) | undefined;
  /** Logs that a generation is rebuilt. */
  readonly logger?: Logger;
}

export class ReadModel implements ReadModelOptions {
  readonly directory: string;
  readonly projections: readonly Projection[];
  readonly guardOf: ReadModelOptions['guardOf'];
  readonly #options: ReadModelOptions;
  readonly #listeners = new Set<() => void>();
  #opened: Opened;
  #checkedAt = performance.now();

  constructor(options: ReadModelOptions) {
    this.directory = options.directory;
    this.projections = options.projections;
    this.guardOf = options.guardOf;
    this.#options = options;
    exclusively(options.directory, () => sweep(options.directory));
    this.#opened = open(options);
  }

  /**
   * Prepared queries of a projection, made once per generation. Do not keep them over an `await`: ask
   * again, so that a replaced generation is noticed.
   */
  query<Q>(factory: (db: Database) => Q): Q {
    if (performance.now() - this.#checkedAt > QUERY_CHECK_MS) this.refresh();
    const { db, queries } = this.#opened;
    const known = queries.get(factory);
    if (known !== undefined) return known as Q;
    const made = factory(db);
    queries.set(factory, made);
    return made;
  }

  /** Everything up to this position is in the results of `query` until the next `await`. */
  reached(): bigint {
    return this.#opened.writer.reached();
  }

  /** The last event of the generation in use; absent in an empty one. */
  lastEvent(): LastEvent | undefined {
    return lastEventOf(this.#opened.db);
  }

  /** Puts an empty generation in the place of the one in use. */
  startAnew(): void {
    replace(this.#options, this.#opened.mark);
    this.#reopen();
  }

  /**
   * Resolves once a process of its own has read every page of the generation in use, beside all other work. A damaged
   * one gives way to an empty one.
   * @throws {Error} it could not be read, or was aborted
   */
  async checkPages(signal: AbortSignal): Promise<void> {
    const { db, mark } = this.#opened;
    const reason = await findDamage(db.name, signal);
    if (reason === 'ok' || mark !== currentMark(this.directory)) return;
    this.#options.logger?.warn({ reason }, 'the read model is damaged and is rebuilt');
    this.startAnew();
  }

  /** Applies events to the generation in use now. */
  writer(): BatchWriter {
    this.refresh();
    return this.#opened.writer;
  }

  /** Goes over to the generation in use; makes an empty one where it was deleted. */
  refresh(): void {
    this.#checkedAt = performance.now();
    if (currentMark(this.directory) !== this.#opened.mark) this.#reopen();
  }

  /** Calls `listener` when another generation was opened; returns how to end that. */
  onReopen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#opened.db.close();
  }

  #reopen(): void {
    const old = this.#opened;
    this.#opened = open(this.#options);
    old.db.close();
    for (const listener of this.#listeners) listener();
  }
}

/**
 * Opens the generation in use. One whose log was moved to another store is replaced by an empty one.
 * @throws {LogDiffers} the log lacks the last event that the read model was made of
 * @throws {EventStoreUnavailable}
 */
export async function openReadModel(
  options: ReadModelOptions,
  store: Pick<EventStore, 'readStream'>,
): Promise<ReadModel> {
  const readModel = new ReadModel(options);
  try {
    const last = readModel.lastEvent();
    if ((await placeOf(store, last)) === 'another') {
      const position = last?.position;
      options.logger?.warn({ position }, 'the log was moved, and the read model is rebuilt');
      readModel.startAnew();
    }
    return readModel;
  } catch (error) {
    readModel.close();
    throw error;
  }
}

function open(options: ReadModelOptions): Opened {
  const { directory, projections, guardOf } = options;
  for (let attempt = 1; ; attempt += 1) {
    const mark = currentMark(directory);
    try {
      const generation = currentGeneration(directory);
      if (generation === 0) throw new MissingGeneration(`${directory} holds no read model.`);
      const path = generationPath(directory, generation);
      const db = openGeneration(path);
      try {
        install(db, projections);
        const writer = new BatchWriter(db, projections, guardOf?.(db));
        writer.guard?.check();
        // Read by each start: damage there would end all of them.
        lastEventOf(db);
        return { db, mark, writer, queries: new Map() };
      } catch (error) {
        db.close();
        throw error;
      }
    } catch (error) {
      if (!isUnusable(error) || attempt >= MAX_OPEN_ATTEMPTS) throw error;
      // A new data directory has none: that is not worth a warning.
      const level = error instanceof MissingGeneration ? 'debug' : 'info';
      options.logger?.[level]({ reason: errorMessage(error) }, 'the read model is rebuilt');
      replace(options, mark);
    }
  }
}

class UnusableGeneration extends Error {
  override readonly name: string = 'UnusableGeneration';
}

class MissingGeneration extends UnusableGeneration {
  override readonly name = 'MissingGeneration';
}

function openGeneration(path: string): Database {
  const db = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    if (formatOf(db) !== FORMAT) throw new UnusableGeneration(`${path} is not of this format.`);
    db.pragma('journal_mode = WAL');
    // After a power failure the newest commits may be gone: rows and checkpoints alike.
    db.pragma('synchronous = NORMAL');
    db.pragma('cache_size = -8192');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** The check's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const PAGE_CHECK = join(import.meta.dirname, `page-check${extname(import.meta.filename)}`);

/** It takes some seconds for the read model of a million conversions, and nobody waits for it. */
async function findDamage(path: string, signal: AbortSignal): Promise<string> {
  const args = [PAGE_CHECK, path];
  return (await promisify(execFile)(process.execPath, args, { signal, env: {} })).stdout;
}

/** Missing, damaged or made by another release: the log has it all, so it is rebuilt. */
function isUnusable(error: unknown): boolean {
  if (error instanceof UnusableGeneration) return true;
  return (
    error instanceof Sqlite.SqliteError &&
    /^SQLITE_(CANTOPEN|CORRUPT|NOTADB|ERROR)/.test(error.code)
  );
}

/** Puts an empty generation in the place of the one that `mark` stands for, unless somebody else has. */
function replace({ directory, projections }: ReadModelOptions, mark: string): void {
  exclusively(directory, () => {
    if (currentMark(directory) !== mark) return;
    const draft = join(directory, `build-${randomUUID()}.db`);
    const db = new Sqlite(draft);
    try {
      db.pragma('journal_mode = WAL');
      install(db, projections);
    } finally {
      db.close();
    }
    makeCurrent(directory, draft);
    sweep(directory);
  });
}
