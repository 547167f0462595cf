/** Tables folded from a part of the log to answer a question. They are not kept. */
import Sqlite, { type Database } from 'better-sqlite3';
import type { RecordedEvent } from '../event-store/port.ts';
import { BatchWriter } from './batch-writer.ts';
import type { Projection } from './projection.ts';
import { install } from './schema.ts';

/** `memory`, or `disk`: a temporary file that SQLite itself deletes, also where the process is killed. */
export type FoldPlace = 'memory' | 'disk';

const CACHE_KIB = 64 * 1024;

export class Fold {
  readonly #db: Database;
  readonly #projections: readonly Projection[];
  readonly #writer: BatchWriter;

  constructor(projections: readonly Projection[], place: FoldPlace) {
    this.#db = new Sqlite(place === 'memory' ? ':memory:' : '');
    this.#db.pragma('journal_mode = OFF');
    this.#db.pragma(`cache_size = -${CACHE_KIB}`);
    install(this.#db, projections);
    this.#writer = new BatchWriter(this.#db, projections);
    this.#projections = projections;
  }

  /** The types of events that change its tables. */
  types(): readonly string[] {
    return this.#projections.flatMap((each) => Object.keys(each.handlers(this.#db)));
  }

  /**
   * @param events in log order, after those applied before
   * @throws {ProjectionFailed}
   */
  apply(events: readonly RecordedEvent[]): void {
    this.#writer.apply(this.#writer.reached(), events);
  }

  /** The position of the last event applied; 0 before the first. */
  reached(): bigint {
    return this.#writer.reached();
  }

  query<Q>(factory: (db: Database) => Q): Q {
    return factory(this.#db);
  }

  close(): void {
    this.#db.close();
  }
}
