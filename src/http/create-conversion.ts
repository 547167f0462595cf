/** POST /pdf/: from a body to an accepted conversion. */
import type { ActorSystem } from '../actors/system.ts';
import { accountActor } from '../application/kinds.ts';
import type { BlobStore } from '../blob-store/port.ts';
import { type Clock, isoTime } from '../clock.ts';
import { type AcceptedConversion, acceptedWithKey } from '../domain/account.ts';
import { ServiceError } from '../errors.ts';
import { newConversionId } from '../ids.ts';
import type { Vault } from '../keyring/vault.ts';
import { callerOf, commandContext, type HttpContext, type HttpMiddleware } from './context.ts';
import { idempotencyKeyHash, idempotencyKeyOf } from './idempotency.ts';
import { readJsonObject } from './middleware/body.ts';
import {
  type CheckedRequest,
  checkConversionRequest,
  type RequestRules,
} from './rules/conversion-request.ts';
import { Issues } from './schemas/issues.ts';

export interface CreateDependencies {
  readonly config: RequestRules & { readonly maxBodyBytes: number };
  readonly clock: Clock;
  readonly actors: ActorSystem;
  readonly blobs: Pick<BlobStore, 'stage'>;
  readonly vault: Vault;
  /** Keys the hashes of idempotency keys. */
  readonly idempotencySecret: Buffer;
}

interface Acceptance extends AcceptedConversion {
  readonly replayed: boolean;
}

async function accept(
  ctx: HttpContext,
  deps: CreateDependencies,
  request: CheckedRequest,
  idempotencyKey: string | undefined,
): Promise<Acceptance> {
  const { accountId, ...caller } = callerOf(ctx);
  const conversionId = newConversionId(deps.clock.now());
  const content = Buffer.from(JSON.stringify(request.document), 'utf8');
  const staged = deps.blobs.stage(conversionId, 'request', content);
  const context = await commandContext(ctx, deps, { accountId, actor: caller.actor }, conversionId);
  const now = context.metadata.time;
  const hash =
    idempotencyKey && idempotencyKeyHash(deps.idempotencySecret, accountId, idempotencyKey);
  const outcome = await deps.actors.send(
    accountActor,
    accountId,
    {
      type: 'RequestConversion',
      accountId,
      conversionId,
      source: request.source,
      request: staged.ref,
      options: request.options,
      ...(hash === undefined ? {} : { idempotencyKey: hash }),
      now,
    },
    { ...context, prerequisites: [staged] },
  );
  if (!outcome.accepted) {
    const { refused, message, details } = outcome.refusal;
    // The account was closed after its credential was read.
    if (refused === 'not_found') throw new ServiceError('unauthorized');
    throw new ServiceError(refused, message, details === undefined ? {} : { details });
  }
  if (outcome.events.length > 0) return { conversionId, requestedAt: now, replayed: false };
  const first = hash === undefined ? undefined : acceptedWithKey(outcome.state, hash, now);
  if (first === undefined) throw new ServiceError('internal_error');
  return { ...first, replayed: true };
}

export function createConversion(deps: CreateDependencies): HttpMiddleware {
  return async (ctx) => {
    const body = await readJsonObject(ctx, deps.config.maxBodyBytes);
    const issues = new Issues();
    const request = await checkConversionRequest(body, issues, deps.config);
    const idempotencyKey = idempotencyKeyOf(ctx, issues);
    issues.throwAny();
    const { conversionId, requestedAt, replayed } = await accept(
      ctx,
      deps,
      request,
      idempotencyKey,
    );
    if (replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = 202;
    // Derived from the first acceptance alone: a replay gives the same bytes.
    ctx.body = { id: conversionId, status: 'pending', created_at: isoTime(requestedAt) };
  };
}
