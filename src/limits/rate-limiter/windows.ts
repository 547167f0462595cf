import type { Clock } from '../../time/clock.ts';
import type { Rate, RateLimitStatus } from './port.ts';

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
