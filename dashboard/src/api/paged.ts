/** Lists that the service answers page by page. */
import {
  keepPreviousData,
  queryOptions,
  type UseQueryResult,
  useQuery,
} from '@tanstack/react-query';
import { answerOf, type Sent, totalOf } from './client.ts';

export interface Paged<Item> {
  readonly items: readonly Item[];
  /** The number of items on all pages. */
  readonly total: number;
}

interface ListOf<Item> {
  /** The key of the list in the cache, without the page. */
  readonly key: readonly unknown[];
  /** From 1. */
  readonly page: number;
  readonly size: number;
  readonly ask: (
    query: { readonly page: number; readonly page_size: number },
    signal: AbortSignal,
  ) => Promise<Sent<readonly Item[]>>;
  /** The milliseconds until the list is asked for again, by what it holds; false: not by itself. */
  readonly again?: (items: readonly Item[]) => number | false;
}

/** One page of a list. The one before stays until it is there. */
export const pageQuery = <Item>({ key, page, size, ask, again }: ListOf<Item>) =>
  queryOptions({
    queryKey: [...key, page, size],
    queryFn: async ({ signal }): Promise<Paged<Item>> => {
      const { data, response } = await answerOf(ask({ page, page_size: size }, signal));
      return { items: data, total: totalOf(response) };
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) => (data && again?.(data.items)) ?? false,
  });

export interface ShownPage<Item> {
  readonly page: number;
  readonly size: number;
  readonly query: UseQueryResult<Paged<Item>>;
}

export const usePage = <Item>(list: ListOf<Item>): ShownPage<Item> => ({
  page: list.page,
  size: list.size,
  query: useQuery(pageQuery(list)),
});

/** The page that an address names; nothing for the first one, or where it names none. */
export function pageOf(page: unknown): { readonly page?: number } {
  const number = Number(page);
  return Number.isInteger(number) && number > 1 ? { page: number } : {};
}
