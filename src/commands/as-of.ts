/** `--as-of`: the answer of a command as it was at an earlier moment. */

import type { View } from '../conversions/look-back.ts';
import { type Moment, momentIn } from '../conversions/moment.ts';
import type { Core } from '../service/core.ts';
import { isoTime, systemClock } from '../time/clock.ts';
import { type Invocation, textOption, UsageError } from './command.ts';

/**
 * Called without `head` first, so that wrong usage is reported before a store is opened.
 * @param head the log's, beyond which there is no position
 * @throws {UsageError} it is not a moment, or not a past one
 */
export function momentOption(invocation: Invocation, head?: bigint): Moment | undefined {
  const text = textOption(invocation, 'as-of');
  if (text === undefined) return undefined;
  return momentIn(text, { now: systemClock.now(), head }, (problem) => {
    throw new UsageError(`--as-of: ${problem}`);
  });
}

export const momentText = (moment: Moment): string =>
  'time' in moment ? isoTime(moment.time) : String(moment.position);

/** Reads from the queries of a view as they answer now, or did at the moment. */
export async function readAsOf<Q, R>(
  core: Core,
  moment: Moment | undefined,
  view: View<Q>,
  read: (queries: Q) => R,
): Promise<R> {
  if (moment === undefined) {
    await core.caughtUp();
    return read(core.readModel.query(view.queries));
  }
  const { LookBacks, operatorLimits } = await import('../conversions/look-back.ts');
  const lookBacks = new LookBacks({ ...core, streams: core.store }, operatorLimits());
  const asker = { head: await core.store.head() };
  return (await lookBacks.read(view, moment, asker, read)).answer;
}

/** The same for a service, which judges it. */
export function pastOf(invocation: Invocation): { readonly asOf?: string } {
  const asOf = textOption(invocation, 'as-of');
  return asOf === undefined ? {} : { asOf };
}
