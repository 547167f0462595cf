/** How the pages ask for batches, and under which keys they keep the answers. */
import { queryOptions } from '@tanstack/react-query';
import { type Answer, answerQuery, api, fileOf } from './client.ts';

export type Batch = Answer<'/api/v1/batches/'>[number];

/** How often a batch under way is asked for. */
const POLL_MS = 10_000;
const EVENTS_PAGE_SIZE = 20;

/** The beginning of the keys of batches. */
export const BATCHES = ['batches'] as const;

/** Of a batch that was cancelled, too, the last conversions end a moment later. */
export const hasEnded = ({ ended_at: at }: Batch): boolean => at !== undefined;

/** @returns the milliseconds until they are asked for again; false where all have ended */
export const nextLook = (batches: readonly Batch[] = []): number | false =>
  !batches.every(hasEnded) && POLL_MS;

export const batchQuery = (id: string) =>
  queryOptions({
    ...answerQuery([...BATCHES, 'one', id], '/api/v1/batches/{id}/', { path: { id } }),
    refetchInterval: ({ state: { data } }) => nextLook(data && [data]),
  });

/** One page of the events of a batch and its conversions, oldest first. */
export const batchEventsPage = (id: string, page: number, isRunning: boolean) => ({
  // The end of the batch is an event, too: asked for once more after it.
  key: [...BATCHES, 'one', id, 'events', isRunning],
  page,
  size: EVENTS_PAGE_SIZE,
  ask: (query: { readonly page: number; readonly page_size: number }, signal: AbortSignal) =>
    api.GET('/api/v1/batches/{id}/events/', { params: { path: { id }, query }, signal }),
  again: () => isRunning && POLL_MS,
});

/** All PDFs of a batch in one file. Each is a download, which is an event. @param partial those that are ready so far */
export const batchZip = async (id: string, partial: boolean) => {
  const query = partial ? { partial: 'true' as const } : {};
  const { data } = await fileOf('/api/v1/batches/{id}/zip/', { path: { id }, query });
  return { file: data, name: `${id}.zip` };
};
