import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EventFeed } from './feed.ts';
import type { BatchHandler, Subscription } from '../port.ts';

/** Events handed over at once. */
const BATCH = 500;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/**
 * Hands over what a feed gives, and follows the log again from the last event handled whenever the feed
 * drops: the driver gives each up at its first error. It ends for good only with its handler.
 */
export class KurrentDbSubscription implements Subscription {
  readonly ended: Promise<void>;
  readonly #follow: (after: bigint) => EventFeed;
  readonly #handle: BatchHandler;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #after: bigint;
  #retryMs = FIRST_RETRY_MS;

  constructor(
    follow: (after: bigint) => EventFeed,
    after: bigint,
    handle: BatchHandler,
    logger: Logger,
  ) {
    this.#follow = follow;
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
      const dropped = await this.#run();
      if (signal.aborted) return;
      const retryMs = this.#retryMs * (0.5 + Math.random() / 2);
      this.#logger.warn({ err: dropped, retryMs }, 'the subscription dropped and will be resumed');
      await delay(retryMs, undefined, { signal }).catch(() => {});
      this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
    }
  }

  /** One feed, to its end; resolves with the reason. @throws what the handler throws */
  async #run(): Promise<unknown> {
    const feed = this.#follow(this.#after);
    const close = (): void => feed.close();
    this.#stopped.signal.addEventListener('abort', close, { once: true });
    try {
      while (!this.#stopped.signal.aborted) {
        const events = feed.take(BATCH);
        const last = events.at(-1);
        if (last === undefined) {
          if (feed.dropped !== undefined) return feed.dropped;
          await feed.more();
          continue;
        }
        await this.#handle(events);
        this.#after = last.position;
        this.#retryMs = FIRST_RETRY_MS;
      }
      return undefined;
    } finally {
      this.#stopped.signal.removeEventListener('abort', close);
      feed.close();
    }
  }
}
