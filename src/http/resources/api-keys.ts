import { apiKeyQueries } from '../../../projections/api-keys.ts';
import {
  type ApiKeyDependencies as KeyMakingDependencies,
  createApiKey,
  revokeApiKey,
} from '../../use-cases/api-keys.ts';
import { type Clock, isoTime } from '../../clock.ts';
import { ServiceError } from '../../errors.ts';
import { callerOf, commandContext, type HttpMiddleware, pathParameter } from '../context.ts';
import { freshQuery } from '../../use-cases/consistent-query.ts';
import type { RequestBodies } from '../middleware/body.ts';
import { answerPage, pageOf } from '../pagination.ts';
import { ApiKeyRequest } from './api-keys.api.ts';
import { Issues } from '../../validation.ts';
import { compile } from '../../validation.ts';
import { readSmallBody } from '../middleware/body.ts';

export interface ApiKeyDependencies extends KeyMakingDependencies {
  readonly config: { readonly maxBodyBytes: number };
  readonly clock: Clock;
  readonly bodies: RequestBodies;
  readonly publicUrl: string;
}

const KEY_ID = /^key_[0-9a-z]{26}$/;
const check = compile(ApiKeyRequest);

export function listApiKeys(deps: ApiKeyDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new Issues();
    const page = pageOf(ctx, issues);
    issues.throwAny();
    const { rows, total } = (await freshQuery(deps, apiKeyQueries, ctx.state.asOf)).page(
      accountId,
      page,
    );
    const keys = await Promise.all(
      rows.map(async ({ id, name, prefix, createdAt, lastUsedAt }) => ({
        id,
        name: await deps.vault.unseal(accountId, name),
        prefix,
        created_at: isoTime(createdAt),
        last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
      })),
    );
    answerPage(ctx, deps.publicUrl, page, total, keys);
  };
}

export function postApiKey(deps: ApiKeyDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { name: asked } = await readSmallBody(ctx, deps, check);
    const context = await commandContext(ctx, deps, caller);
    const created = await createApiKey(deps, caller.accountId, asked, context);
    const { id, name, key, createdAt } = created;
    ctx.status = 201;
    ctx.body = { id, name, key, created_at: isoTime(createdAt) };
  };
}

export function deleteApiKey(deps: ApiKeyDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const id = pathParameter(ctx, 'id');
    if (!KEY_ID.test(id)) throw new ServiceError('not_found', 'There is no such API key.');
    const context = await commandContext(ctx, deps, caller);
    await revokeApiKey(deps, id, caller.accountId, context);
    ctx.status = 204;
  };
}
