import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { setRateLimitHeaders } from './rate-limit.ts';

/** Every JSON document is YAML, too. */
const PLACES: Readonly<Record<string, string>> = {
  '/docs/': '/docs',
  '/openapi.yaml': '/openapi.json',
};
const ICON = '/favicon.ico';
const MAX_AGE_SECONDS = 86_400;

/** Answers what a browser asks for by itself, or a person types: none of it is a part of the API. */
export function frontDoor(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    const place = Object.hasOwn(PLACES, ctx.path) ? PLACES[ctx.path] : undefined;
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || (place === undefined && ctx.path !== ICON)) return await next();
    await setRateLimitHeaders(deps, ctx);
    if (place !== undefined) return ctx.redirect(place);
    ctx.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
    ctx.status = 204;
  };
}
