import { randomUUID } from 'node:crypto';
import type { Logger } from '../../log.ts';
import type { Caller, HttpMiddleware, RequestState } from '../context.ts';

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

/** Names the request in the answer, in the log and in every event that it causes. */
export function requestId(logger: Logger): HttpMiddleware {
  return (ctx, next) => {
    const id = requestIdOf(ctx.req.headers['x-request-id']);
    ctx.state = new KnownRequest(id, logger);
    ctx.res.setHeader('X-Request-Id', id);
    return next();
  };
}
