import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { components } from './schema.d.ts';

export type ApiKey = components['schemas']['ApiKey'];

/** An account has no more keys than this, so that one page holds them all. */
const MOST_KEYS = 100;

/** The keys that are not revoked. */
export const keysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) =>
    dataOf(api.GET('/api/v1/api-keys/', { params: { query: { page_size: MOST_KEYS } }, signal })),
});
