import type { Clock } from '../clock.ts';
import type { RateLimiter, Standing } from './port.ts';

const WINDOW_MS = 60_000;

/** The rate limiter of a single process: the counts of the current minute, forgotten with it. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  #window = 0;
  #counts = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(key: string, limit: number): Promise<Standing> {
    this.#turn();
    const used = this.#counts.get(key) ?? 0;
    if (used >= limit) return this.#standing(false, limit, used);
    this.#counts.set(key, used + 1);
    return this.#standing(true, limit, used + 1);
  }

  async peek(key: string, limit: number): Promise<Standing> {
    this.#turn();
    const used = this.#counts.get(key) ?? 0;
    return this.#standing(used < limit, limit, used);
  }

  #turn(): void {
    const window = Math.floor(this.#clock.now() / WINDOW_MS);
    if (window === this.#window) return;
    this.#window = window;
    this.#counts = new Map();
  }

  #standing(allowed: boolean, limit: number, used: number): Standing {
    return {
      allowed,
      limit,
      remaining: Math.max(0, limit - used),
      resetAt: ((this.#window + 1) * WINDOW_MS) / 1000,
    };
  }
}
