import { apiKeyQueries, apiKeys } from '../../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../../accounts/api-keys.ts';
import { apiKeyRecord } from '../../accounts/records.ts';
import { KEY_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, ValidationIssues } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { momentOf, readAsOf } from '../as-of.ts';
import {
  accountInView,
  callerOf,
  commandContext,
  type HttpMiddleware,
  pathParameter,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { ApiKeyRequest } from './api-keys.api.ts';

const keyId = new RegExp(`^${KEY_ID}$`);
const check = compile(ApiKeyRequest);

export function listApiKeys(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['as_of']);
    const moment = momentOf(ctx, deps, issues);
    issues.throwIfAny();
    const view = { projection: apiKeys, queries: apiKeyQueries };
    const { rows, total } = await readAsOf(ctx, deps, moment, view, (queries) =>
      queries.page(accountId, page),
    );
    const keys = await Promise.all(rows.map((row) => apiKeyRecord(deps.vault, row)));
    sendPage(ctx, deps.publicUrl, page, total, keys);
  };
}

export function postApiKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { name: asked } = await deps.bodies.readSmall(ctx, deps.config, check);
    const context = await commandContext(ctx, deps);
    const created = await createApiKey(deps, accountId, asked, context);
    const { id, name, key, createdAt } = created;
    ctx.status = 201;
    ctx.body = { id, name, key, created_at: isoTime(createdAt) };
  };
}

export function deleteApiKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const accountId = accountInView(ctx);
    const id = pathParameter(ctx, 'id');
    if (!keyId.test(id)) throw new ServiceError('not_found', 'There is no such API key.');
    await revokeApiKey(deps, id, accountId, await commandContext(ctx, deps));
    ctx.status = 204;
  };
}
