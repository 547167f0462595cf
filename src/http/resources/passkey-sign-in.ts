/** Signing in with a passkey: tokens for programs, and the session of the dashboard. */
import { newChallenge, PURPOSES, requestOptions } from '../../accounts/passkey-ceremonies.ts';
import { signInWithPasskey } from '../../accounts/passkey-sign-in.ts';
import type { OpenedSession, SessionTerms } from '../../accounts/sessions.ts';
import { commandContext, type HttpContext } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { DASHBOARD_SESSION_LIFETIME_MS, REFRESH_LIFETIME_MS } from '../tokens.ts';
import { openSignedIn, sendTokenPair } from './auth.ts';
import { DashboardAccess, sendAccess } from './dashboard-session.ts';
import {
  checkOptionsRequest,
  checkPasskeySignIn,
  passkeyOptionsDoc,
  PasskeySignIn,
  passkeySignInDoc,
  signInErrors,
} from './passkeys.api.ts';
import { partyOf } from './passkeys.ts';

export const postPasskeyOptions: Endpoint = {
  doc: passkeyOptionsDoc,
  handler: (deps) => async (ctx) => {
    const party = partyOf(ctx, deps);
    await deps.bodies.readSmall(ctx, deps.config, checkOptionsRequest);
    const challenge = newChallenge(deps.addressKey, PURPOSES.signIn, deps.clock.now());
    ctx.body = requestOptions(party, [], challenge);
  },
};

async function signInWithBody(
  ctx: HttpContext,
  deps: RouteDependencies,
  lifetime: SessionTerms,
): Promise<OpenedSession> {
  const party = partyOf(ctx, deps);
  const body = await deps.bodies.readSmall(ctx, deps.config, checkPasskeySignIn);
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  const presented = { assertion: body.passkey, party, purpose: PURPOSES.signIn };
  const attempt = { presented, clientAddress, requestId, loggedId, log };
  const signedIn = await signInWithPasskey(
    deps,
    attempt,
    body.account,
    ({ accountId, personId, role }) => {
      const actor = { kind: 'account', id: accountId, person: personId, role } as const;
      return commandContext(ctx, deps, { accountId, actor });
    },
  );
  return await openSignedIn(ctx, deps, signedIn, lifetime);
}

export const createTokenPairByPasskey: Endpoint = {
  doc: passkeySignInDoc,
  handler: (deps) => async (ctx) => {
    const lifetime = { kind: 'api', lifetimeMs: REFRESH_LIFETIME_MS } as const;
    await sendTokenPair(ctx, deps, await signInWithBody(ctx, deps, lifetime));
  },
};

export const openDashboardSessionByPasskey: Endpoint = {
  doc: {
    id: 'openDashboardSessionByPasskey',
    tag: 'Dashboard',
    summary: 'Sign in to the dashboard with a passkey',
    description: 'As POST /dashboard/session, with the answer of navigator.credentials.get().',
    body: { schema: PasskeySignIn },
    answers: {
      200: {
        description: 'The session was opened.',
        schema: DashboardAccess,
        headers: ['Set-Cookie'],
      },
    },
    errors: signInErrors,
  },
  handler: (deps) => async (ctx) => {
    const lifetime = { kind: 'dashboard', lifetimeMs: DASHBOARD_SESSION_LIFETIME_MS } as const;
    await sendAccess(ctx, deps, await signInWithBody(ctx, deps, lifetime));
  },
};
