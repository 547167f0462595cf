/** A typed client of the service. It needs nothing but `fetch`: Node 20.3, Deno, Bun or a browser. */
import { delayMs, pause } from './back-off.ts';
import { isPressledgerError, PressledgerUnreachable } from './errors.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import { type Call, Transport } from './transport.ts';
import type {
  AcceptedConversion,
  Account,
  ApiKey,
  Conversion,
  ConversionOptions,
  EndedConversion,
  LedgerEntry,
  NewApiKey,
  TokenPair,
} from './types.ts';

const BASE_PATH = '/api/v1';
/** The longest time that one request may ask the service to hold it. */
const LONGEST_WAIT_SECONDS = 30;
/** An answer sooner than that was not held: somebody on the way passes `Prefer` over. */
const HELD_MS = 1000;
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 3;
const DEFAULT_PAGE_SIZE = 20;

export interface ClientOptions {
  /** The service's origin (`https://pdf.example.com`) or its base URL (`…/api/v1`). */
  readonly server: string;
  readonly apiKey?: string;
  /** One that is not renewed when it expires. */
  readonly accessToken?: string;
  /** The tokens of an earlier sign-in, to continue with it; or use `signIn`. They win over the others. */
  readonly tokens?: TokenPair;
  /** Milliseconds for each request; 60,000 unless given. */
  readonly timeoutMs?: number;
  /** The number of times that a repeatable request is sent again; 3 unless given. */
  readonly retries?: number;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

type Request = Pick<Call, 'headers' | 'signal' | 'body' | 'anonymous'> &
  Partial<Pick<Call, 'method' | 'repeatable'>> & { readonly path: string };

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const json = async (response: Response): Promise<unknown> => await response.json();
const nothing = async (response: Response): Promise<void> => void (await response.arrayBuffer());

export class PressledgerClient {
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #transport: Transport;
  #tokens: TokenPair | undefined;
  #renewal: Promise<boolean> | undefined;

