/** The embedded event store: one table of the embedded database, appended to by group commit. */
import { setImmediate } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { atMost } from '../../async/at-most.ts';
import type { StagedBlob } from '../../documents/port.ts';
import { type EmbeddedDatabase, isStoredIn, type StoredInDatabase } from '../../sqlite/database.ts';
import {
  type AppendResult,
  type Barrier,
  type BatchHandler,
  type CopiedEvent,
  type CopyableEventStore,
  EventDamaged,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Subscription,
} from '../port.ts';
import {
  createEventTables,
  EventWriter,
  PendingAppend,
  PendingCopies,
  readBarrier,
  writeBarrier,
} from './append.ts';
import { EventReader } from './read.ts';

/** The pause between two looks for other processes' appends. A look costs a few microseconds. */
const POLL_MS = 20;

/** Blobs of one append that are stored at a time. */
const STORED_AT_ONCE = 32;

/** Events handed over at once. */
const BATCH = 500;

const inUse = new WeakSet<EmbeddedDatabase>();

export class SqliteEventStore implements CopyableEventStore {
  readonly #database: EmbeddedDatabase;
  readonly #reader: EventReader;
  readonly #writer: EventWriter;
  readonly #subscriptions = new Set<SqliteSubscription>();
  readonly #endWaking: () => void;
  #poll: NodeJS.Timeout | undefined;

  /**
   * One store to a database, because it remembers where the log ends; another process opens its own.
   * The database stays its opener's to close, after this store.
   */
  constructor(database: EmbeddedDatabase) {
    if (inUse.has(database)) throw new Error('This database has its event store already.');
    createEventTables(database);
    inUse.add(database);
    this.#database = database;
    this.#reader = new EventReader(database.db);
    this.#writer = new EventWriter(database.db, this.#reader);
    this.#endWaking = database.onCommit(() => this.#wakeAll());
  }

  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs: readonly StagedBlob[] = [],
  ): Promise<AppendResult> {
    if (events.length === 0) {
      return Promise.reject(new TypeError('An append needs at least one event.'));
    }
    const inside: StoredInDatabase[] = [];
    const outside: StagedBlob[] = [];
    for (const blob of blobs) {
      if (isStoredIn(this.#database, blob)) inside.push(blob);
      else outside.push(blob);
    }
    const pending = new PendingAppend(this.#writer, stream, events, expected, inside);
    if (outside.length === 0) this.#database.enqueue(pending);
    else this.#appendAfter(outside, pending);
    return pending.promise;
  }

  async readStream(
    stream: string,
    options: ReadStreamOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    return reading(() => this.#reader.stream(stream, options));
  }

  async readAll(options: ReadAllOptions = {}): Promise<readonly RecordedEvent[]> {
    return reading(() => this.#reader.all(options));
  }

  async head(): Promise<bigint> {
    return reading(() => this.#reader.head());
  }

  subscribe(after: bigint, handle: BatchHandler): Subscription {
    const read = (from: bigint, limit: number): readonly RecordedEvent[] =>
      reading(() => this.#reader.all({ after: from, limit }));
    const subscription = new SqliteSubscription(read, after, handle);
    this.#subscriptions.add(subscription);
    const forget = (): void => this.#forget(subscription);
    subscription.ended.then(forget, forget);
    this.#poll ??= this.#startPolling();
    return subscription;
  }

  appendCopies(events: readonly CopiedEvent[]): Promise<void> {
    const pending = new PendingCopies(this.#writer, events);
    this.#database.enqueue(pending);
    return pending.promise;
  }

  async barrier(): Promise<Barrier | undefined> {
    return reading(() => readBarrier(this.#database.db));
  }

  async setBarrier(barrier: Barrier | undefined): Promise<void> {
    await this.#database.commit((db) => writeBarrier(db, barrier));
  }

  async close(): Promise<void> {
    this.#endWaking();
    inUse.delete(this.#database);
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
  }

  #appendAfter(blobs: readonly StagedBlob[], pending: PendingAppend): void {
    atMost(STORED_AT_ONCE, blobs, (blob) => blob.store()).then(
      () => this.#database.enqueue(pending),
      (error: unknown) => pending.failed(error),
    );
  }

  #startPolling(): NodeJS.Timeout {
    // Absent where it cannot be read: the subscriptions then meet, and report, the reason themselves.
    const version = (): number | undefined => {
      try {
        return this.#reader.dataVersion();
      } catch {
        return undefined;
      }
    };
    let seen = version();
    const look = (): void => {
      const now = version();
      if (now === seen && now !== undefined) return;
      seen = now;
      this.#wakeAll();
    };
    return setInterval(look, POLL_MS).unref();
  }

  #wakeAll(): void {
    for (const subscription of this.#subscriptions) subscription.wake();
  }

  #forget(subscription: SqliteSubscription): void {
    this.#subscriptions.delete(subscription);
    if (this.#subscriptions.size > 0) return;
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof EventDamaged) throw error;
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_CORRUPT')) {
      throw new EventDamaged(`The database is damaged: ${error.message}.`, {}, error);
    }
    throw new EventStoreUnavailable('The event store could not be read.', { cause: error });
  }
}

/** Reads on from where it is, hands over, and sleeps until it is woken when there is nothing more. */
class SqliteSubscription implements Subscription {
  readonly ended: Promise<void>;
  readonly #read: (after: bigint, limit: number) => readonly RecordedEvent[];
  readonly #handle: BatchHandler;
  #after: bigint;
  #stopped = false;
  #woken = false;
  #resume = (): void => {};

  constructor(
    read: (after: bigint, limit: number) => readonly RecordedEvent[],
    after: bigint,
    handle: BatchHandler,
  ) {
    this.#read = read;
    this.#after = after;
    this.#handle = handle;
    this.ended = this.#run();
  }

  /** Something may have been appended. */
  wake(): void {
    this.#woken = true;
    this.#resume();
  }

  /** Waits for the handler that is running; so the handler must not wait for this. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.wake();
    await this.ended.catch(() => {});
  }

  async #run(): Promise<void> {
    await setImmediate();
    while (!this.#stopped) {
      this.#woken = false;
      const events = this.#read(this.#after, BATCH);
      const last = events.at(-1);
      if (last !== undefined) {
        await this.#handle(events);
        this.#after = last.position;
      }
      // A long catch-up must not keep the event loop from everyone else.
      if (events.length === BATCH) await setImmediate();
      // Nothing more was there, and whatever is appended wakes it.
      else await this.#sleep();
    }
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#woken) resolve();
      else this.#resume = resolve;
    });
  }
}
