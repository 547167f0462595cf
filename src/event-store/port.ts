/**
 * The event store: the only source of truth. Everything else is derived from what `readAll` gives.
 *
 * Revisions count within a stream from 0 without gaps. Positions are global, strictly increasing;
 * they are opaque to callers except for their order, and `0n` lies before the first event.
 */

import type { StagedBlob } from '../documents/port.ts';

/** An event as its writer hands it over. `data` and `metadata` are JSON objects. */
export interface NewEvent {
  /** A UUID that follows from its cause. */
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata: object;
}

/** An event as the store holds it. */
export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: bigint;
}

/** The last revision that a stream must have for an append to go through. */
export type ExpectedRevision = 'no-stream' | number;

export interface AppendResult {
  /** Revision and position of the last event appended. */
  readonly revision: number;
  readonly position: bigint;
}

export interface ReadStreamOptions {
  /** First revision to read; default 0. */
  readonly from?: number;
  /** Most events to read; default 1,000. */
  readonly limit?: number;
}

export interface ReadAllOptions {
  /** Exclusive; default 0n, the beginning. */
  readonly after?: bigint;
  /** Most events to read; default 1,000. */
  readonly limit?: number;
}

export interface Subscription {
  /** Resolves when no further batch will be handled. */
  stop(): Promise<void>;
  /** Resolves after `stop()`, rejects when the handler or the store failed for good. */
  readonly ended: Promise<void>;
}

export type BatchHandler = (events: readonly RecordedEvent[]) => void | Promise<void>;

export interface EventStore {
  /**
   * Appends all events or none, durable when it resolves, with the blobs that they name.
   * @throws {VersionConflict} the stream is not as expected; nothing is stored
   * @throws {EventStoreUnavailable} its outcome is not known: read the stream before the next one
   * @throws {AppendTooLarge} nothing is stored but blobs, which no event names then
   */
  append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs?: readonly StagedBlob[],
  ): Promise<AppendResult>;

  /** Events of one stream in revision order; empty if there is no such stream. */
  readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]>;

  /** Events of all streams in position order. */
  readAll(options?: ReadAllOptions): Promise<readonly RecordedEvent[]>;

  /**
   * Hands over every event after `after`, in order, in non-empty batches, one batch at a time,
   * first what is there, then what comes, whichever process appends it.
   */
  subscribe(after: bigint, handle: BatchHandler): Subscription;

  /**
   * The position of the last event, 0n if there is none.
   * @throws {EventStoreUnavailable} also where it is lower than one that this process has seen
   */
  head(): Promise<bigint>;

  close(): Promise<void>;
}

/** An event as another store holds it. Its position there, where it is given, means nothing here. */
export type CopiedEvent = Omit<RecordedEvent, 'position'>;

/** Keeps services off a log. Only a start and a command that opens the log look for it. */
export interface Barrier {
  /**
   * `incomplete`: a copy that has not ended. `moving`: the log takes no event here, and its copy has not ended.
   * `moved`: it goes on in another store.
   */
  readonly kind: 'incomplete' | 'moving' | 'moved';
  /** The log that it is a copy of, or the place where it goes on. */
  readonly subject: string;
}

/** An event store that a whole log can be copied into, and that a log can be moved out of. */
export interface CopyableEventStore extends EventStore {
  /**
   * Appends copies of events in their order, each at its revision, durable when it resolves. Where it rejects, the
   * first of them may be stored, and none without those before it, unless somebody else writes to their streams.
   * @throws {VersionConflict} an event is not the next one of its stream
   * @throws {EventStoreUnavailable}
   */
  appendCopies(events: readonly CopiedEvent[]): Promise<void>;

  barrier(): Promise<Barrier | undefined>;

  /** Sets the barrier, or removes it. */
  setBarrier(barrier: Barrier | undefined): Promise<void>;
}

export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
  readonly stream: string;
  readonly expected: ExpectedRevision;
  /** The stream's last revision, -1 where it does not exist. */
  readonly actual: number;

  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`Stream ${stream} is at revision ${actual}, expected ${expected}.`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The store takes no more bytes in one append than `mostBytes`. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  readonly mostBytes: number;

  constructor(message: string, mostBytes: number, cause: unknown) {
    super(message, { cause });
    this.mostBytes = mostBytes;
  }
}

export class EventStoreUnavailable extends Error {
  override readonly name: string = 'EventStoreUnavailable';
}

/**
 * The log is not the one that is known: events were changed, or are missing. No retry mends that, and nothing is served
 * from it until an operator decides.
 */
export class LogDiffers extends EventStoreUnavailable {
  override readonly name = 'LogDiffers';
  /** What is different, in one sentence. */
  readonly found: string;

  constructor(found: string) {
    super(
      `${found} Nothing is served until an operator decides: see "When the log differs" in docs/audit.md.`,
    );
    this.found = found;
  }
}

/** Something in the storage that reading the log does not show. */
export interface HiddenFault {
  readonly found: string;
  /** Its place and what was expected there, where it is in the schema of the database. */
  readonly schema?: { readonly object: string; readonly expected: string };
  /** The event that it was found in, where it is in one. */
  readonly event?: Omit<RecordedEvent, 'data' | 'metadata'> & { readonly index: number };
}

/** The database of the log has another schema than the service makes: its message says what to do. */
export class ForeignSchema extends Error {
  override readonly name = 'ForeignSchema';
  readonly fault: SchemaFault;

  constructor(message: string, fault: SchemaFault) {
    super(message);
    this.fault = fault;
  }
}

export type SchemaFault = Required<Pick<HiddenFault, 'found' | 'schema'>>;

/** An event that is stored and cannot be read: its storage is damaged or was changed. */
export class EventDamaged extends EventStoreUnavailable {
  /** All that can be told of its place. */
  readonly event: Partial<Omit<RecordedEvent, 'data' | 'metadata'>>;

  constructor(message: string, event: EventDamaged['event'], cause: unknown) {
    super(message, { cause });
    this.event = event;
  }
}
