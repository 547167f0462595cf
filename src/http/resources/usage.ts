/** The conversions of the account, by day. */
import Type from 'typebox';
import { DAY_MS, type UsageDay as Day, usageQueries } from '../../../projections/usage.ts';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { dayIn } from '../../time/clock.ts';
import { callerOf, type HttpContext } from '../context.ts';
import { type Cell, sendCsv, wantsCsv } from '../csv.ts';
import { Closed, Count, Text } from '../openapi/fields.ts';
import { type Endpoint, inQuery, wrongField } from '../openapi/operation.ts';
import { checkQuery, WRONG_QUERY } from '../pagination.ts';

/** The most days of one answer. */
export const MAX_DAYS = 3_660;
export const USUAL_DAYS = 30;
export const WRONG_DAY = 'Must be a day in UTC, such as 2026-11-21.';

export const UsageDay = Closed({
  day: Text('2026-11-21', 'The day in UTC.', { format: 'date' }),
  accepted: Count('The conversions that were accepted.', 12),
  completed: Count('The conversions that completed.', 11),
  failed: Count('The conversions that failed.', 1),
  pages: Count('The pages of all PDFs that were made.', 40),
  bytes: Count('The size of all PDFs that were made.', 512_000),
  tests: Count('The accepted conversions that are tests: they cost no credit.', 0),
  failures: Type.Record(Type.String(), Type.Integer({ minimum: 1 }), {
    description: `The failures by their code: ${FAILURE_CODES.join(', ')}.`,
    examples: [{ timeout: 1 }],
  }),
});

/** The answer of `GET /account/usage/`. */
export const Usage = Closed({
  days: Type.Array(UsageDay, { description: 'Days without any are left out.' }),
});

function dayOf(ctx: HttpContext, name: 'from' | 'to', issues: ValidationIssues) {
  const text = ctx.query[name];
  if (text === undefined) return undefined;
  const time = typeof text === 'string' ? dayIn(text) : undefined;
  if (time !== undefined) return time / DAY_MS;
  issues.add(name, WRONG_DAY);
  return undefined;
}

const dateText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

const COLUMNS = [
  'day',
  'accepted',
  'completed',
  'failed',
  'pages',
  'bytes',
  ...FAILURE_CODES,
  'tests',
];

const cellsOf = ({ day, failures, ...counts }: Day): readonly Cell[] => [
  dateText(day),
  counts.accepted,
  counts.completed,
  counts.failed,
  counts.pages,
  counts.bytes,
  ...FAILURE_CODES.map((code) => failures[code] ?? 0),
  counts.tests,
];

/** The days as the API shows them. */
export const usageDays = (days: readonly Day[]) =>
  days.map(({ day, ...counts }) => ({ day: dateText(day), ...counts }));

export const getUsage: Endpoint = {
  doc: {
    id: 'getUsage',
    tag: 'Account',
    summary: 'Retrieve the usage by day',
    description: `Conversions, pages and bytes of each day in UTC, oldest first. Each number counts on the day when it happened. With \`Accept: text/csv\`, the response is a table with a column for each failure code.`,
    parameters: [
      inQuery(
        'from',
        `The first day, such as 2026-11-01. Default: ${USUAL_DAYS} days up to the last.`,
      ),
      inQuery('to', 'The last day. Default: today.'),
    ],
    answers: { 200: { description: 'The usage.', schema: Usage, media: 'text/csv' } },
    errors: {
      validation_error: wrongField('from', WRONG_DAY, WRONG_QUERY.when),
    },
  },
  handler: (deps) => async (ctx) => {
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
    ctx.body = { days: usageDays(days) };
  },
};
