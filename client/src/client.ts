/** A typed client of the service. It needs nothing but `fetch`: Node, Deno, Bun or a browser. */

import { delayMs, pause, withTimeout } from './back-off.ts';
import { Batches } from './batches.ts';
import type { ConversionOptions } from './conversion-options.ts';
import { isPressledgerError, PressledgerError, PressledgerUnreachable } from './errors.ts';
import {
  type AsOf,
  baseUrlOf,
  type CallOptions,
  type ClientOptions,
  type CreateOptions,
  HELD_MS,
  LONGEST_WAIT_SECONDS,
  randomKey,
  sha256Of,
  type WaitOptions,
  withDefaults,
  withMoment,
} from './options.ts';
import {
  type ConversionFilter,
  everyItem,
  type Page,
  type PageQuery,
  pageQuery,
  pageReader,
  type QueryFilter,
} from './pages.ts';
import { bearer, bytes, type Call, json, nothing, Transport } from './transport.ts';
import {
  type AcceptedConversion,
  type Account,
  type ApiKey,
  type Conversion,
  type ConversionProof,
  type EndedConversion,
  hasEnded,
  type LedgerEntry,
  type NewApiKey,
  type TokenPair,
  type Verification,
} from './types.ts';
import { Webhooks } from './webhooks.ts';

type Request = Pick<Call, 'headers' | 'signal' | 'body' | 'anonymous'> &
  Partial<Pick<Call, 'method' | 'repeatable'>> & { readonly path: string };

async function bodyOf({ body }: Response): Promise<ReadableStream<Uint8Array>> {
  if (!body) throw new PressledgerUnreachable('The file came without a body.');
  return body;
}

export class PressledgerClient {
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #transport: Transport;
  /** Many conversions that are accepted and followed together. */
  readonly batches: Batches;
  /** Endpoints that are told of events, and what was delivered to them. */
  readonly webhooks: Webhooks;
  #tokens: TokenPair | undefined;
  #renewal: Promise<boolean> | undefined;

  /** @throws {TypeError} `server` is not the address of a service */
  constructor(options: ClientOptions) {
    const { apiKey, accessToken, tokens, timeoutMs, retries } = withDefaults(options);
    this.#baseUrl = baseUrlOf(options.server);
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
    const requests: ConstructorParameters<typeof Batches>[0] &
      ConstructorParameters<typeof Webhooks>[0] = {
      json: (method, path, rest) => this.#json({ method, path, ...rest }),
      remove: (path, rest) => this.#remove(path, rest),
      page: (path, query, filter) => this.#page(path, query, filter),
      stream: (path, rest) => this.#transport.send(this.#call({ path, ...rest }), bodyOf),
    };
    this.batches = new Batches(requests);
    this.webhooks = new Webhooks(requests);
  }

