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
