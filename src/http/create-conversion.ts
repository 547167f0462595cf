/** POST /pdf/: from a body to an accepted conversion. */
import type { ActorSystem } from '../actors/system.ts';
import { requestConversion } from '../application/request-conversion.ts';
import type { BlobStore } from '../blob-store/port.ts';
import { type Clock, isoTime } from '../clock.ts';
import type { Vault } from '../keyring/vault.ts';
import { callerOf, commandContext, type HttpMiddleware } from './context.ts';
import { idempotencyKeyHash, idempotencyKeyOf } from './idempotency.ts';
import { readJsonObject } from './middleware/body.ts';
import { checkConversionRequest, type RequestRules } from './rules/conversion-request.ts';
import { Issues } from './schemas/issues.ts';

export interface CreateDependencies {
  readonly config: RequestRules & { readonly maxBodyBytes: number };
  readonly clock: Clock;
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  /** Keys the hashes of idempotency keys. */
  readonly idempotencySecret: Buffer;
}

export function createConversion(deps: CreateDependencies): HttpMiddleware {
  return async (ctx) => {
    const body = await readJsonObject(ctx, deps.config.maxBodyBytes);
    const issues = new Issues();
    const request = await checkConversionRequest(body, issues, deps.config);
    const key = idempotencyKeyOf(ctx, issues);
    issues.throwAny();

    const caller = callerOf(ctx);
    const { accountId } = caller;
    const { conversionId, requestedAt, replayed } = await requestConversion(
      deps,
      {
        accountId,
        ...request,
        ...(key === undefined
          ? {}
          : { idempotencyKey: idempotencyKeyHash(deps.idempotencySecret, accountId, key) }),
      },
      await commandContext(ctx, deps, caller),
    );
    if (replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = 202;
    // Derived from the first acceptance alone: a replay gives the same bytes.
    ctx.body = { id: conversionId, status: 'pending', created_at: isoTime(requestedAt) };
  };
}
