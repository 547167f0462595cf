import { AsyncLocalStorage } from 'node:async_hooks';
import { createHmac, randomUUID } from 'node:crypto';
import { ACCOUNT_ID, CONVERSION_ID, KEY_ID, SESSION_ID } from '../../domain/ids.ts';
import type { Logger } from '../../log.ts';
import { addressKey } from '../../use-cases/rate-limits.ts';
import {
  type Caller,
  type HttpContext,
  type HttpMiddleware,
  releaseAtEnd,
  type RequestState,
} from '../context.ts';

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;
/** A UUID, as we make them, or a trace id: it says nothing about anybody. */
const NEUTRAL = /^([0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32})$/i;
const ID = new RegExp(`^(${[ACCOUNT_ID, CONVERSION_ID, KEY_ID, SESSION_ID].join('|')})(\\.pdf)?$`);
const PSEUDONYM_CHARACTERS = 16;
/** Clients whose pseudonym is remembered: making it costs more than the rest of a line. */
const MAX_CLIENTS = 1_000;

/** The client's own name for its request, where it gave a fit one. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && PRINTABLE.test(given) ? given : randomUUID();
}

export interface RequestLogOptions {
  readonly logger: Logger;
  /** Keys what stands in place of addresses and of ids that clients chose freely. */
  readonly key: Buffer;
  /** The paths that are served: their words, and ids, are all that is logged of a path. */
  readonly paths: readonly string[];
}

/** Says in log lines who asked for what, and repeats nothing that a client wrote or that names it. */
class RequestLog {
  readonly logger: Logger;
  readonly #key: Buffer;
  readonly #words: ReadonlySet<string>;
  /** By address. */
  readonly #clients = new Map<string, string>();

  constructor({ logger, key, paths }: RequestLogOptions) {
    this.logger = logger;
    this.#key = key;
    this.#words = new Set(paths.flatMap((path) => path.split('/')));
  }

  idOf(id: string): string {
    return NEUTRAL.test(id) ? id : this.#pseudonym(`request id\0${id}`);
  }

  clientOf(address: string): string {
    const known = this.#clients.get(address);
    if (known !== undefined) return known;
    if (this.#clients.size >= MAX_CLIENTS) this.#clients.clear();
    const made = this.#pseudonym(`logged client\0${addressKey(address)}`);
    this.#clients.set(address, made);
    return made;
  }

  pathOf(path: string): string {
    const shown = path.split('/').map((part) => (this.#isKnown(part) ? part : '…'));
    return shown.join('/').replace(/…(\/…)+/, '…');
  }

  #isKnown(part: string): boolean {
    return this.#words.has(part) || ID.test(part);
  }

  #pseudonym(text: string): string {
    return createHmac('sha256', this.#key)
      .update(text)
      .digest('hex')
      .slice(0, PSEUDONYM_CHARACTERS);
  }
}

/** Few requests have anything to log, and a logger of its own costs each some microseconds. */
class KnownRequest implements RequestState {
  readonly requestId: string;
  clientAddress = 'unknown';
  caller: Caller | undefined;
  asOf: bigint | undefined;
  readonly #path: string;
  readonly #log: RequestLog;

  constructor(id: string, path: string, log: RequestLog) {
    this.requestId = id;
    this.#path = path;
    this.#log = log;
  }

  get loggedId(): string {
    return this.#log.idOf(this.requestId);
  }

  get loggedPath(): string {
    return this.#log.pathOf(this.#path);
  }

  get log(): Logger {
    const client = this.#log.clientOf(this.clientAddress);
    return this.#log.logger.child({ requestId: this.loggedId, client });
  }
}

/** Probes come every few seconds, and nobody looks for one of them. */
export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** @param begun by `performance.now()` */
function logRequest({ method, path, res, state }: HttpContext, begun: number): void {
  const { log, loggedPath, caller } = state;
  // A client that went away has seen no answer, or not the whole of it.
  const status = res.headersSent ? res.statusCode : undefined;
  const aborted = !res.writableFinished;
  const ms = Math.round(performance.now() - begun);
  log[PROBES.has(path) ? 'debug' : 'info'](
    {
      method,
      path: loggedPath,
      status,
      ms,
      accountId: caller?.accountId,
      ...(aborted && { aborted }),
    },
    `${method} ${loggedPath} ${status ?? 'unanswered'}, ${ms} ms`,
  );
}

/** Names the request in the answer, in the log and in every event that it causes, and logs how it ended. */
export function requestId(options: RequestLogOptions): HttpMiddleware {
  const log = new RequestLog(options);
  return (ctx, next) => {
    const id = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state = new KnownRequest(id, ctx.path, log);
    ctx.res.setHeader('X-Request-Id', id);
    const begun = performance.now();
    if (log.logger.isLevelEnabled('info')) {
      // Within the trace of the request, which the event does not bring along.
      releaseAtEnd(
        ctx,
        AsyncLocalStorage.bind(() => logRequest(ctx, begun)),
      );
    }
    return next();
  };
}
