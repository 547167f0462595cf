import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { setRateLimitHeaders } from './rate-limit.ts';

const REFERENCE = '/docs';
const MAX_AGE_SECONDS = 86_400;

/** Answers what a browser asks for by itself, or a person types: none of it is a part of the API. */
export function frontDoor(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return await next();
    switch (ctx.path) {
      case '/':
      case `${REFERENCE}/`:
        await setRateLimitHeaders(deps, ctx);
        ctx.redirect(REFERENCE);
        break;
      case '/favicon.ico':
        await setRateLimitHeaders(deps, ctx);
        ctx.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
        ctx.status = 204;
        break;
      default:
        await next();
    }
  };
}
