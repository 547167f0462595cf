/** Taking conversions back: cancelling, deleting the documents of what has ended, and asking once more. */
import { worksOnPdf } from '../../conversions/failed-work.ts';
import { retryConversion } from '../../conversions/retry-conversion.ts';
import { findRequest, readStoredRequest } from '../../conversions/stored-request.ts';
import { takeBack } from '../../conversions/take-back.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import { ServiceError } from '../../errors/errors.ts';
import { onceMore } from '../../requests/once-more.ts';
import { validated } from '../../requests/validation.ts';
import { commandContext, type HttpContext, keyTermsOf, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { readTestQuery, testParameter } from '../test-query.ts';
import { countAgainstPlan } from '../middleware/rate-limit.ts';
import type { Endpoint, OperationDoc } from '../openapi/operation.ts';
import { acceptedEarlier, requestKeyOf, requestRules } from '../request-rules.ts';
import { createUntilEnded, hasEnded } from '../waiting.ts';
import { countBytes, goneText, orGone } from './conversion-documents.ts';
import { rerendered, retried } from './conversion-record.api.ts';
import { prefer, REQUESTED } from './conversions.api.ts';
import { answerRequested, assertRoom, ownConversion, POLL_SECONDS } from './conversions.ts';
import { assertInRetention } from './file-retention.ts';

export const deleteConversion: Endpoint = {
  doc: {
    id: 'deleteConversion',
    tag: 'Conversions',
    summary: 'Cancel a conversion, or delete its documents',
    description:
      'An unfinished conversion is cancelled: it has failed with the failure_code cancelled, its credit is refunded, and a page that is being rendered is given up. What is stored of it, or of a conversion that has ended, is deleted before the response: its request, its PDF and all else. Its record and its history stay. It is safe to repeat.',
    answers: {
      204: {
        description:
          'It was cancelled, or had ended, and its documents are deleted. There is no body.',
      },
    },
    errors: {
      on_hold:
        'The conversion has ended and its account is under a hold. What is unfinished can be cancelled nevertheless; its request then stays until the hold ends.',
    },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await takeBack(deps, row, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};

const NOTHING_TO_COMPARE =
  'The conversion failed: it has no PDF to compare with. Convert its request once more with POST /conversions/{id}/retry/.';
const SEND_AGAIN = 'Send it again with POST /pdf/.';

async function requestOnceMore(
  ctx: HttpContext,
  deps: RouteDependencies,
  act: 'retry' | 'rerender',
) {
  const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
  const { accountId, id } = row;
  // The same key for another conversion asks for another one.
  const key = validated((issues) => requestKeyOf(ctx, deps, issues, `${act}/${id}`));
  const earlier = await acceptedEarlier(deps, accountId, key);
  if (earlier !== undefined) return earlier;
  if (!hasEnded(row)) throw new ServiceError('not_ready', undefined, { retryAfter: POLL_SECONDS });
  if (act === 'rerender' && row.status === 'failed') {
    throw new ServiceError('conversion_failed', NOTHING_TO_COMPARE);
  }
  const terms = keyTermsOf(ctx);
  const message = `${goneText('request', row)} ${SEND_AGAIN}`;
  await assertInRetention(deps, row, message);
  const { requested } = await findRequest(deps, row, ctx.state.asOf);
  if (worksOnPdf(requested)) deps.failedWork.assertLeft(accountId);
  const { bytes } = requested.request;
  assertRoom(ctx, deps, bytes, row);
  await deps.bounds.admit(accountId);
  countBytes(ctx, deps, accountId, bytes);
  const how = { ...key, terms, trace: deps.tracing?.current() };
  const context = await commandContext(ctx, deps);
  const as = act === 'retry' ? 'retryOf' : 'rerenderOf';
  const rules = await requestRules(ctx, deps, { accountId });
  const stored = await orGone(readStoredRequest(deps, requested), message);
  const document = JSON.parse(stored.toString('utf8')) as RequestDocument;
  const again = validated((issues) => onceMore(issues, requested, document, rules));
  return await orGone(retryConversion(deps, requested, again, as, how, context), message);
}

/** The operation of a route that asks for a stored request again. */
const askOnceMore = (
  act: 'retry' | 'rerender',
  doc: Pick<OperationDoc, 'id' | 'summary' | 'description'>,
  ended: typeof retried | typeof rerendered,
  failed: OperationDoc['errors'],
): Endpoint => ({
  doc: {
    ...doc,
    tag: 'Conversions',
    parameters: [
      idempotencyKeyParameter('gets the same response, and no further credit is taken'),
      prefer('With Accept: application/pdf, the response is the PDF itself.'),
      testParameter,
    ],
    answers: { ...REQUESTED, 200: { ...REQUESTED[200], examples: ended } },
    errors: {
      insufficient_credits:
        'The account has no credits left, or the API key has used all of its own for this month.',
      ...failed,
      rate_limit_exceeded:
        'The rate limit was exceeded; the documents of the account use all of its storage; its unfinished conversions take its share of the queue; or it is work on PDFs, and such work that failed has taken all the time of a minute that it may.',
      validation_error: {
        when: 'The Idempotency-Key is invalid, or a query parameter is unknown; or the PDF is to be signed or to have a link to the page for checking it, and now nothing can be signed or that page is not offered.',
        message: 'Idempotency-Key: Must be 1 to 255 printable ASCII characters.',
        details: { 'Idempotency-Key': ['Must be 1 to 255 printable ASCII characters.'] },
      },
      not_ready: 'The conversion has not ended yet: there is nothing to repeat.',
      gone: {
        when: 'Its request was deleted, as that of a cancelled conversion is at once.',
        message: `${goneText('request')} ${SEND_AGAIN}`,
      },
    },
  },
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      await countAgainstPlan(deps, ctx);
      readTestQuery(ctx);
      await answerRequested(ctx, deps, untilEnded, await requestOnceMore(ctx, deps, act));
    };
  },
});

export const postRetry = askOnceMore(
  'retry',
  {
    id: 'retryConversion',
    summary: 'Convert a request once more',
    description:
      'Makes a new conversion of the stored request of one that has completed or failed, with the same options and names. It costs a credit as the first one did, and its record names that one in retry_of. Request and answer are like those of POST /pdf/, but there is no body.',
  },
  retried,
  {
    conversion_failed: {
      when: 'The request waited for the PDF, and the new conversion failed. The credit is refunded.',
      message: 'The page answered with status 404.',
    },
  },
);

export const postRerender = askOnceMore(
  'rerender',
  {
    id: 'rerenderConversion',
    summary: 'Render a request again and compare',
    description:
      'Makes a new conversion of the stored request of one that has completed, and compares its PDF with the first one. A URL is fetched again. It costs a credit as the first one did. Its record names that one in rerender_of, and once it has completed, rerender says whether the bytes are equal, or which pages show something else. Request and answer are like those of POST /pdf/, but there is no body.',
  },
  rerendered,
  {
    conversion_failed: {
      when: 'The conversion failed, so there is no PDF to compare with; or the request waited for the PDF, and the new conversion failed. The credit is refunded.',
      message: NOTHING_TO_COMPARE,
    },
  },
);
