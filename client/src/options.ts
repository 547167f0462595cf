/** The options of the client and of its calls. */
import type { TokenPair } from './types.ts';

const BASE_PATH = '/api/v1';

/** The longest time that one request may ask the service to hold it. */
export const LONGEST_WAIT_SECONDS = 30;
/** An answer sooner than that was not held: somebody on the way passes `Prefer` over. */
export const HELD_MS = 1000;

export interface ClientOptions {
  /**
   * The service's origin or its base URL. Without a scheme, `http` is used for this machine and `https`
   * for any other.
   * @example 'https://pdf.example.com'
   * @example 'localhost:8080'
   */
  readonly server: string;
  /** @example 'pk_live_Ab3dEf6hIj9lMn2pQr5tUv8x' */
  readonly apiKey?: string | undefined;
  /** An access token. It is not renewed when it expires: for that, give `tokens` or use `signIn`. */
  readonly accessToken?: string | undefined;
  /** The tokens of an earlier sign-in, to continue with it. They win over the other credentials. */
  readonly tokens?: TokenPair | undefined;
  /**
   * The time limit of each request, in milliseconds.
   * @default 60000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The number of times that a repeatable request is sent again.
   * @default 3
   */
  readonly retries?: number | undefined;
  /**
   * Sends the requests.
   * @default globalThis.fetch
   */
  readonly fetch?: typeof fetch | undefined;
}

export const withDefaults = ({ timeoutMs = 60_000, retries = 3, ...rest }: ClientOptions) => ({
  ...rest,
  timeoutMs,
  retries,
});

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface AsOf {
  /**
   * An earlier moment to answer for: a time, or a position of the log.
   * @example '2026-11-21T08:15:30Z'
   * @example '4711'
   */
  readonly asOf?: string | Date | undefined;
}

/** The query parameter of a moment, if any. */
export const asOfQuery = ({ asOf }: AsOf): Readonly<Record<string, string>> =>
  asOf === undefined ? {} : { as_of: typeof asOf === 'string' ? asOf : asOf.toISOString() };

export const withMoment = (path: string, moment: AsOf): string =>
  moment.asOf === undefined ? path : `${path}?${new URLSearchParams(asOfQuery(moment)).toString()}`;

export interface WaitOptions extends CallOptions {
  /**
   * The longest time to wait, in milliseconds. The conversion goes on after it.
   * @default Infinity
   */
  readonly timeoutMs?: number | undefined;
}

export interface CreateOptions extends CallOptions {
  /**
   * Makes the request safe to repeat: for 24 hours the same key gets the same conversion.
   * @example 'invoice-4711'
   */
  readonly idempotencyKey?: string | undefined;
}

export interface ConvertOptions extends CreateOptions {
  /** Makes a test: it costs no credit, has a watermark and is deleted after a day at most. */
  readonly test?: boolean | undefined;
}

/** A path with what asks for a test. */
export const testedPath = (path: string, test: boolean | undefined): string =>
  test === true ? `${path}?test=true` : path;

/**
 * The address of a service, with the scheme that was left out: a key goes unencrypted to this machine only.
 * @param server may be missing where a program in JavaScript read it from its environment
 * @throws {TypeError} it is not an http or https address
 */
export function addressOf(server: string | undefined): string {
  const scheme = /^(localhost|127\.[\d.]+|\[::1\])(:|\/|$)/i.test(server ?? '') ? 'http' : 'https';
  const address = server?.includes('://') ? server : `${scheme}://${server}`;
  const { protocol } = URL.canParse(address) ? new URL(address) : {};
  if (server !== undefined && (protocol === 'http:' || protocol === 'https:')) return address;
  const example = 'an http or https address such as http://localhost:8080';
  throw new TypeError(`server must be ${example}, but it is ${server}.`);
}

/** @throws {TypeError} it is not the address of a service */
export function baseUrlOf(server: string | undefined): string {
  const url = addressOf(server).replace(/\/+$/, '');
  return url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
}

const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Not `randomUUID`, which browsers offer to secure pages only. */
export const randomKey = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

/** The SHA-256 in hexadecimal digits. Browsers can compute it in secure pages only. */
export const sha256Of = async (content: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest('SHA-256', content)));
