/** Conversions: asking for one, following it. */
import {
  type ConversionRow,
  conversionQueries,
  conversions,
} from '../../../projections/conversions.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { conversionRecord } from '../../accounts/records.ts';
import type { Moment } from '../../conversions/moment.ts';
import {
  type AcceptedConversion,
  requestConversion,
} from '../../conversions/request-conversion.ts';
import { type ErrorCode, ServiceError } from '../../errors/errors.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { momentOf, readAsOf } from '../as-of.ts';
import {
  accountInView,
  callerOf,
  commandContext,
  type HttpContext,
  keyTermsOf,
  mayShow,
  pathParameter,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { parseRequest, wholeRequest } from '../conversion-request.ts';
import { recordLookOfAll } from '../operator.ts';
import { countAgainstPlan } from '../middleware/rate-limit.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { assertWorkLeft } from '../request-rules.ts';
import { readTestQuery } from '../test-query.ts';
import { fileLinks } from '../tokens.ts';
import { appliedWait, createUntilEnded, hasEnded, type UntilEnded } from '../waiting.ts';
import { createConversionDoc, getConversionDoc, getConversionFileDoc } from './conversions.api.ts';
import { dispositionOf, sendPdf } from './files.ts';

/** Documents go at the end of their retention: seldom within a minute, and some each hour. */
const ROOM_RETRY_SECONDS = 300;
/** The interval that clients are told to poll at. */
export const POLL_SECONDS = 1;

/**
 * Judges before the body is read, by the read model, which is a moment behind. So an account may pass the
 * limit by the bodies that it sends at once, and by the PDFs of what was accepted before.
 * @throws {BudgetExceeded}
 */
export function assertRoom(
  ctx: HttpContext,
  { budgets, config, readModel }: RouteDependencies,
  bytes = Math.min(Number(ctx.get('Content-Length') || config.maxBodyBytes), config.maxBodyBytes),
  { accountId }: { readonly accountId: string } = callerOf(ctx),
): void {
  const budget = budgets.get('maxAccountStoredBytes');
  const stored = readModel.query(storedBlobQueries).lastingBytesOf(accountId);
  if (stored + bytes <= budget.limit) return;
  budget.refuse();
  throw new BudgetExceeded(
    'client',
    `The account's documents take ${stored} of the ${budget.limit} bytes that it may store. ` +
      'Wait until the retention of older ones has ended, or ask the operator for more.',
    ROOM_RETRY_SECONDS,
  );
}

/** @throws {ServiceError} `not_found` for others' too */
export async function ownConversion(
  ctx: HttpContext,
  deps: RouteDependencies,
  id: string,
  asOf?: bigint,
): Promise<ConversionRow> {
  return await ownOr404(ctx, deps, (await consistentQuery(deps, conversionQueries, asOf)).byId(id));
}

async function ownOr404(
  ctx: HttpContext,
  deps: RouteDependencies,
  row: ConversionRow | undefined,
): Promise<ConversionRow> {
  const accountId = accountInView(ctx);
  const isOwn = row && (accountId === undefined || row.accountId === accountId);
  if (isOwn && mayShow(ctx, row)) {
    await recordLookOfAll(ctx, deps, row);
    return row;
  }
  throw new ServiceError('not_found', 'There is no such conversion.');
}

async function earlierConversion(
  ctx: HttpContext,
  deps: RouteDependencies,
  id: string,
  moment: Moment,
): Promise<ConversionRow> {
  const view = { projection: conversions, queries: conversionQueries, conversionId: id };
  const row = await readAsOf(ctx, deps, moment, view, (queries) => queries.byId(id));
  return await ownOr404(ctx, deps, row);
}

/** The caller's conversion, after the wait that the request prefers, if it prefers one. */
async function awaitedConversion(
  ctx: HttpContext,
  deps: RouteDependencies,
  untilEnded: UntilEnded,
  id: string,
  asOf?: bigint,
): Promise<ConversionRow> {
  const row = await ownConversion(ctx, deps, id, asOf);
  const seconds = appliedWait(ctx) ?? 0;
  if (seconds === 0 || hasEnded(row)) return row;
  await untilEnded(ctx, id, seconds);
  return await ownConversion(ctx, deps, id);
}

/** @throws {ServiceError} `conversion_failed` with its reason */
async function refuseFailed(deps: RouteDependencies, row: ConversionRow): Promise<void> {
  if (row.status !== 'failed') return;
  const { accountId, errorMessage } = row;
  const reason = errorMessage && (await deps.vault.unseal(accountId, errorMessage));
  throw new ServiceError('conversion_failed', reason);
}

/** @throws {ServiceError} `conversion_failed` or `not_ready` */
export async function refuseUnlessCompleted(
  deps: RouteDependencies,
  row: ConversionRow,
): Promise<void> {
  await refuseFailed(deps, row);
  if (row.status === 'completed') return;
  throw new ServiceError('not_ready', undefined, { retryAfter: POLL_SECONDS });
}

const TOLD: ReadonlySet<ErrorCode> = new Set(['conversion_failed', 'gone']);

/**
 * Answers with what has become of an accepted conversion, once it has ended: its record, or its PDF where
 * the client would rather have that. An error in between does not undo the acceptance, so it is logged only.
 * @returns false where that cannot be said now
 * @throws {ServiceError} `conversion_failed` or `gone` in the place of a PDF
 */
async function answeredByOutcome(
  ctx: HttpContext,
  deps: RouteDependencies,
  untilEnded: UntilEnded,
  id: string,
): Promise<boolean> {
  try {
    const row = await awaitedConversion(ctx, deps, untilEnded, id);
    if (!hasEnded(row)) return false;
    const { format = 'pdf' } = row;
    if (ctx.accepts('json', format) === format) {
      await refuseFailed(deps, row);
      await sendPdf(ctx, deps, row);
    } else ctx.body = await recordOf(ctx, deps, row);
    return true;
  } catch (err) {
    if (err instanceof ServiceError && TOLD.has(err.code)) throw err;
    ctx.state.log.warn({ err }, 'The outcome of an accepted conversion could not be answered.');
    return false;
  }
}

/** Answers with the accepted conversion, or with what has become of it where the client waits for that. */
export async function answerRequested(
  ctx: HttpContext,
  deps: RouteDependencies,
  untilEnded: UntilEnded,
  { conversionId, requestedAt, replayed }: AcceptedConversion,
): Promise<void> {
  if (replayed) ctx.set('Idempotent-Replayed', 'true');
  const path = ctx.path.replace(
    /(pdf|documents|usage|conversions)\/.*$/,
    `conversions/${conversionId}/`,
  );
  ctx.set('Location', new URL(path, deps.publicUrl).href);
  const waits = appliedWait(ctx) !== undefined;
  if (waits && (await answeredByOutcome(ctx, deps, untilEnded, conversionId))) return;
  ctx.status = 202;
  ctx.set('Retry-After', String(POLL_SECONDS));
  // Derived from the first acceptance alone: a replay gives the same bytes.
  ctx.body = { id: conversionId, status: 'pending', created_at: isoTime(requestedAt) };
}

export const createConversion: Endpoint = {
  doc: createConversionDoc,
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      await countAgainstPlan(deps, ctx);
      readTestQuery(ctx);
      assertRoom(ctx, deps);
      await deps.bounds.admit(callerOf(ctx).accountId);
      const requested = await deps.bodies.read(
        ctx,
        deps.config.maxBodyBytes,
        (body) => parseRequest(ctx, deps, body),
        async (parsed, hold) => {
          const request = await wholeRequest(ctx, deps, parsed, hold);
          if ('replayed' in request) return request;
          await assertWorkLeft(deps, { ...request, requests: [request] });
          const asked = { ...request, terms: keyTermsOf(ctx), trace: deps.tracing?.current() };
          return await requestConversion(deps, asked, await commandContext(ctx, deps));
        },
        { forms: true },
      );
      await answerRequested(ctx, deps, untilEnded, requested);
    };
  },
};

