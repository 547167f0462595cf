/** Signing in, staying signed in, signing out: JWTs whose session is a stream of its own. */
import { sessionQueries } from '../../../projections/sessions.ts';
import type { CommandContext } from '../../actors/system.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { ServiceError } from '../../errors.ts';
import { newCommandId, newSessionId } from '../../ids.ts';
import { orThrow } from '../../use-cases/command-context.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { createSignInAudit, signIn } from '../../use-cases/sign-in.ts';
import { compile } from '../../validation.ts';
import { commandContext, type HttpContext, type HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { accountOfSession } from '../middleware/credential.ts';
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
  if (claims === undefined || (await accountOfSession(deps, claims)) === undefined) {
    throw new ServiceError('unauthorized', 'The refresh token is not valid or has expired.');
  }
  return { ...claims, refresh };
}

/**
 * Ends the account's oldest sessions until no more are open than it may have. Each sign-in looks after
 * its own session is in the log, so of several at the same time the last one sees them all.
 */
async function endOldest(
  deps: RouteDependencies,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  const { limit } = deps.budgets.get('maxAccountSessions');
  const { time } = context.metadata;
  const open = (await consistentQuery(deps, sessionQueries)).open(accountId, time);
  // The session that is being opened may be one of them: its two events must not have one id.
  const revocation = { ...context, commandId: newCommandId(time) };
  await Promise.all(
    open.slice(limit).map(async (sessionId) => {
      // Refused where it has ended meanwhile, which is as good.
      const command = { type: 'RevokeSession', sessionId } as const;
      await deps.actors.send(sessionAggregate, sessionId, command, revocation);
    }),
  );
}

export function createTokenPair(deps: RouteDependencies): HttpMiddleware {
  const signInDeps = { ...deps, signInAudit: createSignInAudit(deps) };
  return async (ctx) => {
    const pair = await deps.bodies.readSmall(ctx, deps.config, checkSignIn);
    const {
      accountId,
      sessionEpoch: epoch,
      client,
    } = await signIn(signInDeps, {
      ...pair,
      clientAddress: ctx.state.clientAddress,
      requestId: ctx.state.requestId,
      loggedId: ctx.state.loggedId,
      log: ctx.state.log,
    });
    const actor = { kind: 'account', id: accountId } as const;
    const context = await commandContext(ctx, deps, { accountId, actor });
    const { time } = context.metadata;
    const sessionId = newSessionId(time);
    const expiresAt = time + REFRESH_LIFETIME_MS;
    const session = { accountId, sessionId, expiresAt, epoch, client };
    const command = { type: 'OpenSession', ...session } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    await endOldest(deps, accountId, context);
    const claims = { accountId, sessionId };
    ctx.body = {
      access: await deps.tokens.issue('access', claims, time + ACCESS_LIFETIME_MS),
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
