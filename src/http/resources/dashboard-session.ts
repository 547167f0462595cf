/**
 * The session of the dashboard: a cookie that these routes alone accept, and access tokens for the public API.
 * The page keeps a token in its memory only, so that nothing lies where a script of another page could read it.
 */

import { orThrow } from '../../actors/command-context.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { isoTime } from '../../time/clock.ts';
import { callerOf, commandContext, type HttpContext, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { removeSessionCookie, setSessionCookie } from '../middleware/session-cookie.ts';
import { sessionIdOf } from '../middleware/sessions-only.ts';
import {
  ACCESS_LIFETIME_MS,
  COOKIE_LIFETIME_MS,
  DASHBOARD_SESSION_LIFETIME_MS,
  type TokenClaims,
} from '../tokens.ts';
import { signInWithBody } from './auth.ts';

/** Sends an access token, and a cookie that is good for another day. Neither outlives the session. */
async function sendAccess(
  ctx: HttpContext,
  { tokens, clock }: RouteDependencies,
  { expiresAt, ...claims }: TokenClaims & { readonly expiresAt: number },
): Promise<void> {
  const now = clock.now();
  const accessEnd = Math.min(now + ACCESS_LIFETIME_MS, expiresAt);
  const cookieEnd = Math.min(now + COOKIE_LIFETIME_MS, expiresAt);
  setSessionCookie(ctx, await tokens.issue('cookie', claims, cookieEnd));
  ctx.body = {
    access: await tokens.issue('access', claims, accessEnd),
    expires_at: isoTime(accessEnd),
  };
}

export function openDashboardSession(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const lifetimeMs = DASHBOARD_SESSION_LIFETIME_MS;
    await sendAccess(ctx, deps, await signInWithBody(ctx, deps, { kind: 'dashboard', lifetimeMs }));
  };
}

export function renewDashboardSession(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const sessionId = sessionIdOf(caller);
    const { state } = await deps.actors.read(sessionAggregate, sessionId, ctx.state.asOf);
    await sendAccess(ctx, deps, { accountId, sessionId, expiresAt: state.expiresAt });
  };
}

export function endDashboardSession(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const caller = callerOf(ctx);
    const sessionId = sessionIdOf(caller);
    const context = await commandContext(ctx, deps, caller);
    const command = { type: 'RevokeSession', sessionId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    removeSessionCookie(ctx);
    ctx.status = 204;
  };
}
