/** The number of requests that may pass in a fixed window of time. */
export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts per key in fixed windows, over all API nodes that share it. */
export interface RateLimiter {
  /** Counts one, unless none is left. */
  take(key: string, rate: Rate): Promise<Standing>;
  /** Takes back what was counted in the window that is open now. */
  giveBack(key: string, rate: Rate): Promise<void>;
  /** Returns the standing and counts nothing. */
  peek(key: string, rate: Rate): Promise<Standing>;
}

export interface Standing {
  /** True if it was within the limit; of `peek`, true if the next one would be. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetAt: number;
}
