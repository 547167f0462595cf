/** The table of events, one append's share of a group commit, and the barrier that keeps services off a log. */
import type { Database } from 'better-sqlite3';
import type { EmbeddedDatabase, StoredInDatabase } from '../../sqlite/database.ts';
import type { Batch, Work } from '../../sqlite/group-commit.ts';
import {
  type AppendResult,
  type Barrier,
  type CopiedEvent,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  VersionConflict,
} from '../port.ts';
import type { EventReader } from './read.ts';

/** Positions and revisions are given by the writer inside its transaction, so neither has gaps. */
const DDL = `
CREATE TABLE IF NOT EXISTS events (
  position INTEGER PRIMARY KEY,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  data TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (stream, revision)
) STRICT;
CREATE TRIGGER IF NOT EXISTS events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER IF NOT EXISTS events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
`;

export const INSERT_EVENT = `
INSERT INTO events (position, stream, revision, id, type, data, metadata)
VALUES (?, ?, ?, ?, ?, ?, ?)`;

export function createEventTables(database: Pick<EmbeddedDatabase, 'define'>): void {
  database.define(DDL);
}

/** Streams whose last revision is remembered: more than are written to at a time. */
const REMEMBERED_STREAMS = 10_000;

/** Writes events and remembers where the log and its streams end, for as long as that is true. */
export class EventWriter {
  readonly #reader: EventReader;
  readonly #insert;
  readonly #lastRevision;
  readonly #revisions = new Map<string, number>();
  #head = 0;
  #batch: Batch = { committed: false };
  #dataVersion = -1;

  constructor(db: Database, reader: EventReader) {
    this.#reader = reader;
    this.#insert =
      db.prepare<[number, string, number, string, string, string, string]>(INSERT_EVENT);
    this.#lastRevision = db
      .prepare<[string], number>(
        // For the `+`, see read.ts.
        'SELECT revision FROM events WHERE stream = +? ORDER BY revision DESC LIMIT 1',
      )
      .pluck();
  }

  /**
   * Called at the start of each work. What is remembered is forgotten after a rolled back batch and
   * when another process has committed: inside a write transaction none can, so once a batch is enough.
   */
  enter(batch: Batch): void {
    if (batch === this.#batch) return;
    const dataVersion = this.#reader.dataVersion();
    if (!this.#batch.committed || dataVersion !== this.#dataVersion) {
      this.#revisions.clear();
      this.#head = Number(this.#reader.head());
      this.#dataVersion = dataVersion;
    }
    this.#batch = batch;
  }

  /** The stream's last revision, -1 if there is none. */
  lastRevision(stream: string): number {
    return this.#revisions.get(stream) ?? this.#lastRevision.get(stream) ?? -1;
  }

  insert(stream: string, revision: number, event: NewEvent, data: string, metadata: string): void {
    const position = this.#head + 1;
    this.#insert.run(position, stream, revision, event.id, event.type, data, metadata);
    this.#head = position;
  }

  appended(stream: string, revision: number): AppendResult {
    if (this.#revisions.size >= REMEMBERED_STREAMS) this.#revisions.clear();
    this.#revisions.set(stream, revision);
    return { revision, position: BigInt(this.#head) };
  }
}

export class PendingAppend implements Work {
  readonly promise: Promise<AppendResult>;
  readonly #writer: EventWriter;
  readonly #stream: string;
  readonly #events: readonly NewEvent[];
  readonly #texts: readonly string[];
  readonly #expected: ExpectedRevision;
  readonly #blobs: readonly StoredInDatabase[];
  #resolve: (result: AppendResult) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #outcome: AppendResult | VersionConflict | undefined;

  constructor(
    writer: EventWriter,
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs: readonly StoredInDatabase[],
  ) {
    this.#writer = writer;
    this.#stream = stream;
    this.#events = events;
    // Serialised once and now: later changes of the caller's objects must not reach the log.
    this.#texts = events.flatMap((event) => [
      JSON.stringify(event.data),
      JSON.stringify(event.metadata),
    ]);
    this.#expected = expected;
    this.#blobs = blobs;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  run(batch: Batch): void {
    this.#writer.enter(batch);
    const actual = this.#writer.lastRevision(this.#stream);
    const expected = this.#expected === 'no-stream' ? -1 : this.#expected;
    this.#outcome =
      actual === expected
        ? this.#write(actual)
        : new VersionConflict(this.#stream, this.#expected, actual);
  }

  done(): void {
    if (this.#outcome instanceof VersionConflict) this.#reject(this.#outcome);
    else if (this.#outcome !== undefined) this.#resolve(this.#outcome);
  }

  failed(error: unknown): void {
    this.#reject(new EventStoreUnavailable('The append failed.', { cause: error }));
  }

  #write(last: number): AppendResult {
    let revision = last;
    for (const [index, event] of this.#events.entries()) {
      revision += 1;
      const data = this.#texts[2 * index] ?? '';
      const metadata = this.#texts[2 * index + 1] ?? '';
      this.#writer.insert(this.#stream, revision, event, data, metadata);
    }
    for (const blob of this.#blobs) blob.storeIn();
    return this.#writer.appended(this.#stream, revision);
  }
}

/** Copies of another store's events, in one transaction. */
export class PendingCopies implements Work {
  readonly promise: Promise<void>;
  readonly #writer: EventWriter;
  readonly #events: readonly CopiedEvent[];
  #resolve: () => void = () => {};
  #reject: (error: Error) => void = () => {};

  constructor(writer: EventWriter, events: readonly CopiedEvent[]) {
    this.#writer = writer;
    this.#events = events;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  run(batch: Batch): void {
    this.#writer.enter(batch);
    for (const { stream, revision, ...event } of this.#events) {
      const last = this.#writer.lastRevision(stream);
      if (last !== revision - 1) throw new VersionConflict(stream, revision - 1, last);
      const [data, metadata] = [JSON.stringify(event.data), JSON.stringify(event.metadata)];
      this.#writer.insert(stream, revision, event, data, metadata);
      this.#writer.appended(stream, revision);
    }
  }

  done(): void {
    this.#resolve();
  }

  failed(error: unknown): void {
    if (error instanceof VersionConflict) this.#reject(error);
    else this.#reject(new EventStoreUnavailable('The copy failed.', { cause: error }));
  }
}

/** A service that has the log open meets it with its next append, before that is stored. */
const MOVED_TRIGGER = `CREATE TRIGGER events_moved BEFORE INSERT ON events
BEGIN SELECT RAISE(ABORT, 'this log goes on in another store'); END`;

export function readBarrier(db: Database): Barrier | undefined {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'barrier'").get();
  if (isThere === undefined) return undefined;
  return db.prepare<[], Barrier>('SELECT kind, subject FROM barrier').get();
}

/** Runs in a transaction of its caller. */
export function writeBarrier(db: Database, barrier: Barrier | undefined): void {
  db.exec(`
    DROP TABLE IF EXISTS barrier;
    DROP TRIGGER IF EXISTS events_moved;
  `);
  if (barrier === undefined) return;
  db.exec('CREATE TABLE barrier (kind TEXT NOT NULL, subject TEXT NOT NULL) STRICT');
  db.prepare('INSERT INTO barrier VALUES (?, ?)').run(barrier.kind, barrier.subject);
  if (barrier.kind !== 'incomplete') db.exec(MOVED_TRIGGER);
}
