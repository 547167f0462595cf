/** Holds: while one is in force, nothing of its account is deleted. It is placed, released or ends by itself. */
import type { Decision } from './decider.ts';
import type { EventOf } from './events.ts';
import { isoDate } from './iso-date.ts';

/** Times are milliseconds since the Unix epoch. */
export interface Hold {
  readonly placedAt: number;
  /** It ends then by itself; absent: it has no end. */
  readonly until?: number;
}

/** The latest hold that was not released. */
interface Held {
  readonly hold: Hold | undefined;
}

export function holdInForce({ hold }: Held, now: number): Hold | undefined {
  return hold?.until === undefined || now < hold.until ? hold : undefined;
}

/** A hold that is placed takes the place of the one before it. */
export function placeHold(
  state: Held,
  { accountId, until, now }: { accountId: string; until?: number; now: number },
): Decision<EventOf<'HoldPlaced'>> {
  if (until !== undefined && until <= now) {
    return {
      rejected: 'validation_error',
      message: `A hold ends in the future: ${isoDate(until)} has passed.`,
    };
  }
  const present = holdInForce(state, now);
  if (present !== undefined && present.until === until) return [];
  const end = until === undefined ? {} : { until };
  return [{ type: 'HoldPlaced', data: { accountId, ...end, placedAt: now } }];
}

export function releaseHold(
  state: Held,
  { accountId, now }: { accountId: string; now: number },
): Decision<EventOf<'HoldReleased'>> {
  if (holdInForce(state, now) === undefined) {
    return { rejected: 'not_found', message: 'The account is under no hold.' };
  }
  return [{ type: 'HoldReleased', data: { accountId } }];
}

export function eraseUnlessHeld(
  state: Held,
  { accountId, now }: { accountId: string; now: number },
): Decision<EventOf<'AccountErased'>> {
  const hold = holdInForce(state, now);
  if (hold === undefined) return [{ type: 'AccountErased', data: { accountId } }];
  const end = hold.until === undefined ? 'has no end' : `ends ${isoDate(hold.until)}`;
  const message = `The account is under a hold, which was placed ${isoDate(hold.placedAt)} and ${end}.`;
  return { rejected: 'forbidden', message };
}
