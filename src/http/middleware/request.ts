/** What every request passes first: its id and its lines in the log, the client's address, the headers of its answer. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, randomUUID } from 'node:crypto';
import { isIPv4, isIPv6, type Socket, SocketAddress } from 'node:net';
import { addressKey } from '../../accounts/rate-limits.ts';
import { FORMATS } from '../../domain/choices.ts';
import { ACCOUNT_ID, CONVERSION_ID, KEY_ID, SESSION_ID } from '../../domain/ids.ts';
import type { Logger } from '../../observe/log.ts';
import {
  type HttpContext,
  type HttpMiddleware,
  type RequestState,
  releaseAtEnd,
} from '../context.ts';

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;
/** A UUID, as we make them, or a trace id: it says nothing about anybody. */
const NEUTRAL = /^([0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32})$/i;
const ID = new RegExp(
  `^(${[ACCOUNT_ID, CONVERSION_ID, KEY_ID, SESSION_ID].join('|')})(\\.(${FORMATS.join('|')}))?$`,
);
const PSEUDONYM_CHARACTERS = 16;
/** Clients whose pseudonym is remembered: making it costs more than the rest of a line. */
const MAX_CLIENTS = 1_000;

/** Returns the client's own name for its request, if it gave a fit one, else a new name. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && PRINTABLE.test(given) ? given : randomUUID();
}

export interface RequestLogOptions {
  readonly logger: Logger;
  /** Keys what stands in place of addresses and of ids that clients chose freely. */
  readonly key: Buffer;
  /** The paths that are served: their words, and ids, are all that is logged of a path. */
  readonly paths: readonly string[];
  /** True if requests are traced: then a line is written within the trace of its request. */
  readonly isTraced: boolean;
}

/** Says in log lines who asked for what, and repeats nothing that a client wrote or that names it. */
function createNames({ key, paths }: RequestLogOptions) {
  const words = new Set(paths.flatMap((path) => path.split('/')));
  const clients = new Map<string, string>();
  const pseudonym = (text: string): string =>
    createHmac('sha256', key).update(text).digest('hex').slice(0, PSEUDONYM_CHARACTERS);
  return {
    id: (id: string): string => (NEUTRAL.test(id) ? id : pseudonym(`request id\0${id}`)),
    client(address: string): string {
      const known = clients.get(address);
      if (known !== undefined) return known;
      if (clients.size >= MAX_CLIENTS) clients.clear();
      const made = pseudonym(`logged client\0${addressKey(address)}`);
      clients.set(address, made);
      return made;
    },
    path(path: string): string {
      const shown = path.split('/').map((part) => (words.has(part) || ID.test(part) ? part : '…'));
      return shown.join('/').replace(/…(\/…)+/, '…');
    },
  };
}

type Names = ReturnType<typeof createNames>;

/** Few requests have anything to log, and a logger of its own costs each some microseconds. */
class KnownRequest implements RequestState {
  clientAddress = 'unknown';
  caller: RequestState['caller'];
  refusal: RequestState['refusal'];
  seesOwnOnly = false;
  asOf: bigint | undefined;
  readonly requestId: string;
  readonly #path: string;
  readonly #logger: Logger;
  readonly #names: Names;

  constructor(id: string, path: string, logger: Logger, names: Names) {
    this.requestId = id;
    this.#path = path;
    this.#logger = logger;
    this.#names = names;
  }

  get loggedId(): string {
    return this.#names.id(this.requestId);
  }

  get loggedPath(): string {
    return this.#names.path(this.#path);
  }

  /** What each line about the request begins with. */
  get logged(): { readonly requestId: string; readonly client: string } {
    return { requestId: this.loggedId, client: this.#names.client(this.clientAddress) };
  }

  get log(): Logger {
    return this.#logger.child(this.logged);
  }
}

/** Probes come every few seconds, and nobody looks for one of them. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** @param begun by `performance.now()` */
function logRequest(
  { method, path, res }: HttpContext,
  known: KnownRequest,
  logger: Logger,
  begun: number,
): void {
  const { logged, loggedPath, caller } = known;
  // A client that went away has seen no answer, or not the whole of it.
  const status = res.headersSent ? res.statusCode : undefined;
  const ms = Math.round(performance.now() - begun);
  const facts = { ...logged, method, path: loggedPath, status, ms, accountId: caller?.accountId };
  logger[PROBES.has(path) ? 'debug' : 'info'](
    res.writableFinished ? facts : { ...facts, aborted: true },
    `${method} ${loggedPath} ${status ?? 'unanswered'}, ${ms} ms`,
  );
}

/** Names the request in the answer, in the log and in every event that it causes, and logs how it ended. */
export function requestId(options: RequestLogOptions): HttpMiddleware {
  const { logger } = options;
  const names = createNames(options);
  return (ctx, next) => {
    const id = requestIdOf(ctx.req.headers['x-request-id']);
    const known = new KnownRequest(id, ctx.path, logger, names);
    ctx.state = known;
    ctx.res.setHeader('X-Request-Id', id);
    const begun = performance.now();
    if (logger.isLevelEnabled('info')) {
      const log = (): void => logRequest(ctx, known, logger, begun);
      // The event does not bring the trace along, and to bind it costs more than the line.
      releaseAtEnd(ctx, options.isTraced ? AsyncLocalStorage.bind(log) : log);
    }
    return next();
  };
}

/** A dual-stack socket shows an IPv4 client as ::ffff:a.b.c.d. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');

/**
 * The address of an `X-Forwarded-For` entry, in its one canonical form; undefined if there is none.
 * Some proxies write the port too: `192.0.2.1:1234`, `[2001:db8::1]:1234`.
 */
function addressIn(entry: string): string | undefined {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(entry) ?? [];
  const address = bracketed ?? dotted ?? entry;
  if (isIPv4(address)) return address;
  const [unscoped = ''] = address.split('%', 1);
  if (!isIPv6(unscoped)) return undefined;
  return plain(new SocketAddress({ family: 'ipv6', address: unscoped }).address);
}

/** The address at the other end of a connection. */
export const addressOf = ({ remoteAddress = 'unknown' }: Socket): string => plain(remoteAddress);

/**
 * The client's address. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, the one that
 * the proxy itself wrote: those before it are whatever the client sent.
 */
export function clientAddress({ trustProxy }: { trustProxy: boolean }): HttpMiddleware {
  return (ctx, next) => {
    const forwarded = trustProxy ? ctx.get('X-Forwarded-For').split(',').at(-1)?.trim() : undefined;
    ctx.state.clientAddress = addressIn(forwarded ?? '') ?? addressOf(ctx.req.socket);
    return next();
  };
}

/** Orders to a browser that shows an answer: run nothing, keep nothing, frame nothing. */
export const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

const HEADERS = Object.entries(SECURITY_HEADERS);

export const securityHeaders: HttpMiddleware = (ctx, next) => {
  // Not `ctx.set`, which makes several arrays for each header.
  for (const [name, value] of HEADERS) ctx.res.setHeader(name, value);
  return next();
};
