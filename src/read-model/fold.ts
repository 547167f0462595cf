/** Tables that are folded from the log: a new generation of the read model, or what answers a question and is not kept. */
import { setImmediate } from 'node:timers/promises';
import Sqlite, { type Database } from 'better-sqlite3';
import { findNext } from '../event-store/look-again.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { BatchWriter, type TableGuard } from './batch-writer.ts';
import type { Projection } from './projection.ts';
import { install } from './schema.ts';

/** Events read and applied at once, unless asked otherwise: one transaction. */
const BATCH = 5_000;
const CACHE_KIB = 64 * 1024;

export interface FoldOptions {
  /** The position of the last event to read; default: all that the log holds. */
  readonly upTo?: bigint | undefined;
  /** Says whether to apply an event; asked of each, in the order of the log. */
  readonly belongs?: (event: RecordedEvent) => boolean;
  readonly signal?: AbortSignal | undefined;
  /** Events read and applied at once. */
  readonly batch?: number | undefined;
  /** @param position of the last event read @param events that were read so far, by all calls */
  readonly onProgress?: (position: bigint, events: number) => void;
}

export class Fold {
  readonly db: Database;
  readonly #projections: readonly Projection[];
  readonly #writer: BatchWriter;
  #position = 0n;
  #events = 0;

  /** @param db an empty database, where the tables were installed and which the caller closes */
  constructor(
    db: Database,
    projections: readonly Projection[],
    guardOf?: (db: Database) => TableGuard,
  ) {
    this.db = db;
    this.#projections = projections;
    this.#writer = new BatchWriter(db, projections, guardOf?.(db));
  }

  /** @param place `disk`: a temporary file that SQLite itself deletes, also where the process is killed */
  static temporary(projections: readonly Projection[], place: 'memory' | 'disk'): Fold {
    const db = new Sqlite(place === 'memory' ? ':memory:' : '');
    db.pragma('journal_mode = OFF');
    db.pragma(`cache_size = -${CACHE_KIB}`);
    install(db, projections);
    return new Fold(db, projections);
  }

  /** The types of events that change its tables. */
  types(): readonly string[] {
    return this.#projections.flatMap((each) => Object.keys(each.handlers(this.db)));
  }

  /**
   * Reads on in the log from where the call before has ended.
   * @throws {ProjectionFailed} @throws {LogDiffers}
   */
  async readOn(
    store: Pick<EventStore, 'readAll'>,
    { upTo, belongs, signal, batch = BATCH, onProgress }: FoldOptions = {},
  ): Promise<void> {
    for (;;) {
      if (upTo !== undefined && this.#position >= upTo) return;
      signal?.throwIfAborted();
      const read = await store.readAll({ after: this.#position, limit: batch });
      const events = upTo === undefined ? read : read.filter(({ position }) => position <= upTo);
      const last = events.at(-1);
      if (last !== undefined) {
        this.apply(belongs === undefined ? events : events.filter(belongs));
        this.#position = last.position;
        this.#events += events.length;
        onProgress?.(last.position, this.#events);
      }
      // The end, for now; in one turn of the event loop nothing is added before a take-over.
      if (events.length < batch && !(upTo === undefined && (await this.#goesOn(store)))) break;
      await setImmediate();
    }
    if (upTo === undefined) this.#writer.guard?.checkEnd();
  }

  /** A member of a cluster may lack for a moment what was signed. */
  async #goesOn(store: Pick<EventStore, 'readAll'>): Promise<boolean> {
    if (this.#writer.guard?.isBehind() !== true) return false;
    return (await findNext(store, this.#position)) !== undefined;
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

  /** Events that were read by `readOn`. */
  get events(): number {
    return this.#events;
  }

  query<Q>(factory: (db: Database) => Q): Q {
    return factory(this.db);
  }

  close(): void {
    this.db.close();
  }
}
