/** A node's read model: one disposable SQLite database, whose generation may be replaced while in use. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { BatchWriter } from './batch-writer.ts';
import {
  currentGeneration,
  currentMark,
  exclusively,
  generationPath,
  makeCurrent,
  sweep,
} from './generations.ts';
import type { Projection } from './projection.ts';
import { FORMAT, formatOf, install } from './schema.ts';

const BUSY_TIMEOUT_MS = 5_000;
/** How long queries may go on reading a generation that another process has replaced. */
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
}

export class ReadModel implements ReadModelOptions {
  readonly directory: string;
  readonly projections: readonly Projection[];
  readonly #listeners = new Set<() => void>();
  #opened: Opened;
  #checkedAt = performance.now();

  constructor(options: ReadModelOptions) {
    this.directory = options.directory;
    this.projections = options.projections;
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

  /** Everything up to this position is in what `query` reads until the next `await`. */
  reached(): bigint {
    return this.#opened.writer.reached();
  }

  /** What applies events to the generation in use now. */
  writer(): BatchWriter {
    this.refresh();
    return this.#opened.writer;
  }

  /** Goes over to the generation in use; makes an empty one where it was deleted. */
  refresh(): void {
    this.#checkedAt = performance.now();
    if (currentMark(this.directory) !== this.#opened.mark) this.#reopen();
  }

  /** Starts an empty generation in the place of a damaged one. */
  replaceDamaged(): void {
    replace(this, this.#opened.mark);
    this.#reopen();
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
    this.#opened = open(this);
    old.db.close();
    for (const listener of this.#listeners) listener();
  }
}

/** Opens the generation in use; makes an empty one where it is missing, damaged or of another format. */
export function openReadModel(options: ReadModelOptions): ReadModel {
  return new ReadModel(options);
}

function open(options: ReadModelOptions): Opened {
  const { directory, projections } = options;
  for (let attempt = 1; ; attempt += 1) {
    const mark = currentMark(directory);
    try {
      const generation = currentGeneration(directory);
      if (generation === 0) throw new UnusableGeneration(`${directory} holds no read model.`);
      const db = openGeneration(generationPath(directory, generation));
      try {
        install(db, projections);
        return { db, mark, writer: new BatchWriter(db, projections), queries: new Map() };
      } catch (error) {
        db.close();
        throw error;
      }
    } catch (error) {
      if (!isUnusable(error) || attempt >= MAX_OPEN_ATTEMPTS) throw error;
      replace(options, mark);
    }
  }
}

class UnusableGeneration extends Error {
  override readonly name = 'UnusableGeneration';
}

function openGeneration(path: string): Database {
  const db = new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
  try {
    if (formatOf(db) !== FORMAT) throw new UnusableGeneration(`${path} is not of this format.`);
    db.pragma('journal_mode = WAL');
    // After a power failure the newest commits may be gone: rows and checkpoints alike.
    db.pragma('synchronous = NORMAL');
    db.pragma('cache_size = -32768');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Missing, damaged or made by another release: the log has it all, so it is made anew. */
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
