/** The service's API, typed by its OpenAPI document. */
import createClient from 'openapi-fetch';
import { session } from '../session/session.ts';
import { ApiError } from './error.ts';
import { ACCOUNT, queryClient } from './queries.ts';
import type { paths } from './schema.d.ts';

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

/**
 * Takes a successful answer whole, for its headers. After a refusal to an operator it asks whether the person still is
 * one, so that the pages say so where not.
 * @throws {ApiError} the service refused the request
 */
export async function answerOf<Data>(sent: Promise<Sent<Data>>) {
  const { data, error, response } = await sent;
  if (response.status === 403 && response.url.includes('/operator/')) {
    await queryClient.refetchQueries({ queryKey: ACCOUNT });
  }
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

/** The number of all items of a list; an answer holds one page of them. */
export const totalOf = (response: Response): number =>
  Number.parseInt(response.headers.get('X-Total-Count') ?? '0', 10);
