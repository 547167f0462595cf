/** The query parameter `as_of`: the answer as it was at an earlier moment. */
import type { Hold, View } from '../conversions/look-back.ts';
import { type Moment, momentIn } from '../conversions/moment.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import type { ValidationIssues } from '../requests/validation.ts';
import { callerOf, disconnection, type HttpContext, isByOperatorSocket } from './context.ts';
import type { RouteDependencies } from './dependencies.ts';
import { inQuery, type ParameterDoc, wrongField } from './openapi/operation.ts';

export const AS_OF: ParameterDoc = inQuery(
  'as_of',
  'Answers as of an earlier moment, from the events up to then: a time in ISO 8601 with the offset from UTC, or a position of the log, such as an event of the history has. The header Pressledger-As-Of of the response has the position that the moment stands for.',
);

export const WRONG_MOMENT = wrongField(
  'as_of',
  'Lies beyond the end of the log: give a position up to 4711, or a time.',
  'as_of is not a moment, lies in the future or beyond the end of the log, or the response would take too long to work out.',
);

/** The moment that the request asks for; undefined for now. */
export function momentOf(
  ctx: HttpContext,
  { clock }: Pick<RouteDependencies, 'clock'>,
  issues: ValidationIssues,
): Moment | undefined {
  const { as_of: text } = ctx.query;
  if (text === undefined) return undefined;
  const present = { now: clock.now(), head: ctx.state.asOf ?? 0n };
  return momentIn(text, present, (problem) => issues.add('as_of', problem));
}

export const lookBacksFor = (ctx: HttpContext, deps: RouteDependencies) =>
  isByOperatorSocket(ctx) ? deps.operatorLookBacks : deps.lookBacks;

/** Reads from the queries of the caller's view as they answer now, or did at the moment. */
export async function readAsOf<Q, R>(
  ctx: HttpContext,
  deps: RouteDependencies,
  moment: Moment | undefined,
  view: Omit<View<Q>, 'accountId'>,
  read: (queries: Q) => R,
  hold?: Hold,
): Promise<R> {
  const { asOf: head } = ctx.state;
  if (moment === undefined) return read(await consistentQuery(deps, view.queries, head));
  const whole = { ...view, accountId: callerOf(ctx).accountId };
  const from = { head: head ?? (await deps.store.head()), gone: disconnection(ctx) };
  const asker = hold === undefined ? from : { ...from, hold };
  const { answer, position } = await lookBacksFor(ctx, deps).read(whole, moment, asker, read);
  ctx.set('Pressledger-As-Of', String(position));
  return answer;
}
