/** The conversions of the account, by day. */
import { DAY_MS, type UsageDay, usageQueries } from '../../../projections/usage.ts';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { dayIn } from '../../time/clock.ts';
import { callerOf, type HttpContext, type HttpMiddleware } from '../context.ts';
import { type Cell, sendCsv, wantsCsv } from '../csv.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { checkQuery } from '../pagination.ts';
import { MAX_DAYS, USUAL_DAYS, WRONG_DAY } from './usage.api.ts';

function dayOf(ctx: HttpContext, name: 'from' | 'to', issues: ValidationIssues) {
  const text = ctx.query[name];
  if (text === undefined) return undefined;
  const time = typeof text === 'string' ? dayIn(text) : undefined;
  if (time !== undefined) return time / DAY_MS;
  issues.add(name, WRONG_DAY);
  return undefined;
}

const dateText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const COLUMNS = ['day', 'accepted', 'completed', 'failed', 'pages', 'bytes', ...FAILURE_CODES];

const cellsOf = ({ day, failures, ...counts }: UsageDay): readonly Cell[] => [
  dateText(day),
  counts.accepted,
  counts.completed,
  counts.failed,
  counts.pages,
  counts.bytes,
  ...FAILURE_CODES.map((code) => failures[code] ?? 0),
];

export function getUsage(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const issues = new ValidationIssues();
    checkQuery(ctx, issues, ['from', 'to']);
    const last = dayOf(ctx, 'to', issues) ?? Math.floor(deps.clock.now() / DAY_MS);
    const first = dayOf(ctx, 'from', issues) ?? last - USUAL_DAYS + 1;
    if (first > last) issues.add('from', 'Must not be later than to.');
    if (last - first >= MAX_DAYS) issues.add('from', `Must be within ${MAX_DAYS} days before to.`);
    issues.throwIfAny();
    const queries = await consistentQuery(deps, usageQueries, ctx.state.asOf);
    const days = queries.days(callerOf(ctx).accountId, first, last);
    ctx.vary('Accept');
    if (wantsCsv(ctx)) return sendCsv(ctx, 'usage.csv', COLUMNS, [days.map(cellsOf)]);
    ctx.body = { days: days.map(({ day, ...counts }) => ({ day: dateText(day), ...counts })) };
  };
}
