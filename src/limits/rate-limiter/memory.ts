import type { Clock } from '../../time/clock.ts';
import type { Rate, RateLimiter, RateLimitStatus } from './port.ts';
import { type CountRequest, count, statusIn, Windows } from './windows.ts';

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
