/** The number of requests that may pass in a fixed window of time. */
export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

/** Counts per key in fixed windows, over all API nodes that share it. */
export interface RateLimiter {
  /** Counts one, unless none is left. */
  consume(key: string, rate: Rate): Promise<RateLimitStatus>;
  /** Takes back what was counted in the window that is open now. */
  refund(key: string, rate: Rate): Promise<void>;
  /** Returns the status and counts nothing. */
  get(key: string, rate: Rate): Promise<RateLimitStatus>;
}

export interface RateLimitStatus {
  /** True if it was within the limit; of `get`, true if the next one would be. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetAt: number;
}
