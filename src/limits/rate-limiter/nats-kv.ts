/** The rate limiter of several API nodes: they share their counts in a NATS key-value bucket. */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import { withTimeout } from '../../async/with-timeout.ts';
import { errorMessage } from '../../errors/error-message.ts';
import { Bucket, MAX_BYTES } from '../../nats/bucket.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { Clock } from '../../time/clock.ts';
import {
  type Counted,
  type CountRequest,
  MemoryRateLimiter,
  statusIn,
  type Window,
  Windows,
} from './memory.ts';
import type { Rate, RateLimiter, RateLimitStatus } from './port.ts';
import { SharedCount } from './shared-count.ts';

const NAME = 'RATES';
/** Longer than every window, so that no count is forgotten before its window ends. */
const MAX_AGE_MS = 20 * 60_000;
/** A request waits this long at most for the shared count. */
const PATIENCE_MS = 250;
/** After a failure the server is not asked for so long. */
const REST_MS = 1000;

export interface NatsKvRateLimiterOptions {
  readonly link: NatsLink;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class NatsKvRateLimiter implements RateLimiter {
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #bucket: Bucket;
  /** Counts what this node let pass. Its limits hold while the shared count cannot be had. */
  readonly #own: MemoryRateLimiter;
  readonly #windows: Windows<SharedCount>;
  #restUntil = 0;
  #alone = false;

  /** @throws when the server does not let the bucket be made */
  static async open(options: NatsKvRateLimiterOptions): Promise<NatsKvRateLimiter> {
    const bucket = new Bucket(options.link, {
      name: NAME,
      maxAgeMs: MAX_AGE_MS,
      storage: 'memory',
      maxBytes: MAX_BYTES.rates,
      answerMs: PATIENCE_MS,
    });
    // The first requests must not wait for it.
    await bucket.ensure();
    return new NatsKvRateLimiter(options, bucket);
  }

  private constructor({ link, clock, logger }: NatsKvRateLimiterOptions, bucket: Bucket) {
    this.#link = link;
    this.#logger = logger;
    this.#bucket = bucket;
    this.#own = new MemoryRateLimiter(clock);
    this.#windows = new Windows(clock);
  }

  async consume(key: string, rate: Rate): Promise<RateLimitStatus> {
    const window = this.#windows.open(rate);
    const counted = await this.#count(window, key, rate, 'consume');
    if (!counted) return await this.#own.consume(key, rate);
    if (counted.allowed) void this.#own.consume(key, rate);
    return statusIn(window, rate, counted);
  }

  async refund(key: string, rate: Rate): Promise<void> {
    await this.#own.refund(key, rate);
    await this.#count(this.#windows.open(rate), key, rate, 'refund');
  }

  async get(key: string, rate: Rate): Promise<RateLimitStatus> {
    const window = this.#windows.open(rate);
    const counted = await this.#count(window, key, rate, 'get');
    return counted ? statusIn(window, rate, counted) : await this.#own.get(key, rate);
  }

  /** @returns nothing when the shared count cannot be had in time */
  async #count(
    window: Window<SharedCount>,
    key: string,
    { limit, windowMs }: Rate,
    kind: CountRequest['kind'],
  ): Promise<Counted | undefined> {
    if (!this.#link.isUp()) return this.#countAlone('NATS is away.');
    if (this.#rests()) return undefined;
    let shared = window.counts.get(key);
    if (!shared) {
      // Any text may be a key, and the server need not know which: it may be a client's address.
      const digest = hash('sha256', key, 'hex');
      shared = new SharedCount(this.#bucket, `${windowMs}.${window.endsAt}.${digest}`);
      window.counts.set(key, shared);
    }
    const patience = new AbortController();
    try {
      const count = shared.count({ kind, limit }, patience.signal);
      const counted = await withTimeout(PATIENCE_MS, count, isSlow);
      this.#countTogether();
      return counted;
    } catch (error) {
      patience.abort();
      this.#restUntil = performance.now() + REST_MS;
      return this.#countAlone(errorMessage(error));
    }
  }

  #rests(): boolean {
    return performance.now() < this.#restUntil;
  }

  #countAlone(reason: string): undefined {
    if (!this.#alone) {
      this.#logger.warn({ reason }, 'rate limits are counted by each node for itself');
    }
    this.#alone = true;
  }

  #countTogether(): void {
    // The answer to a request from before a failure may come after it.
    if (!this.#alone || this.#rests()) return;
    this.#alone = false;
    this.#logger.info('rate limits hold across all nodes again');
  }
}

const isSlow = (): Error => new Error('The shared count takes too long.');
