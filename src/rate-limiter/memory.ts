import type { Clock } from '../clock.ts';
import type { Rate, RateLimiter, Standing } from './port.ts';

interface Window {
  readonly endsAt: number;
  readonly counts: Map<string, number>;
}

/** The rate limiter of a single process: the counts of the windows that are open, forgotten with it. */
export class MemoryRateLimiter implements RateLimiter {
  readonly #clock: Clock;
  /** By length, in milliseconds. */
  readonly #windows = new Map<number, Window>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async take(key: string, rate: Rate): Promise<Standing> {
    const window = this.#open(rate.windowMs);
    const used = window.counts.get(key) ?? 0;
    const allowed = used < rate.limit;
    if (allowed) window.counts.set(key, used + 1);
    return standing(window, rate.limit, allowed ? used + 1 : used, allowed);
  }

  async giveBack(key: string, rate: Rate): Promise<void> {
    const { counts } = this.#open(rate.windowMs);
    const used = counts.get(key) ?? 0;
    if (used > 1) counts.set(key, used - 1);
    else counts.delete(key);
  }

  async peek(key: string, rate: Rate): Promise<Standing> {
    const window = this.#open(rate.windowMs);
    const used = window.counts.get(key) ?? 0;
    return standing(window, rate.limit, used, used < rate.limit);
  }

  #open(lengthMs: number): Window {
    const endsAt = (Math.floor(this.#clock.now() / lengthMs) + 1) * lengthMs;
    const known = this.#windows.get(lengthMs);
    if (known?.endsAt === endsAt) return known;
    const window = { endsAt, counts: new Map<string, number>() };
    this.#windows.set(lengthMs, window);
    return window;
  }
}

function standing({ endsAt }: Window, limit: number, used: number, allowed: boolean): Standing {
  return { allowed, limit, remaining: Math.max(0, limit - used), resetAt: endsAt / 1000 };
}
