/** The rate limiter of several API nodes: they share their counts in a NATS key-value bucket. */
import { hash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { Bucket, bucketPermissions } from '../nats/bucket.ts';
import type { NatsLink } from '../nats/connection.ts';
import { MemoryRateLimiter } from './memory.ts';
import type { Rate, RateLimiter, Standing } from './port.ts';
import { type Counted, type CountRequest, SharedCount } from './shared-count.ts';

const NAME = 'PRESSLEDGER_RATES';
/** Longer than every window, so that no count is forgotten before its window ends. */
const MAX_AGE_MS = 20 * 60_000;
const BUCKET = { name: NAME, maxAgeMs: MAX_AGE_MS, storage: 'memory' } as const;
/** A request waits this long at most for the shared count. */
const PATIENCE_MS = 250;
const SET_UP_MS = 5000;
/** After a failure nobody waits in vain for so long. */
const REST_MS = 1000;

/** What the user of an API node needs to publish to for it. */
export const RATE_LIMITER_PERMISSIONS = bucketPermissions(NAME);

export interface NatsKvRateLimiterOptions {
  readonly link: NatsLink;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Window {
  readonly endsAt: number;
  readonly counts: Map<string, SharedCount>;
}

export class NatsKvRateLimiter implements RateLimiter {
  readonly #link: NatsLink;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #bucket: Bucket;
  /** What this node let pass: its limit while the others cannot be asked. */
  readonly #own: MemoryRateLimiter;
  /** By length, in milliseconds. */
  readonly #windows = new Map<number, Window>();
  #restUntil = 0;
  #alone = false;

  /** @throws when the server does not let the bucket be made */
  static async open(options: NatsKvRateLimiterOptions): Promise<NatsKvRateLimiter> {
    const setUp = new Bucket(options.link, { ...BUCKET, answerMs: SET_UP_MS });
    await setUp.ensure();
    return new NatsKvRateLimiter(options);
  }

  private constructor({ link, clock, logger }: NatsKvRateLimiterOptions) {
    this.#link = link;
    this.#clock = clock;
    this.#logger = logger;
    this.#own = new MemoryRateLimiter(clock);
    this.#bucket = new Bucket(link, { ...BUCKET, answerMs: PATIENCE_MS });
  }

  async take(key: string, rate: Rate): Promise<Standing> {
    const window = this.#open(rate.windowMs);
    const counted = await this.#count(window, key, rate, 'take');
    if (!counted) return await this.#own.take(key, rate);
    if (counted.allowed) void this.#own.take(key, rate);
    return standing(window, rate, counted);
  }

  async giveBack(key: string, rate: Rate): Promise<void> {
    await this.#own.giveBack(key, rate);
    await this.#count(this.#open(rate.windowMs), key, rate, 'giveBack');
  }

  async peek(key: string, rate: Rate): Promise<Standing> {
    const window = this.#open(rate.windowMs);
    const counted = await this.#count(window, key, rate, 'peek');
    return counted ? standing(window, rate, counted) : await this.#own.peek(key, rate);
  }

  /** @returns nothing when the shared count cannot be had in time */
  async #count(
    window: Window,
    key: string,
    { limit, windowMs }: Rate,
    kind: CountRequest['kind'],
  ): Promise<Counted | undefined> {
    const now = performance.now();
    if (now < this.#restUntil || !this.#link.isUp()) return this.#countAlone();
    let shared = window.counts.get(key);
    if (!shared) {
      // Any text may be a key, and the server need not know which: it may be a client's address.
      const digest = hash('sha256', key, 'hex');
      shared = new SharedCount(this.#bucket, `${windowMs}.${window.endsAt}.${digest}`);
      window.counts.set(key, shared);
    }
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), PATIENCE_MS);
    try {
      const counted = await shared.count({ kind, limit }, patience.signal);
      if (this.#alone) this.#logger.info('rate limits hold across all nodes again');
      this.#alone = false;
      return counted;
    } catch (error) {
      this.#restUntil = performance.now() + REST_MS;
      return this.#countAlone(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #countAlone(error?: unknown): undefined {
    if (!this.#alone) {
      this.#logger.warn({ err: error }, 'rate limits are counted by each node for itself');
    }
    this.#alone = true;
  }

  #open(lengthMs: number): Window {
    const endsAt = (Math.floor(this.#clock.now() / lengthMs) + 1) * lengthMs;
    const known = this.#windows.get(lengthMs);
    if (known?.endsAt === endsAt) return known;
    const window = { endsAt, counts: new Map<string, SharedCount>() };
    this.#windows.set(lengthMs, window);
    return window;
  }
}

function standing({ endsAt }: Window, { limit }: Rate, { allowed, used }: Counted): Standing {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetAt: endsAt / 1000 };
}
