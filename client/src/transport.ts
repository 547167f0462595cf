/** One request after another until it is answered: credential, time limit, retries. */
import { pause, retryDelayMs } from './back-off.ts';
import { isPressledgerError, PressledgerUnreachable, refusalIn } from './errors.ts';

export interface TransportOptions {
  readonly timeoutMs: number;
  readonly retries: number;
  readonly fetch: typeof fetch;
  readonly credential: () => Readonly<Record<string, string>>;
  /** Gets another credential after a 401; false if there is none to get. */
  readonly renew: () => Promise<boolean>;
}

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** True if it may be sent again when nothing is known of the first. */
  readonly repeatable: boolean;
  /** True if it is sent without a credential. */
  readonly anonymous?: boolean;
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
export const json = async (response: Response): Promise<unknown> => await response.json();
export const nothing = async (response: Response): Promise<void> =>
  void (await response.arrayBuffer());
export const bytes = async (response: Response) => new Uint8Array(await response.arrayBuffer());

type Read<T> = (response: Response) => Promise<T>;

export class Transport {
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  /**
   * @param read takes the answer's body in, within the time limit
   * @throws {PressledgerError} the service refused it
   * @throws {PressledgerUnreachable} nothing is known of it
   */
  async send<T>(call: Call, read: Read<T>): Promise<T> {
    let renewed = call.anonymous === true;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#attempt(call, read);
      } catch (error) {
        if (!renewed && isPressledgerError(error, 'unauthorized')) {
          renewed = true;
          if (await this.#options.renew()) continue;
        }
        const again = call.repeatable && attempt < this.#options.retries;
        const delay = again ? retryDelayMs(error, attempt) : undefined;
        if (delay === undefined) throw error;
        await pause(delay, call.signal);
      }
    }
  }

  async #attempt<T>(call: Call, read: Read<T>): Promise<T> {
    call.signal?.throwIfAborted();
    const { timeoutMs } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const response = await this.#fetch(call, late.signal);
      if (!response.ok) throw await refusalIn(response);
      return await read(response);
    } catch (error) {
      if (isPressledgerError(error) || error instanceof PressledgerUnreachable) throw error;
      call.signal?.throwIfAborted();
      const { host } = new URL(call.url);
      const message = late.signal.aborted
        ? `No answer from ${host} within ${timeoutMs / 1000} seconds.`
        : `No answer from ${host}: is the service running there?`;
      throw new PressledgerUnreachable(message, { cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  #fetch({ method, url, body, headers, signal, anonymous }: Call, late: AbortSignal) {
    // Called as a function: a browser's fetch wants no other `this`.
    const { fetch: send, credential } = this.#options;
    return send(url, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(anonymous === true ? {} : credential()),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // `fetch` would take an API key, a password or a document along to any other host.
      redirect: anonymous === true && body === undefined ? 'follow' : 'manual',
      signal: signal ? AbortSignal.any([signal, late]) : late,
    });
  }
}

export async function bodyOf({ body }: Response): Promise<ReadableStream<Uint8Array>> {
  if (!body) throw new PressledgerUnreachable('The file came without a body.');
  return body;
}
