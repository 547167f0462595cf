import type { HttpMiddleware } from '../context.ts';

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
