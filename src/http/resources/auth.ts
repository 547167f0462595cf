/** Signing in, staying signed in, signing out: JWTs whose session is a stream of its own. */

import { openSession } from '../../accounts/sessions.ts';
import { signIn } from '../../accounts/sign-in.ts';
import { orThrow } from '../../actors/command-context.ts';
import type { SessionKind } from '../../domain/events.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile } from '../../requests/validation.ts';
import { commandContext, type HttpContext, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { sessionInForce } from '../middleware/credential.ts';
import { ACCESS_LIFETIME_MS, REFRESH_LIFETIME_MS, type TokenClaims } from '../tokens.ts';
import { RefreshRequest, SignInRequest } from './auth.api.ts';

const checkSignIn = compile(SignInRequest);
const checkRefresh = compile(RefreshRequest);

/** @throws {ServiceError} `unauthorized` unless the body carries a refresh token that still holds */
async function sessionOf(
  ctx: HttpContext,
  deps: RouteDependencies,
): Promise<TokenClaims & { readonly refresh: string }> {
  const { refresh } = await deps.bodies.readSmall(ctx, deps.config, checkRefresh);
  const claims = await deps.tokens.verify('refresh', refresh);
  if (claims === undefined || (await sessionInForce(deps, claims)) === undefined) {
    throw new ServiceError('unauthorized', 'The refresh token is not valid or has expired.');
  }
  return { ...claims, refresh };
}

/** Signs in with the address and password in the body, and opens a session. */
export async function signInWithBody(
  ctx: HttpContext,
  deps: RouteDependencies,
  lifetime: { readonly kind: SessionKind; readonly lifetimeMs: number },
): Promise<TokenClaims & { readonly expiresAt: number }> {
  const pair = await deps.bodies.readSmall(ctx, deps.config, checkSignIn);
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  const signedIn = await signIn(deps, { ...pair, clientAddress, requestId, loggedId, log });
  const { accountId } = signedIn;
  const actor = { kind: 'account', id: accountId } as const;
  const context = await commandContext(ctx, deps, { accountId, actor });
  const userAgent = ctx.get('User-Agent');
  return await openSession(deps, signedIn, { ...lifetime, userAgent }, context);
}

export function createTokenPair(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const lifetime = { kind: 'api', lifetimeMs: REFRESH_LIFETIME_MS } as const;
    const { expiresAt, ...claims } = await signInWithBody(ctx, deps, lifetime);
    const accessEnd = deps.clock.now() + ACCESS_LIFETIME_MS;
    ctx.body = {
      access: await deps.tokens.issue('access', claims, accessEnd),
      refresh: await deps.tokens.issue('refresh', claims, expiresAt),
    };
  };
}

export function refreshAccess(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { refresh, ...claims } = await sessionOf(ctx, deps);
    const expiresAt = deps.clock.now() + ACCESS_LIFETIME_MS;
    ctx.body = { access: await deps.tokens.issue('access', claims, expiresAt), refresh };
  };
}

export function signOut(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId, sessionId } = await sessionOf(ctx, deps);
    const actor = { kind: 'session', id: sessionId } as const;
    const context = await commandContext(ctx, deps, { accountId, actor });
    const command = { type: 'RevokeSession', sessionId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    ctx.status = 204;
  };
}
