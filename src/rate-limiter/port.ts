/** Counts requests per key in fixed windows of a minute, over all API nodes that share it. */
export interface RateLimiter {
  /** Counts one request, unless none is left. */
  take(key: string, limit: number): Promise<Standing>;
  /** How things stand, counting nothing. */
  peek(key: string, limit: number): Promise<Standing>;
}

export interface Standing {
  /** Whether the request was within the limit. */
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Unix seconds at which the window ends. */
  readonly resetAt: number;
}
