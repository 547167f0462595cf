import type { Clock } from '../clock.ts';
import { count, type CountRequest } from './count.ts';
import type { Rate, RateLimiter, Standing } from './port.ts';
import { standingIn, Windows } from './windows.ts';

/** The rate limiter of a single process: the counts of the windows that are open, forgotten with it. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #windows: Windows<number>;

  constructor(clock: Clock) {
    this.#windows = new Windows(clock);
  }

  async take(key: string, rate: Rate): Promise<Standing> {
    return this.#count('take', key, rate);
  }

  async giveBack(key: string, rate: Rate): Promise<void> {
    this.#count('giveBack', key, rate);
  }

  async peek(key: string, rate: Rate): Promise<Standing> {
    return this.#count('peek', key, rate);
  }

  #count(kind: CountRequest['kind'], key: string, rate: Rate): Standing {
    const window = this.#windows.open(rate);
    const counted = count({ kind, limit: rate.limit }, window.counts.get(key) ?? 0);
    if (counted.used > 0) window.counts.set(key, counted.used);
    else window.counts.delete(key);
    return standingIn(window, rate, counted);
  }
}
