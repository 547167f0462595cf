/** What a resource of the client, such as its batches, has sent for it. */
import type { CallOptions } from './options.ts';
import type { Page, PageQuery } from './pages.ts';

interface JsonOptions extends CallOptions {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** True: it may be sent again when the service is busy or does not answer. GETs always may. */
  readonly repeatable?: boolean;
}

/** Sends requests of the client, with its credential. */
export interface Requests {
  json<T>(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH',
    path: string,
    options?: JsonOptions,
  ): Promise<T>;
  /** Sends what is answered without a body. */
  post(path: string, options: JsonOptions): Promise<void>;
  remove(path: string, options?: CallOptions): Promise<void>;
  page<T>(
    path: string,
    query: PageQuery,
    filter: Readonly<Record<string, string | undefined>>,
  ): Promise<Page<T>>;
  stream(path: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>>;
}
