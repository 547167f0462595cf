/** A node's read model: one disposable SQLite database, whose generation may be replaced while in use. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import type { Logger } from 'pino';
import { BatchWriter, isDamage } from './batch-writer.ts';
import {
  currentGeneration,
  currentMark,
  exclusively,
  generationPath,
  makeCurrent,
  sweep,
} from './generations.ts';
import type { Projection } from './projection.ts';
import { FORMAT, formatOf, install, type LastEvent, lastEventOf } from './schema.ts';

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
  /** Whether it was made of the log that it is used with. */
  isOfThisLog: boolean;
}

/** The generation in use was damaged; an empty one has taken its place and catches up with the log. */
export class ReadModelDamaged extends Error {
  override readonly name = 'ReadModelDamaged';
}

/** A generation of which nobody knows yet whether it was made of this log. */
export interface Unproven {
  readonly last: LastEvent;
  /** The log holds that event, so it holds all that this generation was made of. */
  confirm(): void;
  /** It does not: an empty generation takes this one's place. */
  refuse(): void;
}

export interface ReadModelOptions {
  /** Holds the database's files and nothing else. */
  readonly directory: string;
  readonly projections: readonly Projection[];
  /** Told of generations that are made anew. */
  readonly logger?: Logger;
}

export class ReadModel implements ReadModelOptions {
  readonly directory: string;
  readonly projections: readonly Projection[];
  readonly #logger: Logger | undefined;
  readonly #listeners = new Set<() => void>();
  #opened: Opened;
  #checkedAt = performance.now();

  constructor(options: ReadModelOptions) {
    this.directory = options.directory;
    this.projections = options.projections;
    this.#logger = options.logger;
    exclusively(options.directory, () => sweep(options.directory));
    this.#opened = open(options);
  }

  /**
   * Prepared queries of a projection, made once per generation. Do not keep them over an `await`: ask
   * again, so that a replaced generation is noticed.
   * @throws {ReadModelDamaged} so do the queries themselves
   */
  query<Q>(factory: (db: Database) => Q): Q {
    if (performance.now() - this.#checkedAt > QUERY_CHECK_MS) this.refresh();
    const { db, queries } = this.#opened;
    const known = queries.get(factory);
    if (known !== undefined) return known as Q;
    const made = this.#mending(this.healing(() => factory(db)));
    queries.set(factory, made);
    return made;
  }

  /**
   * Everything up to this position is in what `query` reads until the next `await`; -1 as long as
   * nobody knows whether the generation in use was made of this log.
   */
  reached(): bigint {
    const { isOfThisLog, writer } = this.#opened;
    return isOfThisLog ? writer.reached() : -1n;
  }

  /** The generation in use, where it has yet to be looked for in the log. */
  unproven(): Unproven | undefined {
    const opened = this.#opened;
    if (opened.isOfThisLog) return undefined;
    const confirm = (): void => void (opened.isOfThisLog = true);
    const last = this.healing(() => lastEventOf(opened.db));
    if (last === undefined) {
      confirm();
      return undefined;
    }
    return { last, confirm, refuse: () => this.#replace(opened) };
  }

  /** Runs what reads or writes the generation in use. @throws {ReadModelDamaged} */
  healing<T>(work: () => T): T {
    const opened = this.#opened;
    try {
      return work();
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#logger?.warn({ err: error }, 'the read model is damaged and is made anew');
      this.#replace(opened);
      throw new ReadModelDamaged('The read model was damaged and is made anew.', { cause: error });
    }
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

  /** Calls `listener` when another generation was opened; returns how to end that. */
  onReopen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#opened.db.close();
  }

  /** A damaged page may be met by a query first, and would be met by it for ever. */
  #mending<Q>(made: Q): Q {
    if (typeof made === 'function') {
      return ((...args: unknown[]) => this.healing(() => made(...args) as unknown)) as Q;
    }
    if (!isRecord(made)) return made;
    const entries = Object.entries(made).map(([name, query]) => [name, this.#mending(query)]);
    return Object.fromEntries(entries) as Q;
  }

  /** Nothing, where the generation is in use no more. */
  #replace(opened: Opened): void {
    if (opened !== this.#opened) return;
    replace(this, opened.mark);
    this.#reopen();
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
        const writer = new BatchWriter(db, projections);
        return { db, mark, writer, queries: new Map(), isOfThisLog: false };
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

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

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
    db.pragma('cache_size = -8192');
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
