/**
 * The session of the dashboard: a cookie that these routes alone accept, and access tokens for the public API.
 * The page keeps a token in its memory only, so that nothing lies where a script of another page could read it.
 */

import { orThrow } from '../../actors/command-context.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { isoTime } from '../../time/clock.ts';
import { callerOf, commandContext, type HttpContext } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { removeSessionCookie, setSessionCookie } from '../middleware/session-cookie.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Closed, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import {
  ACCESS_LIFETIME_MS,
  COOKIE_LIFETIME_MS,
  DASHBOARD_SESSION_LIFETIME_MS,
  type IssuedClaims,
} from '../tokens.ts';
import { CHOICE_REFUSED, SIGN_IN_REFUSED, SignInRequest, signInWithBody } from './auth.ts';

/** The answer of `POST /dashboard/session` and of `GET /dashboard/session`. */
export const DashboardAccess = Closed({
  access: Text(
    'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…',
    'The access token, for Authorization: Bearer ….',
  ),
  expires_at: Timestamp('The time until which the access token is valid: 5 minutes at most.'),
});

const ended = {
  when: 'There is no cookie, or its session has ended.',
  message: 'The session has ended. Sign in again.',
};

type DatedClaims = IssuedClaims & { readonly expiresAt: number };

/** Sets a cookie that is good for another day, and does not outlive the session. */
export async function setDashboardCookie(
  ctx: HttpContext,
  { tokens, clock }: RouteDependencies,
  { expiresAt, ...claims }: DatedClaims,
): Promise<void> {
  const end = Math.min(clock.now() + COOKIE_LIFETIME_MS, expiresAt);
  setSessionCookie(ctx, await tokens.issue('cookie', claims, end));
}

/** Sends an access token, and the cookie. Neither outlives the session. */
export async function sendAccess(
  ctx: HttpContext,
  deps: RouteDependencies,
  session: DatedClaims,
): Promise<void> {
  const { tokens, clock } = deps;
  const { expiresAt, ...claims } = session;
  const accessEnd = Math.min(clock.now() + ACCESS_LIFETIME_MS, expiresAt);
  await setDashboardCookie(ctx, deps, session);
  ctx.body = {
    access: await tokens.issue('access', claims, accessEnd),
    expires_at: isoTime(accessEnd),
  };
}

export const openDashboardSession: Endpoint = {
  doc: {
    id: 'openDashboardSession',
    tag: 'Dashboard',
    summary: 'Sign in to the dashboard',
    description:
      'Sets a cookie that only /dashboard/session accepts, and returns an access token. The session ends after a day without use, and after a week.',
    body: { schema: SignInRequest },
    answers: {
      200: {
        description: 'The session was opened.',
        schema: DashboardAccess,
        headers: ['Set-Cookie'],
      },
    },
    errors: {
      unauthorized: SIGN_IN_REFUSED,
      ...CHOICE_REFUSED,
      rate_limit_exceeded:
        'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes.',
    },
  },
  handler: (deps) => async (ctx) => {
    const lifetimeMs = DASHBOARD_SESSION_LIFETIME_MS;
    await sendAccess(ctx, deps, await signInWithBody(ctx, deps, { kind: 'dashboard', lifetimeMs }));
  },
};

export const renewDashboardSession: Endpoint = {
  doc: {
    id: 'renewDashboardSession',
    tag: 'Dashboard',
    summary: 'Renew the access token of the dashboard',
    description: 'Returns another access token, and renews the cookie.',
    answers: {
      200: {
        description: 'The session goes on.',
        schema: DashboardAccess,
        headers: ['Set-Cookie'],
      },
    },
    errors: { unauthorized: ended },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const { id: sessionId, person: personId, role } = signedInOf(caller);
    const { state } = await deps.actors.read(sessionAggregate, sessionId, ctx.state.asOf);
    const { expiresAt } = state;
    await sendAccess(ctx, deps, { accountId, sessionId, personId, role, expiresAt });
  },
};

export const endDashboardSession: Endpoint = {
  doc: {
    id: 'endDashboardSession',
    tag: 'Dashboard',
    summary: 'Sign out of the dashboard',
    description: 'Ends the session: its cookie and its access tokens are no longer valid.',
    answers: {
      204: { description: 'The session has ended. There is no body.', headers: ['Set-Cookie'] },
    },
    errors: { unauthorized: ended },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const { id: sessionId } = signedInOf(caller);
    const context = await commandContext(ctx, deps, caller);
    const command = { type: 'RevokeSession', sessionId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    removeSessionCookie(ctx);
    ctx.status = 204;
  },
};