export const getConversion: Endpoint = {
  doc: getConversionDoc,
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      const id = pathParameter(ctx, 'id');
      const moment = validated((issues) => momentOf(ctx, deps, issues));
      // The past waits for nothing.
      const row = await (moment === undefined
        ? awaitedConversion(ctx, deps, untilEnded, id, ctx.state.asOf)
        : earlierConversion(ctx, deps, id, moment));
      ctx.body = await recordOf(ctx, deps, row);
    };
  },
};

export const getConversionFile: Endpoint = {
  doc: getConversionFileDoc,
  handler: (deps) => {
    const untilEnded = createUntilEnded(deps);
    return async (ctx) => {
      const disposition = dispositionOf(ctx);
      const id = pathParameter(ctx, 'id');
      const row = await awaitedConversion(ctx, deps, untilEnded, id, ctx.state.asOf);
      await refuseUnlessCompleted(deps, row);
      await sendPdf(ctx, deps, row, { disposition });
    };
  },
};

/** Makes links for callers who may read documents. */
const linkFor = (ctx: HttpContext, { fileTokens, config, publicUrl }: RouteDependencies) =>
  ctx.state.caller?.mayReadDocuments === false
    ? undefined
    : fileLinks(fileTokens, config.fileUrlTtlSeconds, () => publicUrl);

/**
 * The Conversion resource as the interface shapes it, with a fresh link if it is completed and the caller may read it.
 * @throws {KeyErased}
 */
export const recordOf = (ctx: HttpContext, deps: RouteDependencies, row: ConversionRow) =>
  conversionRecord(deps.vault, row, 'single', linkFor(ctx, deps));

/** The same as it stands in lists: always with its name. @throws {KeyErased} */
export const listedRecordOf = (ctx: HttpContext, deps: RouteDependencies, row: ConversionRow) =>
  conversionRecord(deps.vault, row, 'listed', linkFor(ctx, deps));
