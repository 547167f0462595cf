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

/** Reads a day in UTC, in milliseconds since the epoch; undefined if there is no such day. */
export function dayIn(text: string): number | undefined {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 30 February as 2 March.
  return !Number.isNaN(time) && isoTime(time).startsWith(text) ? time : undefined;
}

const TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** Reads an ISO 8601 time with its offset from UTC, in milliseconds since the epoch; undefined where it is none. */
export function timeIn(text: string): number | undefined {
  const [, day] = TIME.exec(text) ?? [];
  const time = Date.parse(text);
  return day === undefined || dayIn(day) === undefined || Number.isNaN(time) ? undefined : time;
}
