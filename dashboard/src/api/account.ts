import { queryOptions, useQuery } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import { ACCOUNT } from './queries.ts';
import type { components } from './schema.d.ts';

export type Account = components['schemas']['Account'];

export const accountQuery = queryOptions({
  queryKey: ACCOUNT,
  queryFn: ({ signal }) => dataOf(api.GET('/api/v1/account/', { signal })),
});

/** The account of the person who is signed in, with its plan and credits. */
export const useAccount = () => useQuery(accountQuery);

export type ApiKey = components['schemas']['ApiKey'];

/** An account has no more keys than this, so that one page holds them all. */
const MOST_KEYS = 100;

/** The keys that are not revoked. */
export const keysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) =>
    dataOf(api.GET('/api/v1/api-keys/', { params: { query: { page_size: MOST_KEYS } }, signal })),
});

/** The name of the key, if it is one of the account's and not revoked. */
export function useKeyName(id: string | undefined): string | undefined {
  const { data } = useQuery({ ...keysQuery, enabled: id !== undefined });
  return data?.find((key) => key.id === id)?.name;
}