  constructor(options: ClientOptions) {
    const {
      apiKey,
      accessToken,
      tokens,
      timeoutMs = DEFAULT_TIMEOUT_MS,
      retries = DEFAULT_RETRIES,
    } = options;
    const url = options.server.replace(/\/+$/, '');
    this.#baseUrl = url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
    this.#timeoutMs = timeoutMs;
    this.#tokens = tokens;
    const given = {
      ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }),
      ...(accessToken === undefined ? {} : bearer(accessToken)),
    };
    this.#transport = new Transport({
      timeoutMs,
      retries,
      fetch: options.fetch ?? fetch,
      credential: () => (this.#tokens ? bearer(this.#tokens.access) : given),
      renew: () => this.#renew(),
    });
  }

  /**
   * Asks for a conversion. Only with an idempotency key is it repeated when the service is busy or
   * does not answer: then one credit is taken, however often it is sent.
   * @throws {PressledgerError} the service refused it
   * @throws {PressledgerUnreachable} nothing is known of it
   */
  create(
    options: ConversionOptions,
    { idempotencyKey, signal }: CallOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<AcceptedConversion> {
    const repeatable = idempotencyKey !== undefined;
    const headers = repeatable ? { 'Idempotency-Key': idempotencyKey } : {};
    return this.#json({
      method: 'POST',
      path: '/pdf/',
      body: options,
      headers,
      repeatable,
      signal,
    });
  }

  /** The record as it is now, or as soon as it has ended within `waitSeconds` (at most 30). */
  get(
    id: string,
    { waitSeconds, signal }: CallOptions & { readonly waitSeconds?: number } = {},
  ): Promise<Conversion> {
    const path = `/conversions/${encodeURIComponent(id)}/`;
    const headers = waitSeconds === undefined ? {} : { Prefer: `wait=${waitSeconds}` };
    return this.#json({ path, headers, signal });
  }

  /**
   * Waits until the conversion has ended, however long the service is busy; `signal` ends it sooner.
   * @throws {PressledgerUnreachable} the service cannot be reached any longer
   */
  async wait(id: string, { signal }: CallOptions = {}): Promise<EndedConversion> {
    const held = Math.floor(Math.min(LONGEST_WAIT_SECONDS, this.#timeoutMs / 2000));
    for (let attempt = 0; ; attempt += 1) {
      const started = performance.now();
      try {
        const record = await this.get(id, { waitSeconds: held, ...(signal ? { signal } : {}) });
        if (record.status === 'completed' || record.status === 'failed') return record;
        if (performance.now() - started < HELD_MS) await pause(HELD_MS + delayMs(attempt), signal);
      } catch (error) {
        const busy = isPressledgerError(error) && [429, 503].includes(error.status);
        if (!busy) throw error;
        const delay = error.retryAfter === undefined ? delayMs(attempt) : error.retryAfter * 1000;
        await pause(delay, signal);
      }
    }
  }

  /**
   * The PDF of a completed conversion, as a stream of bytes.
   * @throws {PressledgerError} `forbidden` where its link has expired: get the record again
   */
  async download(
    conversion: Conversion,
    { signal }: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    if (conversion.file_url === undefined) {
      throw new TypeError(`Conversion ${conversion.id} is ${conversion.status}: it has no file.`);
    }
    const call = {
      method: 'GET',
      url: conversion.file_url,
      repeatable: true,
      anonymous: true,
    } as const;
    return await this.#transport.send({ ...call, signal }, async ({ body }) => {
      if (!body) throw new PressledgerUnreachable('The file came without a body.');
      return body;
    });
  }

  listConversions(
    query: PageQuery & { readonly status?: Conversion['status'] } = {},
  ): Promise<Page<Conversion>> {
    return this.#page('/conversions/', query, query.status && { status: query.status });
  }

  /** Every conversion of the account, newest first, read page by page. */
  conversions(query: Omit<PageQuery, 'page'> & { readonly status?: Conversion['status'] } = {}) {
    return everyItem((page) => this.listConversions({ ...query, page }));
  }

  account({ signal }: CallOptions = {}): Promise<Account> {
    return this.#json({ path: '/account/', signal });
  }

  listLedger(query: PageQuery = {}): Promise<Page<LedgerEntry>> {
    return this.#page('/account/ledger/', query);
  }

  /** Every grant, debit and refund, newest first, read page by page. */
  ledger(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listLedger({ ...query, page }));
  }

  listKeys(query: PageQuery = {}): Promise<Page<ApiKey>> {
    return this.#page('/api-keys/', query);
  }

  /** Every key that is in force, newest first, read page by page. */
  keys(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listKeys({ ...query, page }));
  }

  createKey(name: string, { signal }: CallOptions = {}): Promise<NewApiKey> {
    return this.#json({ method: 'POST', path: '/api-keys/', body: { name }, signal });
  }

  async revokeKey(id: string, { signal }: CallOptions = {}): Promise<void> {
    const path = `/api-keys/${encodeURIComponent(id)}/`;
    await this.#transport.send(this.#call({ method: 'DELETE', path, signal }), nothing);
  }

  /** Signs in: from now on its tokens are the credential, and are renewed when they expire. */
  async signIn(email: string, password: string, { signal }: CallOptions = {}): Promise<TokenPair> {
    this.#tokens = await this.#auth('create', { email, password }, signal);
    return this.#tokens;
  }

  /** A new access token; requests that find theirs expired get one by themselves. */
  async refresh({ signal }: CallOptions = {}): Promise<TokenPair> {
    if (!this.#tokens) throw new TypeError('There is no sign-in to refresh: sign in first.');
    const { refresh } = this.#tokens;
    this.#tokens = await this.#auth('refresh', { refresh }, signal);
    return this.#tokens;
  }

  /** Ends the sign-in's tokens, at the service and here. */
  async signOut({ signal }: CallOptions = {}): Promise<void> {
    if (!this.#tokens) return;
    const { refresh } = this.#tokens;
    const path = '/auth/jwt/revoke/';
    const call = { method: 'POST', path, body: { refresh }, anonymous: true, signal } as const;
    await this.#transport.send(this.#call(call), nothing);
    this.#tokens = undefined;
  }

  #auth(what: string, body: object, signal: AbortSignal | undefined): Promise<TokenPair> {
    const path = `/auth/jwt/${what}/`;
    return this.#json({ method: 'POST', path, body, anonymous: true, repeatable: true, signal });
  }

  /** Once for all requests that find their access token expired at the same time. */
  #renew(): Promise<boolean> {
    if (!this.#tokens) return Promise.resolve(false);
    this.#renewal ??= this.refresh()
      .then(
        () => true,
        (error: unknown) => {
          if (isPressledgerError(error, 'unauthorized')) return false;
          throw error;
        },
      )
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }

  #call({ path, method = 'GET', repeatable = method === 'GET', ...rest }: Request): Call {
    return { method, url: this.#baseUrl + path, repeatable, ...rest };
  }

  async #json<T>(request: Request): Promise<T> {
    return (await this.#transport.send(this.#call(request), json)) as T;
  }

  async #page<T>(
    path: string,
    { page = 1, pageSize = DEFAULT_PAGE_SIZE, signal }: PageQuery,
    filter: Readonly<Record<string, string>> | '' | undefined = {},
  ): Promise<Page<T>> {
    const query = new URLSearchParams({
      page: String(page),
      page_size: String(pageSize),
      ...(filter === '' ? {} : filter),
    });
    const call = this.#call({ path: `${path}?${query.toString()}`, signal });
    return await this.#transport.send(call, async (response) => ({
      items: (await response.json()) as T[],
      total: Number(response.headers.get('x-total-count')),
      page,
      pageSize,
    }));
  }
}
