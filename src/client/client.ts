/** A typed client of the service. Needs nothing but `fetch`. */
import { setTimeout as pause } from 'node:timers/promises';
import { PressledgerError, PressledgerUnreachable } from './errors.ts';
import type { ApiKey, Conversion, ConversionOptions, NewApiKey } from './types.ts';

const BASE_PATH = '/api/v1';
/** The longest time that one request may ask the service to hold it. */
const LONGEST_WAIT_SECONDS = 30;
const DEFAULT_RETRY_SECONDS = 1;
const LONGEST_RETRY_SECONDS = 60;

export interface ClientOptions {
  /** The service's origin (`https://pdf.example.com`) or its base URL (`…/api/v1`). */
  readonly server: string;
  /** Either an API key or an access token. */
  readonly apiKey?: string;
  readonly accessToken?: string;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export class PressledgerClient {
  readonly #baseUrl: string;
  readonly #credential: Readonly<Record<string, string>>;

  constructor({ server, apiKey, accessToken }: ClientOptions) {
    const url = server.replace(/\/+$/, '');
    this.#baseUrl = url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
    this.#credential = {
      ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }),
      ...(accessToken === undefined ? {} : { Authorization: `Bearer ${accessToken}` }),
    };
  }

  /**
   * Asks for a conversion. With an idempotency key the request may be repeated safely.
   * @throws {PressledgerError} the service refused it
   * @throws {PressledgerUnreachable} nothing is known of it
   */
  create(
    options: ConversionOptions,
    { idempotencyKey, signal }: { idempotencyKey?: string; signal?: AbortSignal } = {},
  ): Promise<Conversion> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.#json({ method: 'POST', path: '/pdf/', body: options, headers, signal });
  }

  /** The record as it is now, or as soon as it has ended within `waitSeconds` (at most 30). */
  get(
    id: string,
    { waitSeconds, signal }: { waitSeconds?: number; signal?: AbortSignal } = {},
  ): Promise<Conversion> {
    const path = `/conversions/${encodeURIComponent(id)}/`;
    const headers = waitSeconds === undefined ? {} : { Prefer: `wait=${waitSeconds}` };
    return this.#json({ method: 'GET', path, headers, signal });
  }

  /** Waits until the conversion has ended; backs off as long as the service asks. */
  async wait(id: string, { signal }: { signal?: AbortSignal } = {}): Promise<Conversion> {
    for (;;) {
      signal?.throwIfAborted();
      try {
        const record = await this.get(id, {
          waitSeconds: LONGEST_WAIT_SECONDS,
          ...(signal ? { signal } : {}),
        });
        if (record.status === 'completed' || record.status === 'failed') return record;
      } catch (error) {
        const busy = error instanceof PressledgerError && [429, 503].includes(error.status);
        if (!busy) throw error;
        const seconds = Math.min(error.retryAfter ?? DEFAULT_RETRY_SECONDS, LONGEST_RETRY_SECONDS);
        await pause(seconds * 1000, undefined, signal ? { signal } : {});
      }
    }
  }

  /** The PDF of a completed conversion, as a stream of bytes. */
  async download(
    conversion: Conversion,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    if (conversion.file_url === undefined) {
      throw new TypeError(`Conversion ${conversion.id} is ${conversion.status}: it has no file.`);
    }
    const response = await reach(conversion.file_url, signal ? { signal } : {});
    if (!response.ok) throw await errorOf(response);
    if (!response.body) throw new PressledgerUnreachable('The file came without a body.');
    return response.body;
  }

  listKeys(page: { page?: number; page_size?: number } = {}): Promise<ApiKey[]> {
    const query = new URLSearchParams(
      Object.entries(page).map(([name, value]): [string, string] => [name, String(value)]),
    );
    return this.#json({ method: 'GET', path: `/api-keys/?${query.toString()}` });
  }

  createKey(name: string): Promise<NewApiKey> {
    return this.#json({ method: 'POST', path: '/api-keys/', body: { name } });
  }

  async revokeKey(id: string): Promise<void> {
    await this.#call({ method: 'DELETE', path: `/api-keys/${encodeURIComponent(id)}/` });
  }

  async #json<T>(call: Call): Promise<T> {
    const response = await this.#call(call);
    return (await response.json()) as T;
  }

  async #call({ method, path, body, headers, signal }: Call): Promise<Response> {
    const response = await reach(this.#baseUrl + path, {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...this.#credential,
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    if (!response.ok) throw await errorOf(response);
    return response;
  }
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    const { host } = new URL(url);
    throw new PressledgerUnreachable(`No answer from ${host}: is the service running there?`, {
      cause: error,
    });
  }
}

async function errorOf(response: Response): Promise<Error> {
  const body: unknown = await response.json().catch(() => undefined);
  const known = typeof body === 'object' && body !== null && 'error' in body && 'message' in body;
  if (!known) {
    return new PressledgerUnreachable(
      `${new URL(response.url).host} answered with status ${response.status}, and not as Pressledger does.`,
    );
  }
  return new PressledgerError(response, body as ConstructorParameters<typeof PressledgerError>[1]);
}
