/** The failures of conversions of all accounts, for operators. Nothing in them quotes a document. */
import Type from 'typebox';
import { accountQueries } from '../../../projections/accounts.ts';
import { type FailureFilter, failureQueries } from '../../../projections/failures.ts';
import { openerUnlessErased } from '../../conversions/state.ts';
import { FAILURE_CODES } from '../../domain/choices.ts';
import { Source } from '../../domain/event-fields.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { type ValidationIssues, validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import type { HttpContext } from '../context.ts';
import { Closed, Count, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, inQuery, wrongField } from '../openapi/operation.ts';
import {
  checkQuery,
  PAGE_PARAMETERS,
  pageOf,
  pageOfItems,
  sendPage,
  WRONG_QUERY,
} from '../pagination.ts';
import { type Period, periodOf, periodParameters } from '../period.ts';

const Code = Type.Enum([...FAILURE_CODES], { examples: ['timeout'] });
const Kind = OrNull(
  Type.Enum(Source.enum, {
    description: 'What the conversion was made from; null: its account was erased.',
    examples: ['html'],
  }),
);
const Renderer = Text(
  'renderer-06f3k8r1v2',
  'The renderer that reported it; service where no renderer did.',
);

/** One item of `GET /operator/failures/`. */
export const Failure = Closed({
  conversion_id: Text('conv_06f3k8r1v2w9x4y5z6a7b8c9d0'),
  account_id: Text('acct_06f3k8r1v2w9x4y5z6a7b8c9d0'),
  email: OrNull(Text('ada@example.com', 'null: the account was erased.')),
  time: Timestamp('The time of the failure.'),
  code: Code,
  source: Kind,
  attempt: Count('The attempt that failed.', 1),
  renderer: Renderer,
});

/** One item of `GET /operator/failures/groups/`. */
export const FailureGroup = Closed({
  code: Code,
  source: Kind,
  renderer: Renderer,
  count: Count('The failures that have all three in common.', 8, 1),
  last_at: Timestamp('The time of the last one.'),
  last_conversion_id: Text('conv_06f3k8r1v2w9x4y5z6a7b8c9d0', 'The last one.'),
});

const LATEST = 'The latest 10000 failures of conversions of all accounts';
const FILTERS = ['code', 'source', 'renderer'] as const;

const choice = (name: string, choices: readonly string[]) =>
  `Must be a ${name}: ${choices.join(', ')}.`;

function filterOf({ query }: HttpContext, issues: ValidationIssues): FailureFilter {
  const one = <T extends string>(name: string, choices: readonly T[]): T | undefined => {
    const text = query[name];
    const found = choices.find((each) => each === text);
    if (text !== undefined && found === undefined) issues.add(name, choice(name, choices));
    return found;
  };
  const code = one('code', FAILURE_CODES);
  const source = one('source', Source.enum);
  const { renderer } = query;
  return {
    ...(code !== undefined && { code }),
    ...(source !== undefined && { source }),
    ...(typeof renderer === 'string' && { renderer }),
  };
}

export const listFailures: Endpoint = {
  doc: {
    id: 'listFailures',
    tag: 'Operators',
    summary: 'List failures',
    description: `${LATEST}, newest first. The texts that quote documents are for their accounts alone.`,
    parameters: [
      ...PAGE_PARAMETERS,
      ...periodParameters('Failures'),
      inQuery('code', 'Failures with this code.'),
      inQuery('source', 'Failures of conversions that were made from this.'),
      inQuery('renderer', 'Failures that this renderer reported.'),
    ],
    answers: { 200: pageOfItems(Failure) },
    errors: {
      validation_error: wrongField('code', choice('code', FAILURE_CODES), WRONG_QUERY.when),
    },
  },
  handler: (deps) => async (ctx) => {
    const [page, filter, period] = validated(
      (issues) =>
        [
          pageOf(ctx, issues, [...FILTERS, 'from', 'to']),
          filterOf(ctx, issues),
          periodOf(ctx, issues),
        ] as const,
    );
    const queries = await consistentQuery(deps, failureQueries, ctx.state.asOf);
    const { rows, total } = queries.page(page, { ...filter, ...period });
    const accounts = deps.readModel.query(accountQueries);
    const opener = openerUnlessErased(deps.vault);
    const known = rows.map((row) => ({ ...row, sealed: accounts.byId(row.accountId)?.email }));
    const failures = known.map(async ({ conversionId, accountId, failedAt, sealed, ...row }) => ({
      conversion_id: conversionId,
      account_id: accountId,
      email: (sealed && (await opener.unseal(accountId, sealed))) ?? null,
      time: isoTime(failedAt),
      ...row,
    }));
    sendPage(ctx, deps.publicUrl, page, total, await Promise.all(failures));
  },
};

export const listFailureGroups: Endpoint = {
  doc: {
    id: 'listFailureGroups',
    tag: 'Operators',
    summary: 'List failures by reason, renderer and kind',
    description: `${LATEST}, counted by what they have in common: most first, at most 100.`,
    parameters: periodParameters('Failures'),
    answers: {
      200: { description: 'The groups.', schema: Type.Array(FailureGroup) },
    },
  },
  handler: (deps) => async (ctx) => {
    const period = validated((issues): Period => {
      checkQuery(ctx, issues, ['from', 'to']);
      return periodOf(ctx, issues);
    });
    const queries = await consistentQuery(deps, failureQueries, ctx.state.asOf);
    ctx.body = queries.groups(period).map(({ lastAt, lastConversionId, ...group }) => ({
      ...group,
      last_at: isoTime(lastAt),
      last_conversion_id: lastConversionId,
    }));
  },
};
