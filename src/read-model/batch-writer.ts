/** Applies batches of events to one generation: rows and checkpoints in one transaction. */
import Sqlite, { type Database } from 'better-sqlite3';
import { errorMessage } from '../errors/error-message.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { Projection } from './projection.ts';
import { checkpointsOf, definitionOf, formatOf, SUPERSEDED } from './schema.ts';

/** A projection could not take an event: a fault of ours, which no retry mends. */
export class ProjectionFailed extends Error {
  override readonly name = 'ProjectionFailed';
}

/** Codes by which SQLite speaks about the disk or other processes, not about a statement. */
const STORAGE_ERRORS =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|PROTOCOL|INTERRUPT)/;

function isStorageError(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && STORAGE_ERRORS.test(error.code);
}

/**
 * - `applied`: every projection's checkpoint is at the batch's last event or beyond.
 * - `gap`: some projection lacks events before this batch; nothing was changed.
 * - `superseded`: another generation has taken this one's place; nothing was changed.
 */
export type Outcome = 'applied' | 'gap' | 'superseded';

/** Holds the tables of a generation against what is known of the log from elsewhere. */
export interface TableGuard {
  /** Looks after each batch, before it is stored, and when the generation is opened. @throws {LogDiffers} */
  check(): void;
  /** True while the tables lack events that the log is known to have. */
  isBehind(): boolean;
  /** Looks when the log has been read to its end. @throws {LogDiffers} */
  checkEnd(): void;
}

/** A projection and the position that it has reached. */
interface ProjectionState {
  readonly projection: Projection;
  readonly definition: string;
  position: bigint;
}

interface Handler {
  readonly state: ProjectionState;
  readonly handle: (event: RecordedEvent) => void;
}

export class BatchWriter {
  readonly #db: Database;
  readonly #states: readonly ProjectionState[];
  readonly #handlers = new Map<string, Handler[]>();
  readonly #handlersOfAll: Handler[] = [];
  readonly #readCheckpoints;
  readonly #dataVersion;
  readonly #writeCheckpoints;
  readonly #writeLastEvent;
  readonly #transaction;
  readonly guard: TableGuard | undefined;
  /** The `data_version` at the last look: until it changes, nobody else has written. */
  #seen: number | undefined;
  #superseded = false;

  constructor(db: Database, projections: readonly Projection[], guard?: TableGuard) {
    this.#db = db;
    this.guard = guard;
    this.#states = projections.map((projection) => {
      const state = { projection, definition: definitionOf(projection), position: 0n };
      for (const [type, handle] of Object.entries(projection.handlers(db))) {
        const ofType = this.#handlers.get(type) ?? [];
        this.#handlers.set(type, [...ofType, { state, handle }]);
      }
      const handleAll = projection.everyEvent?.(db);
      if (handleAll !== undefined) this.#handlersOfAll.push({ state, handle: handleAll });
      return state;
    });
    this.#readCheckpoints = checkpointsOf(db);
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
    // A projection of another release stays where it is: its tables do.
    const names = projections.map(({ name }) => `'${name}'`).join();
    this.#writeCheckpoints = db.prepare<{ readonly position: bigint }>(
      `UPDATE checkpoints SET position = @position
       WHERE position < @position AND projection IN (${names})`,
    );
    this.#writeLastEvent = db.prepare<[bigint, string, number, string]>(
      `INSERT INTO last_event VALUES (1, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET position = excluded.position, stream = excluded.stream,
         revision = excluded.revision, id = excluded.id
       WHERE excluded.position > position`,
    );
    this.#transaction = db.transaction(this.#applyAll.bind(this));
  }

  /** The lowest position that some projection has reached. */
  checkpoint(): bigint {
    this.#loadCheckpoints();
    return this.#lowest();
  }

  /** A position that every projection is known to have reached, without a look at the database. */
  reached(): bigint {
    return this.#lowest();
  }

  /**
   * @param after position before the batch's first event: the batch holds all that lies in between
   * @throws {ProjectionFailed} names the event and the projection; neither rows nor checkpoints changed
   * @throws {LogDiffers} the same
   */
  apply(after: bigint, events: readonly RecordedEvent[]): Outcome {
    const outcome = this.#transaction.immediate(after, events);
    const last = events.at(-1);
    if (outcome !== 'applied' || last === undefined) return outcome;
    for (const state of this.#states) {
      if (state.position < last.position) state.position = last.position;
    }
    return outcome;
  }

  #applyAll(after: bigint, events: readonly RecordedEvent[]): Outcome {
    this.#loadCheckpoints();
    if (this.#superseded) return 'superseded';
    if (this.#lowest() < after) return 'gap';
    const last = events.at(-1);
    if (last === undefined || this.#lowest() >= last.position) return 'applied';
    for (const event of events) this.#dispatch(event);
    this.#writeCheckpoints.run({ position: last.position });
    this.#writeLastEvent.run(last.position, last.stream, last.revision, last.id);
    this.guard?.check();
    return 'applied';
  }

  #dispatch(event: RecordedEvent): void {
    for (const handler of this.#handlersOfAll) deliver(handler, event, () => event);
    let upcasted: RecordedEvent | undefined;
    const current = (): RecordedEvent => (upcasted ??= upcast(event));
    for (const handler of this.#handlers.get(event.type) ?? []) deliver(handler, event, current);
  }

  #loadCheckpoints(): void {
    const version = this.#dataVersion.get();
    if (version !== undefined && version === this.#seen) return;
    this.#superseded = formatOf(this.#db) === SUPERSEDED;
    const rows = new Map(this.#readCheckpoints().map((row) => [row.projection, row]));
    for (const state of this.#states) {
      const row = rows.get(state.projection.name);
      if (row?.definition !== state.definition) {
        throw new ProjectionFailed(
          `Projection ${state.projection.name} was rebuilt by another release; run one release.`,
        );
      }
      state.position = row.position;
    }
    this.#seen = version;
  }

  #lowest(): bigint {
    let lowest: bigint | undefined;
    for (const { position } of this.#states) {
      if (lowest === undefined || position < lowest) lowest = position;
    }
    return lowest ?? 0n;
  }
}

/** @throws {ProjectionFailed} */
function deliver(
  { state, handle }: Handler,
  event: RecordedEvent,
  form: () => RecordedEvent,
): void {
  if (event.position <= state.position) return;
  try {
    handle(form());
  } catch (error) {
    if (isStorageError(error)) throw error;
    throw new ProjectionFailed(
      `Projection ${state.projection.name} failed on ${event.type} at position ` +
        `${event.position}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

/** The event with its data in today's version. */
function upcast(event: RecordedEvent): RecordedEvent {
  const { data } = decodeEvent(event);
  return data === event.data ? event : { ...event, data };
}
