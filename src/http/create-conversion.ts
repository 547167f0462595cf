/** POST /pdf/: from a body to an accepted conversion. */
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import type { ActorSystem } from '../actors/system.ts';
import { requestConversion } from '../application/request-conversion.ts';
import { UnencryptedText } from '../blob-store/encryption.ts';
import type { BlobStore } from '../blob-store/port.ts';
import { BudgetExceeded, type Budgets } from '../budgets.ts';
import { type Clock, isoTime } from '../clock.ts';
import type { Vault } from '../keyring/vault.ts';
import type { ReadModel } from '../read-model/database.ts';
import { callerOf, commandContext, type HttpContext, type HttpMiddleware } from './context.ts';
import { idempotencyKeyHash, idempotencyKeyOf } from './idempotency.ts';
import type { RequestBodies } from './middleware/body.ts';
import { checkConversionRequest, type RequestRules } from './rules/conversion-request.ts';
import { Issues } from './schemas/issues.ts';

export interface CreateDependencies {
  readonly config: RequestRules & { readonly maxBodyBytes: number };
  readonly clock: Clock;
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  readonly budgets: Budgets;
  readonly readModel: Pick<ReadModel, 'query'>;
  readonly bodies: RequestBodies;
  /** Keys the hashes of idempotency keys. */
  readonly idempotencySecret: Buffer;
}

/** Documents go at the end of their retention: seldom within a minute, and some each hour. */
const ROOM_RETRY_SECONDS = 300;

/**
 * Refuses, before the body is read, what would pass the account's limit. The read model is a moment behind,
 * so an account may pass it by the bodies that it sends at once, and by the PDFs of what was accepted before.
 * @throws {BudgetExceeded}
 */
function demandRoom(ctx: HttpContext, { budgets, config, readModel }: CreateDependencies): void {
  const budget = budgets.get('maxAccountStoredBytes');
  const stored = readModel.query(storedBlobQueries).bytesOf(callerOf(ctx).accountId);
  const declared = Number(ctx.get('Content-Length') || config.maxBodyBytes);
  if (stored + Math.min(declared, config.maxBodyBytes) <= budget.limit) return;
  budget.refuse();
  throw new BudgetExceeded(
    'client',
    `The account's documents take ${stored} of the ${budget.limit} bytes that it may store. ` +
      'Wait until the retention of older ones has ended, or ask the operator for more.',
    ROOM_RETRY_SECONDS,
  );
}

/** All that the body and its headers ask for; its strings are let go in favour of what is to be stored. */
function asked(ctx: HttpContext, deps: CreateDependencies, body: object) {
  const issues = new Issues();
  const { document, ...request } = checkConversionRequest(body, issues, deps.config);
  const key = idempotencyKeyOf(ctx, issues);
  issues.throwAny();
  const { accountId } = callerOf(ctx);
  return {
    accountId,
    ...request,
    document: new UnencryptedText(JSON.stringify(document)),
    ...(key === undefined
      ? {}
      : { idempotencyKey: idempotencyKeyHash(deps.idempotencySecret, accountId, key) }),
  };
}

export function createConversion(deps: CreateDependencies): HttpMiddleware {
  return async (ctx) => {
    demandRoom(ctx, deps);
    const { conversionId, requestedAt, replayed } = await deps.bodies.read(
      ctx,
      deps.config.maxBodyBytes,
      (body) => asked(ctx, deps, body),
      async (request) =>
        requestConversion(deps, request, await commandContext(ctx, deps, callerOf(ctx))),
    );
    if (replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = 202;
    // Derived from the first acceptance alone: a replay gives the same bytes.
    ctx.body = { id: conversionId, status: 'pending', created_at: isoTime(requestedAt) };
  };
}
