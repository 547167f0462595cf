import { randomUUID } from 'node:crypto';
import type { Logger } from '../../log.ts';
import type { Caller, HttpContext, HttpMiddleware, RequestState } from '../context.ts';

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/** The client's own name for its request, where it gave a fit one. */
export function requestIdOf(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && PRINTABLE.test(given) ? given : randomUUID();
}

/** Few requests have anything to log, and a logger of its own costs each some microseconds. */
class KnownRequest implements RequestState {
  readonly requestId: string;
  clientAddress = 'unknown';
  caller: Caller | undefined;
  asOf: bigint | undefined;
  readonly #logger: Logger;

  constructor(id: string, logger: Logger) {
    this.requestId = id;
    this.#logger = logger;
  }

  get log(): Logger {
    return this.#logger.child({ requestId: this.requestId });
  }
}

/** Probes come every few seconds, and nobody looks for one of them. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);
const MAX_LOGGED_PATH = 200;
/** API keys, access tokens and the tokens of file links, should a client put one into a path. */
const SECRETS = /pk_live_\w+|eyJ[\w-]+\.[\w.-]+|v4\.\w+\.[\w.-]+/g;

/** The path as a log may have it. */
export const loggedPath = (path: string): string =>
  path.slice(0, MAX_LOGGED_PATH).replace(SECRETS, '…');

/** @param begun by `performance.now()` */
function logRequest({ method, path, res, state }: HttpContext, logger: Logger, begun: number) {
  const shownPath = loggedPath(path);
  // A client that went away has seen no answer, or not the whole of it.
  const status = res.headersSent ? res.statusCode : undefined;
  const aborted = !res.writableFinished;
  const ms = Math.round(performance.now() - begun);
  logger[PROBES.has(path) ? 'debug' : 'info'](
    {
      requestId: state.requestId,
      method,
      path: shownPath,
      status,
      ms,
      accountId: state.caller?.accountId,
      client: state.clientAddress,
      ...(aborted && { aborted }),
    },
    `${method} ${shownPath} ${status ?? 'unanswered'}, ${ms} ms`,
  );
}

/** Names the request in the answer, in the log and in every event that it causes, and logs how it ended. */
export function requestId(logger: Logger): HttpMiddleware {
  return (ctx, next) => {
    const id = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state = new KnownRequest(id, logger);
    ctx.res.setHeader('X-Request-Id', id);
    const begun = performance.now();
    if (logger.isLevelEnabled('info')) ctx.res.once('close', () => logRequest(ctx, logger, begun));
    return next();
  };
}
