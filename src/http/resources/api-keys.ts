import Type from 'typebox';
import { type ApiKeyFilter, apiKeyQueries, apiKeys } from '../../../projections/api-keys.ts';
import { createApiKey, revokeApiKey } from '../../accounts/api-keys.ts';
import { namedKeyRecord } from '../../accounts/members.ts';
import {
  MAX_ADDRESSES,
  networkOf,
  type OpenRights,
  rightsRecord,
} from '../../accounts/key-rights.ts';
import { accountAggregate } from '../../domain/account.ts';
import { KEY_SCOPES } from '../../domain/choices.ts';
import { KEY_ID } from '../../domain/ids.ts';
import { usedBy } from '../../domain/key-use.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, type ValidationIssues, validated } from '../../requests/validation.ts';
import { isoTime, timeIn } from '../../time/clock.ts';
import { AS_OF, momentOf, readAsOf } from '../as-of.ts';
import {
  callerOf,
  commandContext,
  type HttpContext,
  pathParameter,
  seesTestsOnly,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import {
  Closed,
  Count,
  example,
  Flag,
  OrNull,
  PERSON,
  Text,
  Timestamp,
} from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';

const MAX_LIMIT = 1_000_000;
const SCOPE_WORDS =
  'convert: convert, retry and delete, and read what it made; read: read all conversions, files, credits and usage; history: events, proofs and evidence; keys: create, list and revoke keys, and change what PDFs are signed with; webhooks: endpoints and deliveries.';

/** The fields that bound a key, each of them optional. */
const RIGHTS = {
  scopes: Type.Optional(
    Type.Array(Type.Enum([...KEY_SCOPES]), {
      minItems: 1,
      maxItems: KEY_SCOPES.length,
      uniqueItems: true,
      description: `What the key may do. Absent: everything. ${SCOPE_WORDS}`,
      examples: [['convert', 'read']],
    }),
  ),
  addresses: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 50 }), {
      minItems: 1,
      maxItems: MAX_ADDRESSES,
      description:
        'The addresses and networks, in CIDR notation, that it may be used from. Absent: everywhere.',
      examples: [['203.0.113.0/24', '2001:db8::/32']],
    }),
  ),
  rate_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description: 'Requests in a minute, beside the limit of the account. Absent: that alone.',
      examples: [10],
    }),
  ),
  credit_limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description:
        'Credits that it may use in a calendar month (UTC): beyond them the answer is 402. What is refunded in that month may be used again. Absent: all credits of the account.',
      examples: [500],
    }),
  ),
  test: Type.Optional(
    Flag(
      'A key for tests, which begins with pk_test_: its conversions cost no credit, have a watermark on each page or picture, and are deleted after a day. They cannot be signed. The key sees and changes only tests and test keys.',
      true,
    ),
  ),
};
const EXPIRES = 'The time from which the key is refused. Absent: it is valid until it is revoked.';

/** The body of `POST /api-keys/`. The bounds of the name count after trimming: see `createApiKey`. */
export const ApiKeyRequest = Closed({
  name: Text(
    'build server',
    'A label of 1 to 100 characters after trimming, without control characters, line breaks or marks of text direction.',
  ),
  ...RIGHTS,
  expires_at: Type.Optional(
    Text('2027-11-21T08:15:30Z', `${EXPIRES} ISO 8601 with the offset from UTC.`, {
      maxLength: 40,
    }),
  ),
});

const Id = Type.String({
  pattern: `^${KEY_ID}$`,
  examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'],
});
const Name = Type.String({ minLength: 1, examples: ['build server'] });
const CreatedAt = Timestamp('The time when the key was created.');

/** A key without bounds has none of them. */
const RIGHTS_SHOWN = {
  ...RIGHTS,
  expires_at: Type.Optional(Timestamp(EXPIRES, '2027-11-21T08:15:30.000Z')),
};
const Used = Type.Optional(
  Count('With credit_limit: the credits that it has used in this month. Absent with as_of.', 17),
);

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
  ...RIGHTS_SHOWN,
  credits_used: Used,
  created_by: Type.Optional(
    Closed(
      { id: Text(PERSON), name: Text('Ada Lovelace') },
      {
        description:
          'The member who made it, and with whose membership it ends; absent for the person whom the account was opened for.',
      },
    ),
  ),
});

/** The answer of `POST /api-keys/`. */
export const CreatedApiKey = Closed({
  id: Id,
  name: Name,
  key: Text('pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x', 'The full key. It is shown only this once.', {
    pattern: '^pk_(live|test)_[0-9A-Za-z]{24}$',
  }),
  created_at: CreatedAt,
  ...RIGHTS_SHOWN,
});

const PLAIN = {
  id: 'key_3m5n7p9q1r3s5t7v9w1x3y5z7a',
  name: 'build server',
  key: 'pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x',
  created_at: '2026-11-21T08:15:30.123Z',
};
const keyId = new RegExp(`^${KEY_ID}$`);
const check = compile(ApiKeyRequest);

