/** The moment that a look-back asks for, as clients and operators write it. */
import { isoTime, timeIn } from '../time/clock.ts';

/** Everything up to a time (milliseconds since the Unix epoch) or a position of the log, inclusive. */
export type Moment = { readonly time: number } | { readonly position: bigint };

/** @param refuse gets what is wrong with the text */
export function momentIn(
  text: unknown,
  { now, head }: { readonly now: number; readonly head: bigint | undefined },
  refuse: (problem: string) => void,
): Moment | undefined {
  const given = typeof text === 'string' ? text : '';
  if (/^\d{1,30}$/.test(given)) {
    const position = BigInt(given);
    if (head === undefined || position <= head) return { position };
    refuse(`Lies beyond the end of the log: give a position up to ${head}, or a time.`);
    return undefined;
  }
  const time = timeIn(given);
  if (time === undefined) {
    refuse(
      'Must be an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z, or a position of the log, such as 4711.',
    );
  } else if (time > now) {
    refuse(`Lies in the future: give a time up to ${isoTime(now)}.`);
  } else return { time };
  return undefined;
}
