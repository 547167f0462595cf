/** Signed requests to an S3-compatible server, each within a bounded time, with more tries. */
import { hash, randomInt } from 'node:crypto';
import { request as plainRequest, type IncomingMessage, Agent as PlainAgent } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { AwsV4Signer } from 'aws4fetch';
import { reasonOf } from '../reason.ts';
import { type ObjectContent, ObjectsUnavailable, withIdleLimit } from './objects.ts';
import type { S3Credentials, S3Location } from './s3-location.ts';

export interface S3Limits {
  /** How often a request is sent before it counts as failed. */
  readonly tries: number;
  /** The longest silence: before the answer, and between two parts of it. */
  readonly idleMs: number;
  /** The pause before the second try, twice as long before each further one, at random up to that. */
  readonly backOffMs: number;
}

export const S3_LIMITS: S3Limits = { tries: 4, idleMs: 5000, backOffMs: 100 };

/** Too slow, in conflict with a write at the same moment, too many: each is worth another try. */
const BUSY: readonly number[] = [408, 409, 429];
const NOT_IMPLEMENTED = 501;
/** A link slower than this counts as down. */
const SLOWEST_BYTES_PER_MS = 64;
export const LARGEST_ERROR_BYTES = 64 * 1024;
const EMPTY_SHA256 = hash('sha256', '', 'hex');

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** Below the bucket; empty for the bucket itself. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content?: ObjectContent;
}

export class S3Client {
  readonly location: S3Location;
  readonly limits: S3Limits;
  readonly #credentials: S3Credentials;
  readonly #agent: PlainAgent;
  readonly #send: typeof plainRequest;
  readonly #base: string;

  constructor(location: S3Location, credentials: S3Credentials, limits: S3Limits = S3_LIMITS) {
    this.location = location;
    this.limits = limits;
    this.#credentials = credentials;
    const { protocol, host } = new URL(location.endpoint);
    const encrypted = protocol === 'https:';
    const options = { keepAlive: true, maxSockets: 64 };
    this.#agent = encrypted ? new TlsAgent(options) : new PlainAgent(options);
    this.#send = encrypted ? tlsRequest : plainRequest;
    this.#base = location.pathStyle
      ? `${location.endpoint}/${location.bucket}/`
      : `${protocol}//${location.bucket}.${host}/`;
  }

  /**
   * Sends again what met a busy, broken or absent server.
   * @returns an answer that more tries would not change, its body unread
   * @throws {ObjectsUnavailable}
   */
  async request(request: S3Request): Promise<IncomingMessage> {
    const { tries, backOffMs } = this.limits;
    for (let tried = 1; ; tried += 1) {
      const answer = await this.#try(request).catch((error: unknown) => error);
      if (!(answer instanceof Error)) return answer as IncomingMessage;
      if (tried >= tries || !(answer instanceof ObjectsUnavailable)) throw answer;
      await pause(randomInt(1, backOffMs * 2 ** (tried - 1) + 1));
    }
  }

  /**
   * @param what the answer is to, for the error
   * @throws {ObjectsUnavailable} the body is longer than `limit` bytes, breaks off, or stalls
   */
  async bodyText(answer: IncomingMessage, limit: number, what: string): Promise<string> {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of withIdleLimit(answer, this.limits.idleMs, what)) {
      length += (chunk as Buffer).length;
      if (length > limit) throw new ObjectsUnavailable(`${what} has more than ${limit} bytes.`);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  /** Reads an answer to its end and says its S3 error code, or nothing where it has or shows none. */
  async errorCode(answer: IncomingMessage): Promise<string> {
    return codeIn(await this.bodyText(answer, LARGEST_ERROR_BYTES, 'An answer').catch(() => ''));
  }

  /** Lets go of an answer of which only the head counts; its body must not hold a connection. */
  drop(answer: IncomingMessage): void {
    withIdleLimit(answer, this.limits.idleMs, 'An answer')
      .on('error', () => {})
      .resume();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #try(request: S3Request): Promise<IncomingMessage> {
    const { method, path, content } = request;
    const url = new URL(path, this.#base);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      url.searchParams.set(name, value);
    }
    // A space must be %20: '+' is not what is signed.
    url.search = url.search.replaceAll('+', '%20');
    const signed = await new AwsV4Signer({
      ...this.#credentials,
      method,
      url: url.href,
      service: 's3',
      region: this.location.region,
      headers: { ...request.headers, 'x-amz-content-sha256': content?.sha256 ?? EMPTY_SHA256 },
    }).sign();
    const headers: Record<string, string> = Object.fromEntries(signed.headers);
    if (method === 'PUT') headers['content-length'] = String(content?.bytes ?? 0);
    const what = `${method} ${url.host}${url.pathname}`;
    const answer = await this.#exchange(url, method, headers, content).catch((error: unknown) => {
      // A file that cannot be read is no fault of the server; it is not there the next time either.
      if (error instanceof Error && 'syscall' in error && error.syscall === 'open') throw error;
      throw new ObjectsUnavailable(`${what} failed: ${reasonOf(error)}.`, { cause: error });
    });
    const status = answer.statusCode ?? 0;
    if ((status < 500 && !BUSY.includes(status)) || status === NOT_IMPLEMENTED) return answer;
    const code = await this.errorCode(answer);
    throw new ObjectsUnavailable(`${what} was answered with ${status} ${code}.`);
  }

  async #exchange(
    url: URL,
    method: string,
    headers: Record<string, string>,
    content: ObjectContent | undefined,
  ): Promise<IncomingMessage> {
    const { idleMs } = this.limits;
    const request = this.#send(url, { method, headers, agent: this.#agent, timeout: idleMs });
    const silent = (): void => void request.destroy(new Error(`no answer within ${idleMs} ms`));
    request.on('timeout', silent);
    const longest = idleMs * 2 + (content?.bytes ?? 0) / SLOWEST_BYTES_PER_MS;
    const timer = setTimeout(silent, longest);
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
    });
    try {
      if (content === undefined || content.bytes === 0) request.end();
      else {
        // An answer before the end of the body is a refusal: it says why, the broken pipe does not.
        await Promise.race([pipeline(content.open(), request), answered]).catch(
          async (error: unknown) => {
            request.destroy(error instanceof Error ? error : new Error(String(error)));
            await answered.catch(() => {});
            throw error;
          },
        );
      }
      const response = await answered;
      // From here on the reader's pace counts, not the socket's silence.
      request.off('timeout', silent);
      response.on('error', () => {});
      return response;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The S3 error code of an answer's body, or nothing. */
export function codeIn(text: string): string {
  return /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? '';
}
