/** Batches: asking for many conversions at once, and following them. */
import { type BatchRow, batchQueries } from '../../../projections/batches.ts';
import { batchRecord } from '../../accounts/records.ts';
import { type RequestedBatch, requestBatch } from '../../conversions/request-batch.ts';
import { cancelBatch } from '../../conversions/take-back.ts';
import { MAX_BATCH } from '../../domain/acceptance.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues, validated } from '../../requests/validation.ts';
import {
  callerOf,
  commandContext,
  type HttpContext,
  keyTermsOf,
  mayShow,
  seesTestsOnly,
  pathParameter,
} from '../context.ts';
import { namesTemplate, wholeBatch } from '../conversion-request.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { HoldBytes } from '../middleware/body.ts';
import { countAgainstPlan } from '../middleware/rate-limit.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { readTestQuery } from '../test-query.ts';
import { appliedWait, createUntilBatchEnded } from '../waiting.ts';
import { acceptedEarlier, assertWorkLeft, requestKeyOf, requestRules } from '../request-rules.ts';
import { createBatchDoc, deleteBatchDoc, getBatchDoc, listBatchesDoc } from './batches.api.ts';
import { assertRoom, POLL_SECONDS } from './conversions.ts';

/** Fields that an answer names: one of each request, and some more. */
const MAX_NAMED = 2 * MAX_BATCH;
/** A request of a batch has fewer values than a single one may have, but for what its files have. */
const MAX_VALUES = 200 * MAX_BATCH;

async function parseBatch(ctx: HttpContext, deps: RouteDependencies, body: object) {
  const issues = new ValidationIssues(MAX_NAMED);
  const { accountId } = callerOf(ctx);
  const key = requestKeyOf(ctx, deps, issues, 'batch');
  const rules = await requestRules(ctx, deps, { ...key, body });
  const whole = async (hold: HoldBytes) => {
    const { requests, texts } = await wholeBatch(deps, accountId, body, { rules, issues, hold });
    issues.throwIfAny();
    return { accountId, requests, texts, ...key };
  };
  // Templates take longer: nobody's body waits for them to be filled.
  if (!namesTemplate(body)) return await whole(() => {});
  const isRight = async (): Promise<boolean> => {
    const alone = new ValidationIssues(MAX_NAMED);
    await wholeBatch(deps, accountId, body, { rules, issues: alone });
    return !alone.any;
  };
  return { whole, isRight, key };
}

/** @throws {ServiceError} `not_found` for others' too */
export async function ownBatch(
  ctx: HttpContext,
  deps: RouteDependencies,
  id: string,
  asOf?: bigint,
): Promise<BatchRow> {
  const row = (await consistentQuery(deps, batchQueries, asOf)).byId(id);
  if (row?.accountId === callerOf(ctx).accountId && mayShow(ctx, row)) return row;
  throw new ServiceError('not_found', 'There is no such batch.');
}

/** Answers with the accepted batch. */
export async function answerBatch(
  ctx: HttpContext,
  deps: RouteDependencies,
  { batchId, requestedAt, conversionIds }: RequestedBatch,
): Promise<void> {
  if (conversionIds === undefined) ctx.set('Idempotent-Replayed', 'true');
  const ids = conversionIds ?? (await consistentQuery(deps, batchQueries)).conversionsOf(batchId);
  const path = ctx.path.replace(/(documents|batches)\/$/, `batches/${batchId}/`);
  ctx.set('Location', new URL(path, deps.publicUrl).href);
  ctx.set('Retry-After', String(POLL_SECONDS));
  ctx.status = 202;
  // As it was when it was accepted: a replay gives the same bytes.
  const { accountId } = callerOf(ctx);
  const accepted = { id: batchId, accountId, total: ids.length, completed: 0, failed: 0 };
  ctx.body = await batchRecord(deps.vault, { ...accepted, createdAt: requestedAt }, ids);
}

export const createBatch: Endpoint = {
  doc: createBatchDoc,
  handler: (deps) => async (ctx) => {
    await countAgainstPlan(deps, ctx);
    readTestQuery(ctx);
    assertRoom(ctx, deps);
    const { accountId } = callerOf(ctx);
    await deps.bounds.admit(accountId);
    const requested = await deps.bodies.read(
      ctx,
      deps.config.maxBodyBytes,
      (body) => parseBatch(ctx, deps, body),
      async (parsed, hold) => {
        const isFilled = !('whole' in parsed);
        const earlier = isFilled ? undefined : await acceptedEarlier(deps, accountId, parsed.key);
        if (!isFilled && earlier !== undefined) {
          // A repeat that is right by itself needs no template: it may have been deleted since.
          if (!(await parsed.isRight())) await parsed.whole(hold);
          return { batchId: earlier.conversionId, requestedAt: earlier.requestedAt };
        }
        const batch = isFilled ? parsed : await parsed.whole(hold);
        await assertWorkLeft(deps, batch);
        await deps.bounds.admit(accountId, batch.requests.length - 1);
        const asked = { ...batch, terms: keyTermsOf(ctx) };
        return requestBatch(deps, asked, await commandContext(ctx, deps));
      },
      { maxValues: MAX_VALUES },
    );
    await answerBatch(ctx, deps, requested);
  },
};

export const listBatches: Endpoint = {
  doc: listBatchesDoc,
  handler: (deps) => async (ctx) => {
    const page = validated((issues) => pageOf(ctx, issues));
    const batches = await consistentQuery(deps, batchQueries, ctx.state.asOf);
    const { rows, total } = batches.page(callerOf(ctx).accountId, page, seesTestsOnly(ctx));
    const records = await Promise.all(rows.map((row) => batchRecord(deps.vault, row)));
    sendPage(ctx, deps.publicUrl, page, total, records);
  },
};

export const getBatch: Endpoint = {
  doc: getBatchDoc,
  handler: (deps) => {
    const untilEnded = createUntilBatchEnded(deps);
    return async (ctx) => {
      const id = pathParameter(ctx, 'id');
      let row = await ownBatch(ctx, deps, id, ctx.state.asOf);
      const seconds = appliedWait(ctx) ?? 0;
      if (seconds > 0 && row.endedAt === undefined) {
        await untilEnded(ctx, id, seconds);
        row = await ownBatch(ctx, deps, id);
      }
      const conversions = deps.readModel.query(batchQueries).conversionsOf(id);
      ctx.body = await batchRecord(deps.vault, row, conversions);
    };
  },
};

export const deleteBatch: Endpoint = {
  doc: deleteBatchDoc,
  handler: (deps) => async (ctx) => {
    const row = await ownBatch(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await cancelBatch(deps, row, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