  /**
   * Converts a document: creates the conversion, waits until it has ended and downloads the PDF. The
   * request is repeated when the service is busy or does not answer; one credit is taken all the same.
   * @example await writeFile('invoice.pdf', await client.convert({ html: '<h1>Invoice 4711</h1>' }));
   * @throws {PressledgerError} the service refused the request, or no PDF could be made (`conversion_failed`)
   * @throws {PressledgerTimeout} it took longer than `timeoutMs`
   * @throws {PressledgerUnreachable} the service cannot be reached
   */
  convert(
    options: ConversionOptions,
    { idempotencyKey = randomKey(), timeoutMs, signal }: CreateOptions & WaitOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return withTimeout('The PDF is not ready', timeoutMs, signal, async (within) => {
      const record = await this.#create(options, within, {
        'Idempotency-Key': idempotencyKey,
        Prefer: `wait=${this.#longestHold}`,
      });
      const ended = hasEnded(record) ? record : await this.#ended(record.id, within);
      if (ended.status === 'completed') return await this.#download(ended.file_url, within, bytes);
      const answer = { status: 422, headers: new Headers() };
      const body = { error: 'conversion_failed', message: ended.error_message } as const;
      throw new PressledgerError(answer, body);
    });
  }

  /**
   * Creates a conversion and resolves as soon as it is accepted. Only with an idempotency key is the
   * request repeated when the service is busy or does not answer: one credit is taken all the same.
   * @example const { id } = await client.create({ url: 'https://example.com/' }, { idempotencyKey: 'report-11' });
   * @throws {PressledgerError} the service refused it
   * @throws {PressledgerUnreachable} it is not known whether the conversion was accepted
   */
  create(
    options: ConversionOptions,
    { idempotencyKey, signal }: CreateOptions = {},
  ): Promise<AcceptedConversion> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.#create(options, signal, headers);
  }

  /** Retrieves the record as it is now or was at `asOf`, or as soon as it has ended within `waitSeconds` (at most 30). */
  get(
    id: string,
    { waitSeconds, signal, ...moment }: CallOptions & AsOf & { readonly waitSeconds?: number } = {},
  ): Promise<Conversion> {
    const path = withMoment(`/conversions/${encodeURIComponent(id)}/`, moment);
    const headers = waitSeconds === undefined ? {} : { Prefer: `wait=${waitSeconds}` };
    return this.#json({ path, headers, signal });
  }

  /**
   * Waits until the conversion has ended, however long the service is busy.
   * @throws {PressledgerTimeout} it took longer than `timeoutMs`
   * @throws {PressledgerUnreachable} the service cannot be reached any longer
   */
  wait(id: string, { timeoutMs, signal }: WaitOptions = {}): Promise<EndedConversion> {
    return withTimeout(`Conversion ${id} has not ended`, timeoutMs, signal, (within) =>
      this.#ended(id, within),
    );
  }

  /**
   * Downloads the PDF of a completed conversion, as a stream of bytes.
   * @throws {PressledgerError} `forbidden` where its link has expired: get the record again
   */
  async download(
    conversion: Conversion,
    { signal }: CallOptions = {},
  ): Promise<ReadableStream<Uint8Array>> {
    if (conversion.file_url === undefined) {
      throw new TypeError(`Conversion ${conversion.id} is ${conversion.status}: it has no file.`);
    }
    return await this.#download(conversion.file_url, signal, bodyOf);
  }

  /**
   * Retrieves the picture of a page that failed, a JPEG.
   * @throws {PressledgerError} `not_found` where there is none, `gone` where it is deleted
   */
  picture(id: string, { signal }: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const path = `/conversions/${encodeURIComponent(id)}/picture/`;
    return this.#transport.send(this.#call({ path, repeatable: true, signal }), bytes);
  }

  /** Cancels a conversion that is unfinished, and deletes the PDF and all else that is stored of one that has ended. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#remove(`/conversions/${encodeURIComponent(id)}/`, options);
  }

  /** Asks for a new conversion of the request of one that has ended, while it is stored. Repeated as `create` is. */
  retry(id: string, { idempotencyKey, signal }: CreateOptions = {}): Promise<AcceptedConversion> {
    const path = `/conversions/${encodeURIComponent(id)}/retry/`;
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const repeatable = idempotencyKey !== undefined;
    return this.#json({ method: 'POST', path, headers, repeatable, signal });
  }

  /** Retrieves every event of the conversion so far, each with the proof that a signed checkpoint covers it. */
  proof(id: string, { signal }: CallOptions = {}): Promise<ConversionProof> {
    return this.#json({ path: `/conversions/${encodeURIComponent(id)}/proof/`, signal });
  }

  /** Lists one page of conversions, newest first. */
  listConversions({
    page,
    pageSize,
    asOf,
    signal,
    ...filter
  }: PageQuery & ConversionFilter = {}): Promise<Page<Conversion>> {
    return this.#page('/conversions/', { page, pageSize, asOf, signal }, filter);
  }

  /**
   * Iterates over all conversions of the account, newest first, page by page.
   */
  conversions(query: Omit<PageQuery, 'page'> & ConversionFilter = {}) {
    return everyItem((page) => this.listConversions({ ...query, page }));
  }

  /**
   * Asks whether a conversion of the account made a PDF. The service gets its SHA-256 alone.
   * @param pdf the bytes, or their SHA-256 in hexadecimal digits
   */
  async verify(
    pdf: Uint8Array<ArrayBuffer> | string,
    { signal }: CallOptions = {},
  ): Promise<Verification> {
    const body = { sha256: typeof pdf === 'string' ? pdf : await sha256Of(pdf) };
    return await this.#json({ method: 'POST', path: '/verify/', body, repeatable: true, signal });
  }

  /** Retrieves the account that the credential belongs to, as it is now or was at `asOf`. */
  account({ signal, ...moment }: CallOptions & AsOf = {}): Promise<Account> {
    return this.#json({ path: withMoment('/account/', moment), signal });
  }

  /** Lists one page of grants, debits and refunds, newest first. */
  listLedger(query: PageQuery = {}): Promise<Page<LedgerEntry>> {
    return this.#page('/account/ledger/', query);
  }

  /** Iterates over all grants, debits and refunds, newest first, page by page. */
  ledger(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listLedger({ ...query, page }));
  }

  /** Lists one page of the keys in force, newest first. */
  listKeys(query: PageQuery = {}): Promise<Page<ApiKey>> {
    return this.#page('/api-keys/', query);
  }

  /** Iterates over all keys in force, newest first, page by page. */
  keys(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listKeys({ ...query, page }));
  }

  /** Creates an API key. The answer is the only one that holds the full key. */
  createKey(name: string, { signal }: CallOptions = {}): Promise<NewApiKey> {
    return this.#json({ method: 'POST', path: '/api-keys/', body: { name }, signal });
  }

  /** Revokes an API key: the next request with it is refused. */
  revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    return this.#remove(`/api-keys/${encodeURIComponent(id)}/`, options);
  }

  /** Signs in. From then on the tokens are the credential, and the access token is renewed when it expires. */
  async signIn(email: string, password: string, { signal }: CallOptions = {}): Promise<TokenPair> {
    this.#tokens = await this.#auth('create', { email, password }, signal);
    return this.#tokens;
  }

  /** Gets a new access token. Requests that find theirs expired do this by themselves. */
  async refresh({ signal }: CallOptions = {}): Promise<TokenPair> {
    if (!this.#tokens) throw new TypeError('There is no sign-in to refresh: sign in first.');
    const { refresh } = this.#tokens;
    this.#tokens = await this.#auth('refresh', { refresh }, signal);
    return this.#tokens;
  }

  /** Signs out: the tokens end at the service, and this client forgets them. */
  async signOut({ signal }: CallOptions = {}): Promise<void> {
    if (!this.#tokens) return;
    const { refresh } = this.#tokens;
    const path = '/auth/jwt/revoke/';
    const call = { method: 'POST', path, body: { refresh }, anonymous: true, signal } as const;
    await this.#transport.send(this.#call(call), nothing);
    this.#tokens = undefined;
  }

  /** The longest time in seconds that the service is asked to hold one request. */
  get #longestHold(): number {
    return Math.floor(Math.min(LONGEST_WAIT_SECONDS, this.#timeoutMs / 2000));
  }

  #create<T extends AcceptedConversion | EndedConversion>(
    body: ConversionOptions,
    signal: AbortSignal | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<T> {
    const repeatable = 'Idempotency-Key' in headers;
    return this.#json({ method: 'POST', path: '/pdf/', body, headers, repeatable, signal });
  }

  async #ended(id: string, signal: AbortSignal | undefined): Promise<EndedConversion> {
    for (let attempt = 0; ; attempt += 1) {
      const started = performance.now();
      try {
        const record = await this.get(id, { waitSeconds: this.#longestHold, signal });
        if (hasEnded(record)) return record;
        if (performance.now() - started < HELD_MS) await pause(HELD_MS + delayMs(attempt), signal);
      } catch (error) {
        const busy = isPressledgerError(error) && [429, 503].includes(error.status);
        if (!busy) throw error;
        const delay = error.retryAfter === undefined ? delayMs(attempt) : error.retryAfter * 1000;
        await pause(delay, signal);
      }
    }
  }

  #download<T>(
    url: string,
    signal: AbortSignal | undefined,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const call = { method: 'GET', url, repeatable: true, anonymous: true, signal } as const;
    return this.#transport.send(call, read);
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

  async #remove(path: string, { signal }: CallOptions = {}): Promise<void> {
    await this.#transport.send(this.#call({ method: 'DELETE', path, signal }), nothing);
  }

  async #json<T>(request: Request): Promise<T> {
    return (await this.#transport.send(this.#call(request), json)) as T;
  }

  async #page<T>(path: string, asked: PageQuery, filter: QueryFilter = {}): Promise<Page<T>> {
    const { page, pageSize, query } = pageQuery(asked, filter);
    const call = this.#call({ path: `${path}?${query}`, signal: asked.signal });
    return await this.#transport.send(call, pageReader<T>(page, pageSize));
  }
}
