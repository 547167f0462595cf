import Type from 'typebox';
import { KEY_ID } from '../../domain/ids.ts';
import { AS_OF } from '../as-of.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';

/** The body of `POST /api-keys/`. The bounds of the name count after trimming: see `createApiKey`. */
export const ApiKeyRequest = Type.Object(
  {
    name: Type.String({
      description:
        'A label of 1 to 100 characters after trimming, without control characters, line breaks or marks of text direction.',
      examples: ['build server'],
    }),
  },
  { additionalProperties: false },
);

const closed = { additionalProperties: false } as const;

const id = Type.String({
  pattern: `^${KEY_ID}$`,
  examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'],
});
const name = Type.String({ minLength: 1, examples: ['build server'] });
const createdAt = Timestamp('The time when the key was created.');

/** One item of `GET /api-keys/`. */
export const ApiKey = Type.Object(
  {
    id,
    name,
    prefix: Type.String({
      minLength: 12,
      maxLength: 12,
      description: 'The first characters of the key.',
      examples: ['pk_live_Ab3d'],
    }),
    created_at: createdAt,
    last_used_at: Type.Union([
      Timestamp('The time of the last use, at most a minute behind; null before the first use.'),
      Type.Null(),
    ]),
  },
  closed,
);

/** The answer of `POST /api-keys/`. */
export const CreatedApiKey = Type.Object(
  {
    id,
    name,
    key: Type.String({
      pattern: '^pk_live_[0-9A-Za-z]{24}$',
      description: 'The full key. It is shown only this once.',
      examples: ['pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x'],
    }),
    created_at: createdAt,
  },
  closed,
);

export const listApiKeysDoc: OperationDoc = {
  id: 'listApiKeys',
  tag: 'API keys',
  summary: 'List API keys',
  description:
    'All keys that have not been revoked, newest first. Their full values are never shown again.',
  parameters: [...PAGE_PARAMETERS, AS_OF],
  answers: { 200: pageOfItems(ApiKey, ['Pressledger-As-Of']) },
  errors: { validation_error: WRONG_QUERY },
};

export const postApiKeyDoc: OperationDoc = {
  id: 'createApiKey',
  tag: 'API keys',
  summary: 'Create an API key',
  description: 'Store the key at once: this response is the only one that holds it.',
  body: { schema: ApiKeyRequest, examples: { key: { name: 'build server' } } },
  answers: { 201: { description: 'The key was created.', schema: CreatedApiKey } },
  errors: {
    rate_limit_exceeded: {
      when: 'The rate limit was exceeded, or the account has as many keys as it may have.',
      message: 'An account has at most 100 API keys. Revoke one that is not needed first.',
    },
  },
};

export const deleteApiKeyDoc: OperationDoc = {
  id: 'revokeApiKey',
  tag: 'API keys',
  summary: 'Revoke an API key',
  description:
    'Takes effect at once and cannot be undone: the next request with the key is refused with 401.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The id of the key.',
      schema: Type.String({ examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'] }),
    },
  ],
  answers: { 204: { description: 'The key was revoked. There is no body.' } },
  errors: {
    not_found: {
      when: 'The account has no key with this id, or it was revoked before.',
      message: 'There is no such API key.',
    },
  },
};
