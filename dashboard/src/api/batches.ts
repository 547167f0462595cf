/** How the pages ask for batches, and under which keys they keep the answers. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { paths } from './schema.d.ts';

export type Batch =
  paths['/api/v1/batches/']['get']['responses'][200]['content']['application/json'][number];

/** How often a batch under way is asked for. */
const POLL_MS = 10_000;

/** The beginning of the keys of batches. */
export const BATCHES = ['batches'] as const;

/** @returns the milliseconds until they are asked for again; false where none is under way */
export const nextLook = (batches: readonly Batch[] = []): number | false =>
  batches.some(({ status }) => status === 'running') && POLL_MS;

export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: [...BATCHES, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/batches/{id}/', { params: { path: { id } }, signal })),
    refetchInterval: ({ state: { data } }) => nextLook(data && [data]),
  });
