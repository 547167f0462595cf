/** A typed client of the service. It needs nothing but `fetch`: Node, Deno, Bun or a browser. */
import { withTimeout } from './back-off.ts';
import { Batches } from './batches.ts';
import { Documents } from './documents.ts';
import type { ConversionOptions } from './conversion-options.ts';
import { PressledgerError } from './errors.ts';
import {
  type AsOf,
  baseUrlOf,
  type CallOptions,
  type ClientOptions,
  type ConvertOptions,
  type CreateOptions,
  LONGEST_WAIT_SECONDS,
  randomKey,
  sha256Of,
  testedPath,
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
import type { Requests } from './requests.ts';
import { Session } from './session.ts';
import { Links } from './links.ts';
import { Members } from './members.ts';
import { Templates } from './templates.ts';
import { Signature } from './signature.ts';
import { bearer, bodyOf, bytes, type Call, json, nothing, Transport } from './transport.ts';
import {
  type AcceptedConversion,
  type Account,
  type ApiKey,
  type Conversion,
  type ConversionProof,
  type EndedConversion,
  hasEnded,
  type LedgerEntry,
  type KeyBounds,
  type NewApiKey,
  type TokenPair,
  type LowCredits,
  type PublicName,
  type Verification,
} from './types.ts';
import { untilEnded } from './until-ended.ts';
import { Webhooks } from './webhooks.ts';

type Request = Pick<Call, 'headers' | 'signal' | 'body' | 'anonymous'> &
  Partial<Pick<Call, 'method' | 'repeatable'>> & { readonly path: string };

const PUBLIC_NAME = '/account/public-name/';
const LOW_CREDITS = '/account/low-credits/';

interface SignInOptions {
  /** The account to sign in to. */
  readonly account?: string;
  /** A code of the person's authenticator, or a recovery code: needed where they have one. */
  readonly otp?: string;
}

export class PressledgerClient {
  readonly #baseUrl: string;
  readonly #timeoutMs: number;
  readonly #transport: Transport;
  readonly #session: Session;
  /** Many conversions that are accepted and followed together. */
  readonly batches: Batches;
  /** Links by which anybody can download a file. */
  readonly links: Links;
  /** Work on finished PDFs. */
  readonly documents: Documents;
  /** Endpoints that are told of events, and what was delivered to them. */
  readonly webhooks: Webhooks;
  /** The certificate that PDFs are signed with. */
  readonly signature: Signature;
  /** Stored templates, which documents are made of with data. */
  readonly templates: Templates;
  /** The people of the account. */
  readonly members: Members;

  /** @throws {TypeError} `server` is not the address of a service */
  constructor(options: ClientOptions) {
    const { apiKey, accessToken, tokens, timeoutMs, retries } = withDefaults(options);
    this.#baseUrl = baseUrlOf(options.server);
    this.#timeoutMs = timeoutMs;
    const given = {
      ...(apiKey === undefined ? {} : { 'X-API-Key': apiKey }),
      ...(accessToken === undefined ? {} : bearer(accessToken)),
    };
    this.#session = new Session(given, tokens, {
      tokens: (what, body, signal) => this.#auth(what, body, signal),
      revoke: (body, signal) =>
        this.#transport.send(this.#authCall('revoke', body, signal), nothing),
    });
    this.#transport = new Transport({
      timeoutMs,
      retries,
      fetch: options.fetch ?? fetch,
      credential: () => this.#session.credential,
      renew: () => this.#session.renew(),
    });
    const requests: Requests = {
      json: (method, path, rest) => this.#json({ method, path, ...rest }),
      remove: (path, rest) => this.#remove(path, rest),
      post: (path, rest) =>
        this.#transport.send(this.#call({ method: 'POST', path, ...rest }), nothing),
      page: (path, query, filter) => this.#page(path, query, filter),
      stream: (path, rest) => this.#transport.send(this.#call({ path, ...rest }), bodyOf),
    };
    this.batches = new Batches(requests);
    this.links = new Links(requests);
    this.documents = new Documents(requests);
    this.webhooks = new Webhooks(requests);
    this.signature = new Signature(requests);
    this.templates = new Templates(requests);
    this.members = new Members(requests);
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
    { idempotencyKey = randomKey(), test, timeoutMs, signal }: ConvertOptions & WaitOptions = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    return withTimeout('The PDF is not ready', timeoutMs, signal, async (within) => {
      const record = await this.#create(
        options,
        { test, signal: within },
        {
          'Idempotency-Key': idempotencyKey,
          Prefer: `wait=${this.#longestHold}`,
        },
      );
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
    { idempotencyKey, ...call }: ConvertOptions = {},
  ): Promise<AcceptedConversion> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return this.#create(options, call, headers);
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
   * Downloads the PDFs of up to 100 conversions as one ZIP file. Those that have no PDF, or none any more, are left out.
   * @throws {PressledgerError} `not_found` where one of the ids is unknown; `not_ready`, `conversion_failed` or `gone` where none has a PDF
   */
  zip(ids: readonly string[], { signal }: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    const path = `/conversions/zip/?${ids.map((id) => `id=${encodeURIComponent(id)}`).join('&')}`;
    return this.#transport.send(this.#call({ path, signal }), bodyOf);
  }

  /**
   * Retrieves the picture of a page that failed, a JPEG.
   * @throws {PressledgerError} `not_found` where there is none, `gone` where it is deleted
   */
  picture(id: string, { signal }: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const path = `/conversions/${encodeURIComponent(id)}/picture/`;
    return this.#transport.send(this.#call({ path, repeatable: true, signal }), bytes);
  }

  /**
   * Retrieves a picture of the first page of a PDF, a PNG. Looking at it does not count as a download.
   * @throws {PressledgerError} `not_found` where none can be drawn, `gone` where the PDF is deleted
   */
  thumbnail(id: string, { signal }: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const path = `/conversions/${encodeURIComponent(id)}/thumbnail/`;
    return this.#transport.send(this.#call({ path, repeatable: true, signal }), bytes);
  }

  /** Cancels a conversion that is unfinished, and deletes the PDF and all else that is stored of one that has ended. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#remove(`/conversions/${encodeURIComponent(id)}/`, options);
  }

  /** Asks for a new conversion of the request of one that has ended, while it is stored. Repeated as `create` is. */
  retry(id: string, options: ConvertOptions = {}): Promise<AcceptedConversion> {
    return this.#onceMore(id, 'retry', options);
  }

  /**
   * Renders the request of a completed conversion again: the new one's `rerender` says if its PDF is equal. Repeated as
   * `create` is.
   */
  rerender(id: string, options: ConvertOptions = {}): Promise<AcceptedConversion> {
    return this.#onceMore(id, 'rerender', options);
  }

  #onceMore(
    id: string,
    act: 'retry' | 'rerender',
    { idempotencyKey, test, signal }: ConvertOptions,
  ): Promise<AcceptedConversion> {
    const path = testedPath(`/conversions/${encodeURIComponent(id)}/${act}/`, test);
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const repeatable = idempotencyKey !== undefined;
    return this.#json({ method: 'POST', path, headers, repeatable, signal });
  }

  /** Retrieves every event of the conversion so far, each with the proof that a signed checkpoint covers it. */
  proof(id: string, { signal }: CallOptions = {}): Promise<ConversionProof> {
    return this.#json({ path: `/conversions/${encodeURIComponent(id)}/proof/`, signal });
  }

  /** Lists one page of conversions, newest first unless asked otherwise. */
  listConversions({
    page,
    pageSize,
    asOf,
    signal,
    ...filter
  }: PageQuery & ConversionFilter = {}): Promise<Page<Conversion>> {
    return this.#page('/conversions/', { page, pageSize, asOf, signal }, filter);
  }

  /** Iterates over all conversions of the account, newest first unless asked otherwise, page by page. */
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

  /** Retrieves the name that people are told who check a PDF of the account in public. */
  publicName({ signal }: CallOptions = {}): Promise<PublicName> {
    return this.#json({ path: PUBLIC_NAME, signal });
  }

  /** Has people who check a PDF of the account in public be told this name. The service does not check it. */
  setPublicName(name: string, { signal }: CallOptions = {}): Promise<PublicName> {
    const body = { name };
    return this.#json({ method: 'PUT', path: PUBLIC_NAME, body, repeatable: true, signal });
  }

  /** Removes that name. */
  removePublicName(options: CallOptions = {}): Promise<void> {
    return this.#remove(PUBLIC_NAME, options);
  }

  /** Retrieves below how many credits owners get a mail; null: below a tenth of what was granted last. */
  lowCredits({ signal }: CallOptions = {}): Promise<LowCredits> {
    return this.#json({ path: LOW_CREDITS, signal });
  }

  /** Has owners get a mail once each time that the credits fall below it; 0: never. */
  setLowCredits(below: number, { signal }: CallOptions = {}): Promise<LowCredits> {
    const body = { below };
    return this.#json({ method: 'PUT', path: LOW_CREDITS, body, repeatable: true, signal });
  }

  /** Goes back to a tenth of what was granted last. */
  resetLowCredits(options: CallOptions = {}): Promise<void> {
    return this.#remove(LOW_CREDITS, options);
  }

  /** Lists one page of grants, debits and refunds, newest first. */
  listLedger(query: PageQuery = {}): Promise<Page<LedgerEntry>> {
    return this.#page('/account/ledger/', query);
  }

  /** Iterates over all grants, debits and refunds, newest first, page by page. */
  ledger(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listLedger({ ...query, page }));
  }

  /**
   * Makes the statement of a month that is over, such as `2026-10`: a conversion that costs no credit.
   * @throws {PressledgerError} the service refused it
   */
  createStatement(
    month: string,
    { idempotencyKey, signal }: CreateOptions = {},
  ): Promise<AcceptedConversion> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const path = '/usage/statements/';
    const repeatable = idempotencyKey !== undefined;
    return this.#json({ method: 'POST', path, body: { month }, headers, repeatable, signal });
  }

  /** Lists one page of the keys in force, newest first. */
  listKeys(query: PageQuery = {}): Promise<Page<ApiKey>> {
    return this.#page('/api-keys/', query);
  }

  /** Iterates over all keys in force, newest first, page by page. */
  keys(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.listKeys({ ...query, page }));
  }

  /**
   * Creates an API key. The answer is the only one that holds the full key.
   * @example const { key } = await client.createKey('shop', { scopes: ['convert'], expires_at: '2027-06-30T00:00:00Z' });
   */
  createKey(name: string, { signal, ...bounds }: CallOptions & KeyBounds = {}): Promise<NewApiKey> {
    return this.#json({ method: 'POST', path: '/api-keys/', body: { name, ...bounds }, signal });
  }

  /** Revokes an API key: the next request with it is refused. */
  revokeKey(id: string, options: CallOptions = {}): Promise<void> {
    return this.#remove(`/api-keys/${encodeURIComponent(id)}/`, options);
  }

  /**
   * Signs in. From then on the tokens are the credential, and the access token is renewed when it expires. People who belong to
   * several accounts sign in to their own, or to the one that they have belonged to longest, unless they name one.
   */
  signIn(
    email: string,
    password: string,
    { account, otp, signal }: CallOptions & SignInOptions = {},
  ): Promise<TokenPair> {
    const which = { ...(account && { account }), ...(otp && { otp }) };
    return this.#session.signIn({ email, password, ...which }, signal);
  }

  /** Gets a new access token. Requests that find theirs expired do this by themselves. */
  refresh({ signal }: CallOptions = {}): Promise<TokenPair> {
    return this.#session.refresh(signal);
  }

  /** Signs out: the tokens end at the service, and this client forgets them. */
  signOut({ signal }: CallOptions = {}): Promise<void> {
    return this.#session.signOut(signal);
  }

  /** The longest time in seconds that the service is asked to hold one request. */
  get #longestHold(): number {
    return Math.floor(Math.min(LONGEST_WAIT_SECONDS, this.#timeoutMs / 2000));
  }

  #create<T extends AcceptedConversion | EndedConversion>(
    body: ConversionOptions,
    { test, signal }: ConvertOptions,
    headers: Readonly<Record<string, string>>,
  ): Promise<T> {
    const repeatable = 'Idempotency-Key' in headers;
    const path = testedPath('/pdf/', test);
    return this.#json({ method: 'POST', path, body, headers, repeatable, signal });
  }

  #ended(id: string, signal: AbortSignal | undefined): Promise<EndedConversion> {
    const look = () => this.get(id, { waitSeconds: this.#longestHold, signal });
    return untilEnded(look, signal);
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
    const call = { ...this.#authCall(what, body, signal), repeatable: true };
    return this.#transport.send(call, json) as Promise<TokenPair>;
  }

  #authCall(what: string, body: object, signal: AbortSignal | undefined): Call {
    const path = `/auth/jwt/${what}/`;
    return this.#call({ method: 'POST', path, body, anonymous: true, signal });
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
