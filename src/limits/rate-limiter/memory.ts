import type { Clock } from '../../time/clock.ts';
import type { Rate, RateLimiter, RateLimitStatus } from './port.ts';

/** A fixed window of time, with what is counted in it by key. */
export interface Window<T> {
  /** Milliseconds since the Unix epoch. */
  readonly endsAt: number;
  readonly counts: Map<string, T>;
}

/** The windows that are open, one of each length; one that has ended is forgotten. */
export class Windows<T> {
  readonly #clock: Clock;
  readonly #byLength = new Map<number, Window<T>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open({ windowMs }: Rate): Window<T> {
    const endsAt = (Math.floor(this.#clock.now() / windowMs) + 1) * windowMs;
    const known = this.#byLength.get(windowMs);
    if (known?.endsAt === endsAt) return known;
    const window = { endsAt, counts: new Map<string, T>() };
    this.#byLength.set(windowMs, window);
    return window;
  }
}

/** The operation on a count: counts one of `limit`, takes one back, or reads. */
export interface CountRequest {
  readonly kind: 'consume' | 'refund' | 'get';
  readonly limit: number;
}

export interface Counted {
  readonly allowed: boolean;
  /** The count after the operation. */
  readonly used: number;
}

export function count({ kind, limit }: CountRequest, used: number): Counted {
  const allowed = used < limit;
  switch (kind) {
    case 'consume':
      return { allowed, used: allowed ? used + 1 : used };
    case 'refund':
      return { allowed: true, used: Math.max(0, used - 1) };
    case 'get':
      return { allowed, used };
  }
}

export function statusIn(
  { endsAt }: Window<unknown>,
  { limit }: Rate,
  { allowed, used }: Counted,
): RateLimitStatus {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetAt: endsAt / 1000 };
}

/** The rate limiter of a single process: the counts of the windows that are open, forgotten with it. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #windows: Windows<number>;

  constructor(clock: Clock) {
    this.#windows = new Windows(clock);
  }

  async consume(key: string, rate: Rate): Promise<RateLimitStatus> {
    return this.#count('consume', key, rate);
  }

  async refund(key: string, rate: Rate): Promise<void> {
    this.#count('refund', key, rate);
  }

  async get(key: string, rate: Rate): Promise<RateLimitStatus> {
    return this.#count('get', key, rate);
  }

  #count(kind: CountRequest['kind'], key: string, rate: Rate): RateLimitStatus {
    const window = this.#windows.open(rate);
    const counted = count({ kind, limit: rate.limit }, window.counts.get(key) ?? 0);
    if (counted.used > 0) window.counts.set(key, counted.used);
    else window.counts.delete(key);
    return statusIn(window, rate, counted);
  }
}
