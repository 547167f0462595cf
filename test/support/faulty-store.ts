import type { StagedBlob } from '../../src/documents/port.ts';
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
  VersionConflict,
} from '../../src/event-store/port.ts';

/** What happens to an append: lost before it is stored, or stored and its acknowledgement lost. */
export type Fault = 'conflict' | 'unavailable' | 'acknowledgement lost';

/** A real store whose appends fail as told, one fault an append, and which counts what is asked of it. */
export class FaultyStore implements EventStore {
  readonly #store: EventStore;
  readonly faults: Fault[] = [];
  /** Runs before each append: a place for another writer to come in between, or to wait. */
  beforeAppend: () => Promise<void> = async () => {};
  /** Runs before each read of a stream, as `beforeAppend` does. */
  beforeRead: () => Promise<void> = async () => {};
  /** Events of each append that was tried. */
  readonly appends: number[] = [];
  readonly reads: { readonly stream: string; readonly from: number; readonly events: number }[] =
    [];

  constructor(store: EventStore) {
    this.#store = store;
  }

  async append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs?: readonly StagedBlob[],
  ): Promise<AppendResult> {
    this.appends.push(events.length);
    await this.beforeAppend();
    const fault = this.faults.shift();
    if (fault === 'conflict') throw new VersionConflict(stream, expected, 1_000_000);
    if (fault === 'unavailable') throw new EventStoreUnavailable('Told to fail.');
    const appended = await this.#store.append(stream, events, expected, blobs);
    if (fault === 'acknowledgement lost') throw new EventStoreUnavailable('Told to lose it.');
    return appended;
  }

  async readStream(
    stream: string,
    options: ReadStreamOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    await this.beforeRead();
    const events = await this.#store.readStream(stream, options);
    this.reads.push({ stream, from: options.from ?? 0, events: events.length });
    return events;
  }

  readAll(options?: ReadAllOptions): Promise<readonly RecordedEvent[]> {
    return this.#store.readAll(options);
  }

  subscribe(after: bigint, handle: BatchHandler): Subscription {
    return this.#store.subscribe(after, handle);
  }

  head(): Promise<bigint> {
    return this.#store.head();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
