/** The service's API, typed by its OpenAPI document. */
import createClient, { type ParamsOption } from 'openapi-fetch';
import { session, SessionEndedError } from '../session/session.ts';
import { ApiError } from './error.ts';
import type { paths } from './schema.d.ts';
import {
  keepPreviousData,
  QueryClient,
  queryOptions,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';

async function send(request: Request): Promise<Response> {
  const access = await session.accessToken();
  request.headers.set('Authorization', `Bearer ${access}`);
  const response = await fetch(request);
  if (response.status === 401) session.refuse(access);
  return response;
}

/**
 * Sends a request as the person who is signed in. A token that the service refuses is replaced once: it may
 * have ended on the way.
 * @throws {SessionEndedError} nobody is signed in any more
 */
export async function fetchSignedIn(request: Request): Promise<Response> {
  const again = request.clone();
  const response = await send(request);
  return response.status === 401 ? await send(again) : response;
}

export const api = createClient<paths>({
  baseUrl: globalThis.location.origin,
  fetch: fetchSignedIn,
});

/** The shape that openapi-fetch resolves to. */
export interface Sent<Data> {
  readonly data?: Data;
  readonly error?: unknown;
  readonly response: Response;
}

/** Asks again who the person is, and what they may do. */
export const askWhoIsHere = (): Promise<void> =>
  queryClient.refetchQueries({ queryKey: PERSON, exact: true }, { cancelRefetch: false });

/**
 * Takes a successful answer whole, for its headers. After a refusal it asks again who the person is, so that the pages
 * say what has changed: their role, what the account requires at sign-in, or that it is suspended.
 * @throws {ApiError} the service refused the request
 */
export async function answerOf<Data>(sent: Promise<Sent<Data>>) {
  const { data, error, response } = await sent;
  if (response.status === 403 && !response.url.endsWith('/account/person/')) await askWhoIsHere();
  if (!response.ok) throw new ApiError(response, error);
  return { data: data as Data, response };
}

/**
 * Takes the data of a successful answer.
 * @throws {ApiError} the service refused the request
 */
export async function dataOf<Data>(sent: Promise<Sent<Data>>): Promise<Data> {
  return (await answerOf(sent)).data;
}

type Reads = {
  [Path in keyof paths]: paths[Path] extends { get: object } ? Path : never;
}[keyof paths];
/** The JSON of a successful answer to `GET`. */
export type Answer<Path extends Reads> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;

/** Asks one path, and keeps the answer under a key. */
export const answerQuery = <Path extends Reads>(
  queryKey: readonly unknown[],
  path: Path,
  params?: ParamsOption<paths[Path]['get']>['params'],
  more: { readonly staleTime?: number } = {},
) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }): Promise<Answer<Path>> =>
      dataOf(api.GET(path, { params, signal } as never) as Promise<Sent<Answer<Path>>>),
    ...more,
  });

/** The paths that answer with a file. */
type Files = {
  [Path in Reads]: paths[Path] extends { get: { responses: { 200: { content: infer Content } } } }
    ? 'application/json' extends keyof Content
      ? never
      : Path
    : never;
}[Reads];

/** The file that a path answers with, and the headers. */
export const fileOf = <Path extends Files>(
  path: Path,
  params: ParamsOption<paths[Path]['get']>['params'],
  signal?: AbortSignal,
) => answerOf(api.GET(path, { params, parseAs: 'blob', signal } as never) as Promise<Sent<Blob>>);

/** What the service holds under it never changes. */
export const FOR_EVER = { staleTime: Number.POSITIVE_INFINITY };

/** The number of all items of a list; an answer holds one page of them. */
export const totalOf = (response: Response): number =>
  Number.parseInt(response.headers.get('X-Total-Count') ?? '0', 10);

const MOST_RETRIES = 2;
const STALE_MS = 10_000;

/** Only what may pass by itself is asked for again: a lost connection, or a service that is busy. */
function mayPass(error: Error): boolean {
  if (error instanceof SessionEndedError) return false;
  return !(error instanceof ApiError) || error.status === 503;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (failures, error) => failures < MOST_RETRIES && mayPass(error),
    },
  },
});

/** The key of the account of the person who is signed in. */
export const ACCOUNT = ['account'] as const;
/** Below the key of the account: both are of the person who is signed in. */
export const PERSON = [...ACCOUNT, 'person'] as const;

export interface Paged<Item> {
  readonly items: readonly Item[];
  /** The number of items on all pages. */
  readonly total: number;
  /** The ids of newer items, which the stream has told since. */
  readonly added?: readonly string[];
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

/** Leaves out what is undefined: requests and addresses would have it as a text. */
export const given = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>;
  };
