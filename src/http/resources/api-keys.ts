import Type from 'typebox';
import { apiKeyQueries, apiKeys } from '../../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../../accounts/api-keys.ts';
import { apiKeyRecord } from '../../accounts/records.ts';
import { KEY_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { AS_OF, momentOf, readAsOf } from '../as-of.ts';
import { accountInView, callerOf, commandContext, pathParameter } from '../context.ts';
import { Closed, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';

/** The body of `POST /api-keys/`. The bounds of the name count after trimming: see `createApiKey`. */
export const ApiKeyRequest = Closed({
  name: Text(
    'build server',
    'A label of 1 to 100 characters after trimming, without control characters, line breaks or marks of text direction.',
  ),
});

const Id = Type.String({
  pattern: `^${KEY_ID}$`,
  examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'],
});
const Name = Type.String({ minLength: 1, examples: ['build server'] });
const CreatedAt = Timestamp('The time when the key was created.');

/** One item of `GET /api-keys/`. */
export const ApiKey = Closed({
  id: Id,
  name: Name,
  prefix: Text('pk_live_Ab3d', 'The first characters of the key.', {
    minLength: 12,
    maxLength: 12,
  }),
  created_at: CreatedAt,
  last_used_at: OrNull(
    Timestamp('The time of the last use, at most a minute behind; null before the first use.'),
  ),
});

/** The answer of `POST /api-keys/`. */
export const CreatedApiKey = Closed({
  id: Id,
  name: Name,
  key: Text('pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x', 'The full key. It is shown only this once.', {
    pattern: '^pk_live_[0-9A-Za-z]{24}$',
  }),
  created_at: CreatedAt,
});

const keyId = new RegExp(`^${KEY_ID}$`);
const check = compile(ApiKeyRequest);

export const listApiKeys: Endpoint = {
  doc: {
    id: 'listApiKeys',
    tag: 'API keys',
    summary: 'List API keys',
    description:
      'All keys that have not been revoked, newest first. Their full values are never shown again.',
    parameters: [...PAGE_PARAMETERS, AS_OF],
    answers: { 200: pageOfItems(ApiKey, ['Pressledger-As-Of']) },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { page, moment } = validated((issues) => ({
      page: pageOf(ctx, issues, ['as_of']),
      moment: momentOf(ctx, deps, issues),
    }));
    const view = { projection: apiKeys, queries: apiKeyQueries };
    const { rows, total } = await readAsOf(ctx, deps, moment, view, (queries) =>
      queries.page(accountId, page),
    );
    const keys = await Promise.all(rows.map((row) => apiKeyRecord(deps.vault, row)));
    sendPage(ctx, deps.publicUrl, page, total, keys);
  },
};

export const postApiKey: Endpoint = {
  doc: {
    id: 'createApiKey',
    tag: 'API keys',
    summary: 'Create an API key',
    description: 'Store the key at once: this response is the only one that holds it.',
    body: { schema: ApiKeyRequest },
    answers: { 201: { description: 'The key was created.', schema: CreatedApiKey } },
    errors: {
      rate_limit_exceeded: {
        when: 'The rate limit was exceeded, or the account has as many keys as it may have.',
        message: 'An account has at most 100 API keys. Revoke one that is not needed first.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { name: asked } = await deps.bodies.readSmall(ctx, deps.config, check);
    const context = await commandContext(ctx, deps);
    const created = await createApiKey(deps, accountId, asked, context);
    const { id, name, key, createdAt } = created;
    ctx.status = 201;
    ctx.body = { id, name, key, created_at: isoTime(createdAt) };
  },
};

export const deleteApiKey: Endpoint = {
  doc: {
    id: 'revokeApiKey',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description:
      'Takes effect at once and cannot be undone: the next request with the key is refused with 401.',
    answers: { 204: { description: 'The key was revoked. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    const accountId = accountInView(ctx);
    const id = pathParameter(ctx, 'id');
    if (!keyId.test(id)) throw new ServiceError('not_found', 'There is no such API key.');
    await revokeApiKey(deps, id, accountId, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
