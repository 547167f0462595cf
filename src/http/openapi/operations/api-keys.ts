import Type from 'typebox';
import { ApiKey, CreatedApiKey } from '../../schemas/api-key-answers.ts';
import { ApiKeyRequest } from '../../schemas/api-key-request.ts';
import type { OperationDoc } from '../operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pages.ts';

export const listApiKeysDoc: OperationDoc = {
  id: 'listApiKeys',
  tag: 'API keys',
  summary: 'The keys that are in force',
  parameters: PAGE_PARAMETERS,
  answers: { 200: pageOfItems(ApiKey) },
  errors: { validation_error: WRONG_QUERY },
};

export const postApiKeyDoc: OperationDoc = {
  id: 'createApiKey',
  tag: 'API keys',
  summary: 'Make a key',
  body: { schema: ApiKeyRequest, examples: { key: { name: 'build server' } } },
  answers: { 201: { description: 'Made. The key is shown this once.', schema: CreatedApiKey } },
  errors: {
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or the account has as many keys as it may have.',
      message: 'An account has at most 100 API keys. Revoke one that is not needed first.',
    },
  },
};

export const deleteApiKeyDoc: OperationDoc = {
  id: 'revokeApiKey',
  tag: 'API keys',
  summary: 'Revoke a key',
  description: 'At once and for good: the very next request with it is answered with 401.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The key’s id.',
      schema: Type.String({ examples: ['key_3m5n7p9q1r3s5t7v9w1x3y5z7a'] }),
    },
  ],
  answers: { 204: { description: 'Revoked. No body.' } },
  errors: {
    not_found: {
      when: 'The account has no such key, or it was revoked before.',
      message: 'There is no such API key.',
    },
  },
};
