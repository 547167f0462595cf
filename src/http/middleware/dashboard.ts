/**
 * The pages for people, and what a browser asks for by itself or a person types. The pages are built from `dashboard/`; the
 * API does not need them.
 */
import { extname } from 'node:path';
import { PATHS } from '../../../dashboard/src/paths.ts';
import type { HttpContext, HttpMiddleware } from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { type BuiltFiles, sendFixed } from '../fixed-answer.ts';
import { setRateLimitHeaders } from './rate-limit.ts';

const PAGE = new RegExp(
  `^(${Object.values(PATHS)
    .map((path) => path.replace('$id', '[^/]+'))
    .join('|')})$`,
);
export const isPagePath = (path: string): boolean => PAGE.test(path);

const API = /^\/api(\/|$)/;
const ASSET = /^\/assets\/([\w.-]+)$/;
const ICON = '/favicon.ico';
const ICONS: readonly string[] = ['/favicon.svg', ICON];
/** Every JSON document is YAML, too. */
const MOVED: ReadonlyMap<string, string> = new Map([
  ['/docs/', '/docs'],
  ['/openapi.yaml', '/openapi.json'],
]);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
} as const;

/**
 * The name of an asset holds its hash. A worker takes the policy of its own script: in the sandbox of other
 * answers it would have no Web Crypto.
 */
const ASSET_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'public, max-age=31536000, immutable',
} as const;

const ICON_HEADERS = { 'Cache-Control': 'public, max-age=86400' } as const;

const NOT_BUILT = `The dashboard is not built here. The API works without it: see /openapi.json.

"npm start" in a clone of the repository builds it, and says why where it cannot.
`;

const isRead = ({ method }: HttpContext): boolean => method === 'GET' || method === 'HEAD';

export interface Dashboard {
  /** Answers the paths of pages, and of the scripts and styles that they load. */
  readonly serve: HttpMiddleware;
  /**
   * Answers a person at an address that nothing has: who asks for HTML first is one.
   * @returns false for programs, whose answer is JSON, and where the pages are not built
   */
  readonly answerPerson: (ctx: HttpContext) => Promise<boolean>;
}

export function createDashboard(deps: HttpDependencies, files: BuiltFiles): Dashboard {
  const serve: HttpMiddleware = async (ctx, next) => {
    if (!isRead(ctx)) return await next();
    const { path } = ctx;
    const asset = ASSET.exec(path)?.[1];
    const found = async (name: string, headers: Readonly<Record<string, string>>) => {
      const body = await files.find(name);
      if (body === undefined) return false;
      await setRateLimitHeaders(deps, ctx);
      sendFixed(ctx, body, extname(name), headers);
      return true;
    };
    if (asset !== undefined && (await found(`assets/${asset}`, ASSET_HEADERS))) return;
    if (ICONS.includes(path) && (await found('favicon.svg', ICON_HEADERS))) return;
    const place = MOVED.get(path);
    if (place === undefined && path !== ICON && !isPagePath(path)) return await next();
    if (isPagePath(path) && (await found('index.html', PAGE_HEADERS))) return;
    await setRateLimitHeaders(deps, ctx);
    if (place !== undefined) return ctx.redirect(place);
    if (path === ICON) {
      ctx.set(ICON_HEADERS);
      ctx.status = 204;
      return;
    }
    ctx.status = 404;
    ctx.type = 'text/plain';
    ctx.body = NOT_BUILT;
  };
  const answerPerson = async (ctx: HttpContext) => {
    const { path } = ctx;
    if (!isRead(ctx) || API.test(path) || ctx.accepts('json', 'html') !== 'html') return false;
    const body = await files.find('index.html');
    if (body === undefined) return false;
    const page = path.replace(/\/$/, '');
    if (isPagePath(page)) {
      ctx.redirect(page + ctx.search);
      return true;
    }
    // The pages know no such path either, and say so. An ETag would make a 304 of it.
    ctx.set({ ...PAGE_HEADERS, 'Cache-Control': 'no-store' });
    ctx.vary('Accept');
    ctx.status = 404;
    ctx.type = 'html';
    ctx.body = body.identity;
    return true;
  };
  return { serve, answerPerson };
}
