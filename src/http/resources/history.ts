/** Lists the events of the account, and of one of its conversions, for the account itself. */
import {
  type HistoryFilter,
  historyQueries,
  MAX_FILTERED_EVENTS,
} from '../../../projections/history.ts';
import { type HistoryPage, readHistory } from '../../conversions/history.ts';
import { EVENT_TYPES } from '../../domain/events.ts';
import { CONVERSION_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { callerOf, type HttpContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { periodOf } from '../period.ts';
import { ownConversion } from './conversions.ts';

const FILTERS = ['type', 'actor', 'from', 'to'] as const;
const ACTOR = /^[a-z]+(:[\x21-\x7e]{1,200})?$/;
const WHOLE_CONVERSION_ID = new RegExp(`^${CONVERSION_ID}$`);

function filterOf(ctx: HttpContext, issues: ValidationIssues): HistoryFilter {
  const { type, actor, conversion_id: conversionId } = ctx.query;
  const knownType = EVENT_TYPES.find((each) => each === type);
  if (type !== undefined && knownType === undefined) {
    issues.add('type', `Must be one of ${EVENT_TYPES.join(', ')}.`);
  }
  const isActor = typeof actor === 'string' && ACTOR.test(actor);
  if (actor !== undefined && !isActor) {
    issues.add('actor', 'Must be a kind such as key, or a kind and an id such as key:key_1a2b3c.');
  }
  const isConversion = typeof conversionId === 'string' && WHOLE_CONVERSION_ID.test(conversionId);
  if (conversionId !== undefined && !isConversion) {
    issues.add('conversion_id', 'Must be the id of a conversion.');
  }
  return {
    ...(knownType && { type: knownType }),
    ...(isActor && { actor }),
    ...(isConversion && { conversionId }),
    ...periodOf(ctx, issues),
  };
}

/** @throws {ServiceError} `validation_error` where the filter would look at too many events */
async function assertBounded(
  ctx: HttpContext,
  deps: RouteDependencies,
  filter: HistoryFilter,
): Promise<void> {
  const queries = await consistentQuery(deps, historyQueries, ctx.state.asOf);
  const earliest = queries.earliestFrom(callerOf(ctx).accountId, filter);
  if (earliest === undefined) return;
  const message =
    `With type or actor, no more than ${MAX_FILTERED_EVENTS} events are searched. ` +
    `Give from=${isoTime(earliest)} or later; with that time as to, the next request goes on before it.`;
  throw new ServiceError('validation_error', `from: ${message}`, { details: { from: [message] } });
}

async function sendHistory(
  ctx: HttpContext,
  deps: RouteDependencies,
  order: HistoryPage['order'],
  of: HistoryFilter = {},
): Promise<void> {
  const issues = new ValidationIssues();
  const isOfConversion = of.conversionId !== undefined;
  const page = pageOf(ctx, issues, isOfConversion ? FILTERS : [...FILTERS, 'conversion_id']);
  const filter = { ...filterOf(ctx, issues), ...of };
  issues.throwIfAny();
  const { accountId } = callerOf(ctx);
  await assertBounded(ctx, deps, filter);
  const { asOf } = ctx.state;
  const { entries, total } = await readHistory(deps, accountId, filter, { ...page, order, asOf });
  sendPage(ctx, deps.publicUrl, page, total, entries);
}

export function listAccountEvents(deps: RouteDependencies): HttpMiddleware {
  return (ctx) => sendHistory(ctx, deps, 'newest first');
}

export function listConversionEvents(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    await sendHistory(ctx, deps, 'oldest first', { conversionId });
  };
}