/** Checks what a schema cannot say, and reads what the key is bound to. */
function readKey(
  { clock }: RouteDependencies,
  body: object,
  issues: ValidationIssues,
): { readonly name: string; readonly rights: OpenRights } {
  const { name, expires_at: expires, ...given } = check(body, issues);
  const scopes = issues.has('scopes') ? undefined : given.scopes;
  const addresses = issues.has('addresses')
    ? undefined
    : given.addresses?.flatMap(
        (text, n) => networkOf(text, (problem) => issues.add(`addresses.${n}`, problem)) ?? [],
      );
  const expiresAt = typeof expires === 'string' ? timeIn(expires) : undefined;
  if (!issues.has('expires_at') && expires !== undefined) {
    if (expiresAt === undefined) {
      issues.add(
        'expires_at',
        'Must be an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z.',
      );
    } else if (expiresAt <= clock.now()) issues.add('expires_at', 'Must lie in the future.');
  }
  const rights = {
    ...(scopes && { scopes: KEY_SCOPES.filter((each) => scopes.includes(each)) }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(addresses && { addresses: [...new Set(addresses)] }),
    ...(given.rate_limit !== undefined && { rateLimit: given.rate_limit }),
    ...(given.credit_limit !== undefined && { creditLimit: given.credit_limit }),
    ...(given.test === true && { isTest: given.test }),
  };
  return { name, rights };
}

export const noSuchKey = (): ServiceError =>
  new ServiceError('not_found', 'There is no such API key.');

/** @throws {ServiceError} `not_found` where no key can have this id */
export function keyIdOf(ctx: HttpContext): string {
  const id = pathParameter(ctx, 'id');
  if (!keyId.test(id)) throw noSuchKey();
  return id;
}

/** The keys that the caller may see and revoke: members their own, and test keys those for tests. */
function keysInView(ctx: HttpContext): ApiKeyFilter {
  const { actor } = ctx.state.caller ?? {};
  const isMember = actor !== undefined && 'role' in actor && actor.role === 'member';
  return {
    ...(isMember && { createdBy: actor.person }),
    ...(seesTestsOnly(ctx) && { isTest: true as const }),
  };
}

export const listApiKeys: Endpoint = {
  doc: {
    id: 'listApiKeys',
    tag: 'API keys',
    summary: 'List API keys',
    description:
      'All keys that have not been revoked, newest first. Their full values are never shown again. Members see the keys that they made, and a test key sees only test keys.',
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
      queries.page(accountId, page, keysInView(ctx)),
    );
    const { state } = await deps.actors.read(accountAggregate, accountId, ctx.state.asOf);
    const now = deps.clock.now();
    const keys = await Promise.all(
      rows.map(async (row) => ({
        ...(await namedKeyRecord(deps, row, deps.vault)),
        ...(row.rights.creditLimit !== undefined &&
          moment === undefined && { credits_used: usedBy(state.keyUse, row.id, now) }),
      })),
    );
    sendPage(ctx, deps.publicUrl, page, total, keys);
  },
};

export const postApiKey: Endpoint = {
  doc: {
    id: 'createApiKey',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'Store the key at once: this response is the only one that holds it. What bounds the key cannot be changed later: create another, and revoke this one. A key creates none that may do more than itself.',
    body: {
      schema: ApiKeyRequest,
      examples: {
        plain: { name: 'build server' },
        bounded: example(ApiKeyRequest),
      },
    },
    answers: {
      201: {
        description: 'The key was created, with the bounds that were asked for.',
        schema: CreatedApiKey,
        examples: { plain: PLAIN, bounded: { ...PLAIN, ...example(Closed(RIGHTS_SHOWN)) } },
      },
    },
    errors: {
      forbidden:
        'The API key lacks the scope keys, or the new key would have more rights than it; or it may not be used from the address of the client.',
      rate_limit_exceeded: {
        when: 'The rate limit was exceeded, or the account has as many keys as it may have.',
        message: 'An account has at most 100 API keys. Revoke one that is not needed first.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { accountId, key: maker } = callerOf(ctx);
    const { name: asked, rights } = await deps.bodies.readSmall(ctx, deps.config, (body, issues) =>
      readKey(deps, body, issues),
    );
    const context = await commandContext(ctx, deps);
    const bounds = { rights, ...(maker && { maker }) };
    const { id, name, key, createdAt } = await createApiKey(
      deps,
      accountId,
      asked,
      context,
      bounds,
    );
    ctx.status = 201;
    ctx.body = { id, name, key, created_at: isoTime(createdAt), ...rightsRecord(rights) };
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
    const { accountId } = callerOf(ctx);
    const id = keyIdOf(ctx);
    const whose = { accountId, ...keysInView(ctx) };
    await revokeApiKey(deps, id, whose, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
