import { type AsOf, asOfQuery } from './options.ts';
import type { Conversion } from './types.ts';

const DEFAULT_PAGE_SIZE = 20;

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The number of items on all pages together. */
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
}

export interface PageQuery extends AsOf {
  /**
   * The number of the page.
   * @default 1
   */
  readonly page?: number | undefined;
  /**
   * The number of items on a page, at most 100.
   * @default 20
   */
  readonly pageSize?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Lists the conversions that all given filters let through. */
export interface ConversionFilter {
  /**
   * Words, or beginnings of words, that are all in the names of the conversion, or the beginning of its id.
   * @example 'invoice 47'
   */
  readonly q?: string | undefined;
  /** The whole reference. */
  readonly reference?: string | undefined;
  /**
   * A tag's name and value, or its name alone for any value; several for those that have all of them.
   * @example 'customer:Example Ltd'
   */
  readonly tag?: string | readonly string[] | undefined;
  /** The id of the API key that it was asked for with. */
  readonly key?: string | undefined;
  /** The id of the batch that it was asked for in. */
  readonly batch?: string | undefined;
  /** The id of the template that it was made of. */
  readonly template?: string | undefined;
  readonly source?: 'html' | 'url' | 'document' | undefined;
  /** Those alone that have warnings. */
  readonly warnings?: true | undefined;
  readonly status?: Conversion['status'] | undefined;
  /** The first 11 characters of the id, or more. */
  readonly id?: string | undefined;
  /**
   * Created at this time or later.
   * @example '2026-11-21T08:15:30Z'
   */
  readonly from?: string | undefined;
  /** Created before this time. */
  readonly to?: string | undefined;
  /**
   * Which come first.
   * @default 'newest'
   */
  readonly order?: 'newest' | 'oldest' | undefined;
}

/** Reads a page out of its answer. */
export const pageReader =
  <T>(page: number, pageSize: number) =>
  async (response: Response): Promise<Page<T>> => ({
    items: (await response.json()) as T[],
    total: Number(response.headers.get('x-total-count')),
    page,
    pageSize,
  });

/** Every item of every page. One that moved down a page while they were read is not given twice. */
export async function* everyItem<T extends { readonly id: string }>(
  pageAt: (page: number) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let before = new Set<string>();
  for (let at = 1; ; at += 1) {
    const { items, total, pageSize } = await pageAt(at);
    for (const item of items) if (!before.has(item.id)) yield item;
    before = new Set(items.map(({ id }) => id));
    if (at * pageSize >= total) return;
  }
}

/** The filters of a list by their names in its address. */
export type QueryFilter = Readonly<Record<string, string | true | readonly string[] | undefined>>;

/** Reads which page is asked for, and the part of the address that asks for it. */
export function pageQuery(
  { page = 1, pageSize = DEFAULT_PAGE_SIZE, ...moment }: PageQuery,
  filter: QueryFilter,
) {
  const query = new URLSearchParams({
    page: String(page),
    page_size: String(pageSize),
    ...asOfQuery(moment),
  });
  for (const [name, values] of Object.entries(filter)) {
    for (const value of [values ?? []].flat()) query.append(name, String(value));
  }
  return { page, pageSize, query: query.toString() };
}
