/**
 * The event store on a server: EventStoreDB or KurrentDB, one server with two names. Ordinary appends
 * to single streams, so that any from 23.10 serves.
 */
import type { Logger } from 'pino';
import type { StagedBlob } from '../../blob-store/port.ts';
import { parseEventStoreUrl } from './connection-string.ts';
import { setTimeout as delay } from 'node:timers/promises';
import { KurrentDbClient, WrongRevision } from './client.ts';
import { LogHead } from './head.ts';
import { StreamNames } from './names.ts';
import { KurrentDbSubscription } from './subscription.ts';
import { whyUnusable } from './unusable.ts';
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
} from '../port.ts';

const DEFAULT_LIMIT = 1_000;
/** Pause before an append without an answer is sent once more: a lost connection is made anew in it. */
const RESEND_AFTER_MS = 100;

/**
 * Connects to the server of a connection string and sees that it answers and lets its log be read.
 * @param url `esdb://` or `kurrentdb://`, with `?namespace=NAME` where deployments share a server
 * @throws {Error} one line that names the server, never its password, and the remedy
 */
export async function openKurrentDb(
  url: string,
  { logger }: { readonly logger: Logger },
): Promise<EventStore> {
  const address = parseEventStoreUrl(url);
  const client = new KurrentDbClient(address, new StreamNames(address.namespace), logger);
  try {
    await client.probe();
  } catch (error) {
    await client.close().catch(() => {});
    throw new Error(whyUnusable(address, error), { cause: error });
  }
  return new KurrentDbEventStore(client, logger);
}

class KurrentDbEventStore implements EventStore {
  readonly #client: KurrentDbClient;
  readonly #logger: Logger;
  readonly #head: LogHead;
  readonly #subscriptions = new Set<Subscription>();

  constructor(client: KurrentDbClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
    this.#head = new LogHead(client);
  }

  async append(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
    blobs: readonly StagedBlob[] = [],
  ): Promise<AppendResult> {
    const written = events.map(serialised);
    if (written.length === 0) throw new TypeError('An append needs at least one event.');
    if (blobs.length > 0) await storeAll(blobs);
    const send = (): Promise<AppendResult> => this.#send(stream, written, expected);
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof EventStoreUnavailable)) throw error;
      // Stored or not, it is safe: where the server has these events after the expected revision, it
      // answers as it answered the first time.
      await delay(RESEND_AFTER_MS);
      return send();
    }
  }

  async readStream(
    stream: string,
    options: ReadStreamOptions = {},
  ): Promise<readonly RecordedEvent[]> {
    const { from = 0, limit = DEFAULT_LIMIT } = options;
    return this.#client.readStream(stream, from, limit);
  }

  async readAll({
    after = 0n,
    limit = DEFAULT_LIMIT,
  }: ReadAllOptions = {}): Promise<readonly RecordedEvent[]> {
    const from = after === 0n ? undefined : after;
    // One more than is wanted: the first may be the one at `after`.
    const events = await this.#client.readAll({ from, limit: limit + 1, backwards: false });
    return events.filter(({ position }) => position > after).slice(0, limit);
  }

  subscribe(after: bigint, handle: BatchHandler): Subscription {
    const follow = this.#client.follow.bind(this.#client);
    const subscription = new KurrentDbSubscription(follow, after, handle, this.#logger);
    this.#subscriptions.add(subscription);
    const forget = (): void => void this.#subscriptions.delete(subscription);
    subscription.ended.then(forget, forget);
    return subscription;
  }

  head(): Promise<bigint> {
    return this.#head.read();
  }

  async #send(
    stream: string,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    try {
      return await this.#client.append(stream, events, expected === 'no-stream' ? -1 : expected);
    } catch (error) {
      if (!(error instanceof WrongRevision)) throw error;
      throw new VersionConflict(stream, expected, error.actual);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#subscriptions].map((subscription) => subscription.stop()));
    await this.#client.close();
  }
}

/** As it is now: later changes of the caller's objects must not reach the log. */
function serialised({ id, type, data, metadata }: NewEvent): NewEvent {
  return { id, type, data: copy(data), metadata: copy(metadata) };
}

const copy = (value: object): object => JSON.parse(JSON.stringify(value)) as object;

async function storeAll(blobs: readonly StagedBlob[]): Promise<void> {
  try {
    await Promise.all(blobs.map((blob) => blob.store()));
  } catch (error) {
    throw new EventStoreUnavailable('What the events refer to could not be stored.', {
      cause: error,
    });
  }
}
