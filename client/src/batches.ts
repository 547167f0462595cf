/** Batches: many conversions that are accepted together, and followed together. */
import type { ConversionOptions, PrintOptions, TemplateSource } from './conversion-options.ts';
import { type CallOptions, type ConvertOptions, testedPath } from './options.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import type { Requests } from './requests.ts';

export interface Batch {
  id: string;
  /** `cancelled`: what had not ended was cancelled. */
  status: 'running' | 'ended' | 'cancelled';
  total: number;
  /** The number of conversions that have not ended. */
  pending: number;
  completed: number;
  failed: number;
  created_at: string;
  cancelled_at?: string;
  /** The time when the last conversion ended. */
  ended_at?: string;
  reference?: string;
  tags?: Record<string, string>;
  /** Present if a test key asked for it: all of its conversions are tests. */
  test?: boolean;
  /** The ids of the conversions, in the order of the requests. Lists leave them out. */
  conversions?: string[];
}

/** Defaults of those requests that do not have the field, and who is told of the end. */
export type BatchOptions = Pick<
  ConversionOptions,
  'reference' | 'tags' | 'priority' | 'webhook_url'
> & {
  /** The template of those requests that have no source of their own: they need data alone. */
  readonly template?: string;
};

/** With the template of the batch, data alone is a request. */
export type BatchItem = ConversionOptions | (PrintOptions & Pick<TemplateSource, 'data' | 'files'>);

const pathOf = (id: string): string => `/batches/${encodeURIComponent(id)}/`;

export class Batches {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Creates up to 1,000 conversions, all or none. Only with an idempotency key is the request repeated when the
   * service is busy or does not answer.
   * @throws {PressledgerError} nothing was accepted; `details` names each mistake as `requests.0.html`
   */
  create(
    requests: readonly BatchItem[],
    { idempotencyKey, test, signal, ...common }: BatchOptions & ConvertOptions = {},
  ): Promise<Batch> {
    const key = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const repeatable = idempotencyKey !== undefined;
    const body = { requests, ...common };
    const path = testedPath('/batches/', test);
    return this.#requests.json('POST', path, { body, headers: key, repeatable, signal });
  }

  /** Retrieves a batch as it is now, or as soon as it has ended within `waitSeconds` (at most 30). */
  get(
    id: string,
    { waitSeconds, signal }: CallOptions & { readonly waitSeconds?: number } = {},
  ): Promise<Batch> {
    const headers = waitSeconds === undefined ? {} : { Prefer: `wait=${waitSeconds}` };
    return this.#requests.json('GET', pathOf(id), { headers, signal });
  }

  /** Lists one page of batches, newest first. */
  list(query: PageQuery = {}): Promise<Page<Batch>> {
    return this.#requests.page('/batches/', query, {});
  }

  /** Iterates over all batches, newest first, page by page. */
  all(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.list({ ...query, page }));
  }

  /** Cancels the conversions of a batch that have not ended. */
  cancel(id: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.remove(pathOf(id), options);
  }

  /** Downloads all PDFs as one ZIP file; with `partial` those that are there before the end. */
  zip(
    id: string,
    { partial = false, signal }: CallOptions & { readonly partial?: boolean } = {},
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#requests.stream(`${pathOf(id)}zip/?partial=${partial}`, { signal });
  }
}
