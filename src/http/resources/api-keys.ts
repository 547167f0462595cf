import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { isoTime } from '../../clock.ts';
import { KEY_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors.ts';
import { createApiKey, revokeApiKey } from '../../use-cases/api-keys.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { compile, ValidationIssues } from '../../validation.ts';
import { callerOf, commandContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { ApiKeyRequest } from './api-keys.api.ts';

const keyId = new RegExp(`^${KEY_ID}$`);
const check = compile(ApiKeyRequest);

export function listApiKeys(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues);
    issues.throwIfAny();
    const { rows, total } = (await consistentQuery(deps, apiKeyQueries, ctx.state.asOf)).page(
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
    sendPage(ctx, deps.publicUrl, page, total, keys);
  };
}

export function postApiKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { name: asked } = await deps.bodies.readSmall(ctx, deps.config, check);
    const context = await commandContext(ctx, deps, caller);
    const created = await createApiKey(deps, caller.accountId, asked, context);
    const { id, name, key, createdAt } = created;
    ctx.status = 201;
    ctx.body = { id, name, key, created_at: isoTime(createdAt) };
  };
}

export function deleteApiKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const id = pathParameter(ctx, 'id');
    if (!keyId.test(id)) throw new ServiceError('not_found', 'There is no such API key.');
    const context = await commandContext(ctx, deps, caller);
    await revokeApiKey(deps, id, caller.accountId, context);
    ctx.status = 204;
  };
}
