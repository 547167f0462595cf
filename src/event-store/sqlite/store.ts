/** The embedded event store: one table of the embedded database, appended to by group commit. */
import type { StagedBlob } from '../../blob-store/port.ts';
import { type EmbeddedDatabase, isStoredIn, type StoredInDatabase } from '../../sqlite/database.ts';
import {
  type AppendResult,
  type BatchHandler,
  type EventStore,
  EventStoreUnavailable,
  type ExpectedRevision,
  type NewEvent,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
  type Subscription,
} from '../port.ts';
import { EventWriter, PendingAppend } from './append.ts';
import { EventReader } from './read.ts';
import { createEventTables } from './schema.ts';
import { SqliteSubscription } from './subscription.ts';

/** How often other processes' appends are looked for; a look costs a few microseconds. */
const POLL_MS = 20;

const inUse = new WeakSet<EmbeddedDatabase>();

export class SqliteEventStore implements EventStore {
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

  async close(): Promise<void> {
    this.#endWaking();
    inUse.delete(this.#database);
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
  }

  #appendAfter(blobs: readonly StagedBlob[], pending: PendingAppend): void {
    Promise.all(blobs.map((blob) => blob.store())).then(
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
    throw new EventStoreUnavailable('The event store could not be read.', { cause: error });
  }
}
