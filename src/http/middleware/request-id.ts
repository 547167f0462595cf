import { randomUUID } from 'node:crypto';
import type { Logger } from '../../log.ts';
import type { HttpMiddleware } from '../context.ts';

const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/** Names the request in the answer, in the log and in every event that it causes. */
export function requestId(logger: Logger): HttpMiddleware {
  return (ctx, next) => {
    const given = ctx.get('X-Request-Id');
    const id = PRINTABLE.test(given) ? given : randomUUID();
    ctx.state.requestId = id;
    ctx.state.log = logger.child({ requestId: id });
    ctx.set('X-Request-Id', id);
    return next();
  };
}
