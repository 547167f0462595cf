/** The request of a conversion, and the record of how it was rendered, while they are stored. */
import type { Static } from 'typebox';
import type { ConversionRow } from '../../../projections/conversions.ts';
import { readRenderManifest } from '../../conversions/render-manifest.ts';
import { findRequest, type StoredRequest } from '../../conversions/stored-request.ts';
import { BlobNotFound } from '../../documents/port.ts';
import { ServiceError } from '../../errors/errors.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import {
  callerOf,
  type HttpContext,
  type HttpMiddleware,
  pathParameter,
  releaseAtEnd,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { RenderRecord } from './conversion-documents.api.ts';
import { ownConversion, refuseUnlessCompleted } from './conversions.ts';
import { assertInRetention } from './files.ts';

const RETRY_SECONDS = 2;
const GONE = 'It is not stored any more.';

/** @throws {ServiceError} `gone` where retention was quicker than this, or a restored copy lacks it */
async function orGone<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    throw cause instanceof BlobNotFound ? new ServiceError('gone', GONE, { cause }) : cause;
  }
}

/**
 * Counts a document among the bodies that are handled, until its answer is taken: it is whole in memory.
 * @throws {BudgetExceeded}
 */
function countBytes(
  ctx: HttpContext,
  { budgets }: RouteDependencies,
  accountId: string,
  bytes: number,
): void {
  const ofAccount = budgets.get('maxAccountBodiesBytes').take(bytes, accountId);
  if (ofAccount === undefined) {
    const message = 'Too many documents are being sent to this account. Wait for some of them.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  const ofAll = budgets.get('maxBodiesBytes').take(bytes, accountId);
  if (ofAll === undefined) {
    ofAccount();
    throw new BudgetExceeded('service', 'Too many documents are being sent.', RETRY_SECONDS);
  }
  releaseAtEnd(ctx, () => {
    ofAccount();
    ofAll();
  });
}

async function ownStored(ctx: HttpContext, deps: RouteDependencies): Promise<ConversionRow> {
  const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
  await assertInRetention(deps, row, GONE);
  return row;
}

/** Keys are found by strangers. The headers and cookies of earlier requests are credentials of other sites. */
function withoutSecrets({ options, ...request }: StoredRequest): StoredRequest {
  const { headers: _headers, cookies: _cookies, ...others } = options;
  return { ...request, options: others };
}

export function getConversionRequest(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const row = await ownStored(ctx, deps);
    const request = await findRequest(deps, row, ctx.state.asOf);
    countBytes(ctx, deps, row.accountId, request.ref.bytes);
    const opened = await orGone(request.open());
    ctx.body = callerOf(ctx).actor.kind === 'key' ? withoutSecrets(opened) : opened;
  };
}

export function getConversionManifest(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await refuseUnlessCompleted(deps, row);
    await assertInRetention(deps, row, GONE);
    const read = readRenderManifest({ ...deps, store: deps.streams }, row.id);
    const record: Static<typeof RenderRecord> = await orGone(read);
    ctx.body = record;
  };
}
