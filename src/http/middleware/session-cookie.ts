import type { HttpContext } from '../context.ts';

/** Browsers keep a cookie of this prefix to the host that set it, and send it over HTTPS, or to localhost, alone. */
export const SESSION_COOKIE = '__Host-pressledger';

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';

export const sessionCookieOf = (ctx: HttpContext): string | undefined =>
  ctx.cookies.get(SESSION_COOKIE);

/** Sets the cookie until the browser is closed. Koa's own way refuses `Secure` behind a proxy that ends TLS. */
export function setSessionCookie(ctx: HttpContext, token: string): void {
  ctx.append('Set-Cookie', `${SESSION_COOKIE}=${token}; ${ATTRIBUTES}`);
}

export function removeSessionCookie(ctx: HttpContext): void {
  ctx.set('Set-Cookie', `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`);
}
