import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type EgressError, failure, refusal } from '../../egress/errors.ts';

export interface EgressLimits {
  /** Bytes of one session, both directions together. */
  readonly maxBytes: number;
  readonly maxRequests: number;
  /** Requests and tunnels of one session that are open at once. */
  readonly maxConnections: number;
  /** The time from the request to the connection, name resolution included. */
  readonly connectTimeoutMs: number;
  /** Longest silence on a connection to a server. */
  readonly idleTimeoutMs: number;
}

export const DEFAULT_LIMITS: EgressLimits = {
  maxBytes: 256 * 1024 * 1024,
  maxRequests: 2_000,
  maxConnections: 128,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
};

/** The name that a page has among its files. */
export const PAGE = '';
/** A page that came as HTML and the files that came with it: relative name to content. */
export type PageFiles = ReadonlyMap<string, Buffer>;

/** A request that got no answer, for the renderer's report. */
export interface UnansweredRequest {
  readonly url: string;
  readonly code: EgressError['code'];
  readonly reason: string;
}

const MAX_UNANSWERED = 200;
const MAX_URL_LENGTH = 2_048;

/** One document's use of the proxy: what it may still do, what it was refused, and its connections. */
export class EgressSession {
  readonly refused: UnansweredRequest[] = [];
  readonly failed: UnansweredRequest[] = [];
  readonly received = new TrafficLog();
  requests = 0;
  /** True once anything but the page's own files was asked for. */
  usedNetwork = false;
  bytes = 0;
  ended = false;
  /** The origin of a page that is HTML, and the files that came with it. */
  #page: { readonly origin: string; readonly files: PageFiles } | undefined;
  #open = 0;
  #overBudget = false;
  #givenUp = false;
  readonly #limits: EgressLimits;
  readonly #onEnd: () => void;
  readonly #sockets = new Set<Duplex>();

  constructor(limits: EgressLimits, onEnd: () => void) {
    this.#limits = limits;
    this.#onEnd = onEnd;
  }

  /** Answers what the page asks of its own origin with itself or one of its files, and with nothing else. */
  servePage(origin: string, html: Buffer, files: PageFiles): void {
    this.#page = { origin, files: new Map([[PAGE, html], ...files]) };
  }

  /** The files of the page where the URL is of its origin. */
  filesFor(url: URL): PageFiles | undefined {
    return this.#page?.origin === url.origin ? this.#page.files : undefined;
  }

  /** The URL as people know it: a file that came with the page by its relative URL. */
  shown(url: string): string {
    const own = this.#page === undefined ? undefined : `${this.#page.origin}/`;
    return own !== undefined && url.startsWith(own) ? url.slice(own.length) : url;
  }

  /**
   * Takes one request in; the connection that carries it gives its place back when it closes.
   * @throws {EgressError} when a cap is reached
   */
  enter(closing: { once(event: 'close', listener: () => void): unknown }): void {
    if (this.#overBudget) throw this.#byteLimit();
    if (this.requests >= this.#limits.maxRequests) {
      throw refusal('request-limit', `More than ${this.requests} requests in one job.`);
    }
    if (this.#open >= this.#limits.maxConnections) {
      throw refusal('connection-limit', `More than ${this.#open} requests at once.`);
    }
    this.requests += 1;
    this.#open += 1;
    closing.once('close', () => {
      this.#open -= 1;
    });
  }

  /** Counts transferred bytes; over the cap, every connection of the session is cut. */
  count(bytes: number, url: string): void {
    this.bytes += bytes;
    if (this.bytes <= this.#limits.maxBytes || this.#overBudget) return;
    this.#overBudget = true;
    this.record(url, this.#byteLimit());
    this.#cut();
  }

  /** Ends what is under way, and refuses what else is asked of the network. */
  giveUp(): void {
    this.#givenUp = true;
    this.#cut();
  }

  /** @throws {EgressError} after `giveUp` */
  checkOpen(): void {
    if (this.#givenUp) throw failure('given-up');
  }

  record(url: string, error: EgressError): void {
    if (this.ended) return;
    const { refused, code, message } =
      this.#givenUp && !error.refused ? failure('given-up') : error;
    const list = refused ? this.refused : this.failed;
    if (list.length >= MAX_UNANSWERED) return;
    list.push({ url: url.slice(0, MAX_URL_LENGTH), code, reason: message });
  }

  /**
   * Tells why a URL got no answer. All that is known of one behind a tunnel is its host.
   * @returns undefined when neither a refusal nor a failure is known of it
   */
  explain(url: string): { readonly refused: boolean; readonly reason: string } | undefined {
    const parsed = URL.parse(url);
    if (parsed === null) return undefined;
    parsed.hash = '';
    const asked = parsed.protocol === 'https:' ? `${parsed.origin}/` : parsed.href;
    const find = (list: readonly UnansweredRequest[]): string | undefined =>
      list.findLast((each) => each.url === asked.slice(0, MAX_URL_LENGTH))?.reason;
    const refused = find(this.refused);
    const reason = refused ?? find(this.failed);
    return reason === undefined ? undefined : { refused: refused !== undefined, reason };
  }

  /** Makes a connection end with the session. */
  track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    if (this.ended) socket.destroy();
  }

  /** Cuts every connection; nothing passes the proxy until its next session begins. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#cut();
    this.#onEnd();
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #byteLimit(): EgressError {
    return refusal('byte-limit', `More than ${this.#limits.maxBytes} bytes in one job.`);
  }
}

/** An answer to a plain request: its body was seen as it came. */
export interface Received {
  readonly url: string;
  readonly method: string;
  readonly status: number;
  /** Media type, without parameters. */
  readonly type: string;
  /** Content coding, where there was one. */
  readonly encoding: string | undefined;
  bytes: number;
  /** Hex; once the body has come to its end. */
  sha256: string | undefined;
}

const MAX_RECEIVED = 2_000;
const MAX_HOSTS = 200;

/** The answers that one session received through the proxy, for the render manifest. */
class TrafficLog {
  readonly answers: Received[] = [];
  /** Bytes through tunnels, both directions, by host and port. */
  readonly tunnels = new Map<string, number>();

  note(received: Received): void {
    if (this.answers.length < MAX_RECEIVED) this.answers.push(received);
  }

  /** Follows an answer's body as it streams. Must be called before the body flows. */
  follow(url: URL, method: string, answer: IncomingMessage): void {
    const { headers, statusCode = 0 } = answer;
    const received: Received = {
      url: url.href,
      method,
      status: statusCode,
      type: (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '',
      encoding: headers['content-encoding'],
      bytes: 0,
      sha256: undefined,
    };
    this.note(received);
    const hash = createHash('sha256');
    answer.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      received.bytes += chunk.length;
    });
    answer.once('end', () => {
      received.sha256 = hash.digest('hex');
    });
  }

  countTunnel(name: string, bytes: number): void {
    const known = this.tunnels.get(name);
    if (known !== undefined || this.tunnels.size < MAX_HOSTS) {
      this.tunnels.set(name, (known ?? 0) + bytes);
    }
  }
}
