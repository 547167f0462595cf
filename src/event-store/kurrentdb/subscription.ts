import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  type BatchHandler,
  EventStoreUnavailable,
  type RecordedEvent,
  type Subscription,
} from '../port.ts';
import type { KurrentDbClient } from './client.ts';
import type { DriverSubscription } from './connection.ts';

/** Events handed over at once. */
const BATCH = 500;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

type Log = Pick<KurrentDbClient, 'subscribe' | 'recordedEvent' | 'readStream' | 'failed'>;

/** One subscription of the driver, until it drops. The server sends no more than is taken. */
class Feed {
  readonly #log: Log;
  readonly #subscription: DriverSubscription;
  #dropped: unknown;
  /** Something may have come since the last look. */
  #isReadable = false;
  #wake = (): void => {};

  constructor(log: Log, after: bigint) {
    this.#log = log;
    this.#subscription = log.subscribe(after);
    const drop = (error?: unknown): void => {
      this.#dropped ??= error ?? new Error('The server ended the subscription.');
      this.#wake();
    };
    this.#subscription.on('readable', () => {
      this.#isReadable = true;
      this.#wake();
    });
    this.#subscription.on('error', drop);
    this.#subscription.on('end', drop);
    this.#subscription.on('close', drop);
  }

  /** The reason why no more will come, once the events before it are taken. */
  get dropped(): unknown {
    return this.#dropped;
  }

  /** Events that have come and are not taken yet. @throws {Error} one is not of this service */
  async take(limit: number): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let known = -1; known < events.length && events.length < limit; ) {
      // The driver passes on one event in a turn of the event loop.
      if (events.length > 0) await nextTurn();
      known = events.length;
      this.#isReadable = false;
      for (let next = this.#subscription.read(); next !== null; next = this.#subscription.read()) {
        if (next.event !== undefined) events.push(this.#log.recordedEvent(next.event));
        if (events.length === limit) break;
      }
    }
    return events;
  }

  /** Resolves when there is something to take, or it has dropped. */
  async more(): Promise<void> {
    if (this.#dropped !== undefined || this.#isReadable) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  close(): void {
    this.#dropped ??= new Error('The subscription was closed.');
    this.#wake();
    this.#subscription.unsubscribe().catch(() => {});
  }
}

/**
 * Hands over the log's events, and subscribes again from the last one handled whenever the driver's
 * subscription drops: the driver gives it up at its first error. It ends for good only with its handler, or where the
 * log lacks that event.
 */
export class KurrentDbSubscription implements Subscription {
  readonly ended: Promise<void>;
  readonly #log: Log;
  readonly #handle: BatchHandler;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #after: bigint;
  #last: RecordedEvent | undefined;
  #retryMs = FIRST_RETRY_MS;

  constructor(log: Log, after: bigint, handle: BatchHandler, logger: Logger) {
    this.#log = log;
    this.#after = after;
    this.#handle = handle;
    this.#logger = logger;
    this.ended = this.#supervise();
  }

  /** Waits for the handler that is running; so the handler must not wait for this. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.ended.catch(() => {});
  }

  async #supervise(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const dropped = await this.#follow();
      if (signal.aborted) return;
      const retryMs = this.#retryMs * (0.5 + Math.random() / 2);
      // One that is resumed at once is nobody's concern.
      const error = dropped instanceof Error ? dropped : new Error(String(dropped));
      const err = this.#retryMs > FIRST_RETRY_MS ? this.#log.failed(error) : error;
      this.#logger.debug({ err, retryMs }, 'the subscription dropped and will be resumed');
      await delay(retryMs, undefined, { signal }).catch(() => {});
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    }
  }

  /**
   * Follows one feed to its end; resolves with the reason.
   * @throws what the handler throws @throws {EventStoreUnavailable} the log lacks the last event handled
   */
  async #follow(): Promise<unknown> {
    const lost = this.#last && (await this.#lookFor(this.#last));
    if (lost !== undefined) return lost;
    const feed = new Feed(this.#log, this.#after);
    const close = (): void => feed.close();
    this.#stopped.signal.addEventListener('abort', close, { once: true });
    try {
      while (!this.#stopped.signal.aborted) {
        const events = await feed.take(BATCH);
        if (this.#stopped.signal.aborted) break;
        const last = events.at(-1);
        if (last === undefined) {
          if (feed.dropped !== undefined) return feed.dropped;
          await feed.more();
          continue;
        }
        await this.#handle(events);
        this.#after = last.position;
        this.#last = last;
        this.#retryMs = FIRST_RETRY_MS;
      }
      return undefined;
    } finally {
      this.#stopped.signal.removeEventListener('abort', close);
      feed.close();
    }
  }

  /** Resolves with the reason why the log cannot be asked, if any. The server may have come back with another log. */
  async #lookFor({ stream, revision, id }: RecordedEvent): Promise<unknown> {
    const found = await this.#log
      .readStream(stream, revision, 1)
      .catch((error: unknown) => ({ error }));
    if ('error' in found) return found.error;
    if (found[0]?.id === id) return undefined;
    throw new EventStoreUnavailable(`The event log lacks revision ${revision} of ${stream}.`);
  }
}
