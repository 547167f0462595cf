/** The source of time. Tests pass one they can move, so that 24 hours pass in a test. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** ISO 8601, UTC, milliseconds, `Z`: the one form of every timestamp that leaves the service. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
