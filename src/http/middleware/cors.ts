import type { Config } from '../../config/config.ts';
import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { HEADERS } from '../openapi/operation.ts';
import { setRateLimitHeaders } from './rate-limit.ts';

const ANY_ORIGIN = '*';

/** Browsers show a cookie to no script. */
const EXPOSED = Object.keys(HEADERS)
  .filter((name) => name !== 'Set-Cookie')
  .join(', ');
const METHODS = 'GET, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-None-Match',
  'If-Range',
  'Last-Event-ID',
  'Prefer',
  'Range',
  'X-API-Key',
  'X-Request-Id',
].join(', ');
/** The longest that Chrome keeps the answer to a preflight request. */
const MAX_AGE_SECONDS = 7200;

/** A session's answers are for the dashboard's own pages, whatever origins may call the API. */
const isOwnPagesAlone = (path: string): boolean => path.startsWith('/dashboard/');

const isDocumentation = (path: string): boolean =>
  path.startsWith('/openapi.') || path === '/docs' || path.startsWith('/docs/');

/**
 * Lets pages of `CORS_ORIGINS` read answers, and pages of any origin the documentation. A preflight request
 * costs no look-up, so it is answered without a credential and not counted. No answer allows cookies.
 */
export function cors(
  deps: HttpDependencies,
  { corsOrigins }: Pick<Config, 'corsOrigins'>,
): HttpMiddleware {
  const origins = new Set(corsOrigins);
  const anyOrigin = origins.has(ANY_ORIGIN);
  return async (ctx, next) => {
    if (isOwnPagesAlone(ctx.path)) return await next();
    const { res } = ctx;
    const open = anyOrigin || isDocumentation(ctx.path);
    if (origins.size === 0 && !open) return await next();
    // A cache must not give one origin the answer for another.
    if (!open) ctx.vary('Origin');
    const origin = ctx.get('Origin');
    if (origin === '' || (!open && !origins.has(origin))) return await next();
    res.setHeader('Access-Control-Allow-Origin', open ? ANY_ORIGIN : origin);
    if (ctx.method === 'OPTIONS' && ctx.get('Access-Control-Request-Method') !== '') {
      await setRateLimitHeaders(deps, ctx);
      res.setHeader('Access-Control-Allow-Methods', METHODS);
      res.setHeader('Access-Control-Allow-Headers', REQUEST_HEADERS);
      res.setHeader('Access-Control-Max-Age', String(MAX_AGE_SECONDS));
      ctx.status = 204;
      return;
    }
    res.setHeader('Access-Control-Expose-Headers', EXPOSED);
    await next();
  };
}
