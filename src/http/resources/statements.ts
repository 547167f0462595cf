/** The statement of an account for a month: a conversion like any other, of a page of ours, which costs nothing. */
import Type from 'typebox';
import { requestConversion } from '../../conversions/request-conversion.ts';
import { readStatement } from '../../conversions/statement.ts';
import { monthText, statementHtml } from '../../conversions/statement-page.ts';
import { checkConversionRequest } from '../../requests/validate.ts';
import { compile, ValidationIssues, validated } from '../../requests/validation.ts';
import { storable } from '../conversion-request.ts';
import { callerOf, commandContext, type HttpContext, keyTermsOf } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { countAgainstPlan } from '../middleware/rate-limit.ts';
import { Closed } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { acceptedEarlier, requestKeyOf, requestRules } from '../request-rules.ts';
import { createUntilEnded } from '../waiting.ts';
import { completed, failed } from './conversion-record.api.ts';
import { prefer, REQUESTED } from './conversions.api.ts';
import { answerRequested, assertRoom } from './conversions.ts';

/** The body of `POST /usage/statements/`. */
export const StatementRequest = Closed({
  month: Type.String({
    description: 'A month in UTC that is over.',
    minLength: 7,
    maxLength: 7,
    examples: ['2026-10'],
  }),
});

const NAME = 'statement-2026-10.pdf';
const NAMES = { name: NAME, filename: NAME, tags: { statement: '2026-10' } };
const ENDED = { completed: { ...completed, ...NAMES }, failed: { ...failed, ...NAMES } };

const check = compile(StatementRequest);
const NOT_OVER = 'The month is not over yet. Ask for an earlier one.';

async function requestStatement(ctx: HttpContext, deps: RouteDependencies) {
  const { month } = await deps.bodies.readSmall(ctx, deps.config, check);
  const { accountId } = callerOf(ctx);
  const key = validated((issues) => requestKeyOf(ctx, deps, issues, 'statements'));
  const earlier = await acceptedEarlier(deps, accountId, key);
  if (earlier !== undefined) return earlier;
  const statement = await readStatement(deps, accountId, month, deps.clock.now());
  const rules = await requestRules(ctx, deps);
  const title = `Statement of ${monthText(month)}`;
  const issues = new ValidationIssues();
  const asked = {
    html: statementHtml(statement),
    javascript: false,
    margin_top: '2cm',
    margin_bottom: '2cm',
    margin_left: '2cm',
    margin_right: '2cm',
    footer_html: `<div style="font: 8px sans-serif; width: 100%; text-align: center; color: #57606a">${title} · ${accountId} · page <span class="pageNumber"></span> of <span class="totalPages"></span></div>`,
    filename: `statement-${month}.pdf`,
    tags: { statement: month },
    metadata: { title },
    ...(rules.signing?.by !== undefined && { pdf: { sign: { reason: title } } }),
  };
  const checked = checkConversionRequest(asked, issues, rules);
  issues.throwIfAny();
  const { replaces } = statement;
  const request = {
    accountId,
    ...storable(checked),
    ...key,
    statement: { month, ...(replaces !== undefined && { replaces }) },
    terms: keyTermsOf(ctx),
    trace: deps.tracing?.current(),
  };
  return await requestConversion(deps, request, await commandContext(ctx, deps));
}

export const createStatement: Endpoint = {
  doc: {
    id: 'createStatement',
    tag: 'Account',
    summary: 'Make the statement of a month',
    description:
      'Prints a PDF of what the account used in a month that is over: credits and balances, conversions by result, by key and person and by day, and the events of the log that prove it, with the checkpoint that covers them. It is a conversion like any other, with a history and a proof, and is signed where the account or the service has a certificate. It costs no credit. Another one of the same month says which it replaces. The tag `statement` finds it in the list of conversions.',
    parameters: [
      idempotencyKeyParameter('gets the same response, and no other statement is made'),
      prefer('With Accept: application/pdf, the response is the PDF itself.'),
    ],
    body: { schema: StatementRequest },
    answers: { ...REQUESTED, 200: { ...REQUESTED[200], examples: ENDED } },
    errors: {
      validation_error: {
        when: 'The month is not one, it is not over, or the account was opened after it; or the Idempotency-Key is invalid.',
        message: `month: ${NOT_OVER}`,
        details: { month: [NOT_OVER] },
      },
      conversion_failed: {
        when: 'The request waited for the PDF, and the conversion failed.',
        message: 'The conversion took longer than 30 seconds.',
      },
      gone: 'The PDF of an earlier request with this Idempotency-Key has been deleted.',
      rate_limit_exceeded:
        'The rate limit was exceeded; the documents of the account use all of its storage; or its unfinished conversions take its share of the queue.',
    },
  },
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      await countAgainstPlan(deps, ctx);
      assertRoom(ctx, deps);
      await deps.bounds.admit(callerOf(ctx).accountId);
      await answerRequested(ctx, deps, untilEnded, await requestStatement(ctx, deps));
    };
  },
};
