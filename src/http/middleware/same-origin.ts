import { ServiceError } from '../../errors/errors.ts';
import type { HttpContext, HttpMiddleware } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { setRateLimitHeaders } from './rate-limit.ts';

export const OWN_PAGES =
  'Only the pages of the dashboard may ask for its session. Programs sign in at /api/v1/auth/jwt/create/.';

const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?$/;

/**
 * Tells requests of our own pages. Browsers say so themselves (https://www.w3.org/TR/fetch-metadata/), old ones by
 * the page's origin: it is the one under which clients reach the service, or the host asked, on the same machine.
 */
function isOfOwnPage(ctx: HttpContext, publicUrl: string): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin';
  const origin = ctx.get('Origin');
  return origin === publicUrl || (LOOPBACK.test(origin) && origin === `http://${ctx.get('Host')}`);
}

/**
 * Refuses requests of other origins' pages before anything is looked up or counted: they would use up what the
 * person's own address may send.
 */
export function sameOrigin(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    if (isOfOwnPage(ctx, deps.publicUrl)) return await next();
    await setRateLimitHeaders(deps, ctx);
    throw new ServiceError('forbidden', OWN_PAGES);
  };
}
