/** Signing in to the dashboard with the identity provider: to it and back, in the browser of one person. */
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { ProviderRefusal, type ProviderRules } from '../../accounts/provider-rules.ts';
import { signInByProvider } from '../../accounts/provider-sign-in.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { errorReason } from '../../errors/error-message.ts';
import { ServiceError } from '../../errors/errors.ts';
import { type IdentityProvider, ProviderError } from '../../oidc/port.ts';
import { newSessionId } from '../../time/ids.ts';
import { commandContext, type HttpContext } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { isPagePath } from '../middleware/dashboard.ts';
import { type AnswerDoc, type Endpoint, inQuery, type Route } from '../openapi/operation.ts';
import { DASHBOARD_SESSION_LIFETIME_MS } from '../tokens.ts';
import { openSignedIn } from './auth.ts';
import { setDashboardCookie } from './dashboard-session.ts';

/** Where the provider sends the browser back to: it is registered there. */
export const CALLBACK_PATH = '/dashboard/oidc/callback';

/** Browsers send it back from the provider's site, as they would not a strict one. It is read here alone. */
const COOKIE = '__Host-pressledger-oidc';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';
const PURPOSE = 'oidc sign-in';
/** The time that people have at the provider. */
const LIFETIME_MS = 10 * 60 * 1000;

const Begun = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  verifier: Type.String(),
  /** The session that it opens: it can be opened once. */
  sessionId: Type.String(),
  from: Type.String(),
  account: Type.Optional(Type.String()),
});

/** `stale`: not begun in this browser, used or too old. `failed`: our own fault. */
type Refusal =
  | 'stale'
  | 'suspended'
  | 'failed'
  | ProviderRefusal['reason']
  | ProviderError['failure'];

const redirected = (description: string): AnswerDoc => ({ description, headers: ['Location'] });

/** @returns a path of our pages: a link must not lead a person elsewhere after signing in */
function ownPage(given: unknown, publicUrl: string): string {
  if (typeof given !== 'string' || !URL.canParse(given, publicUrl)) return '/';
  const { origin, pathname, search, hash } = new URL(given, publicUrl);
  return origin === new URL(publicUrl).origin && isPagePath(pathname)
    ? pathname + search + hash
    : '/';
}

function redirect(ctx: HttpContext, place: string): void {
  ctx.set('Location', place);
  ctx.body = null;
  ctx.status = 303;
}

/** Leads the person back to the sign-in page, which says why. */
function refuse(ctx: HttpContext, reason: Refusal, error?: unknown): void {
  const why = error === undefined ? {} : { why: errorReason(error) };
  const level = reason === 'failed' ? 'error' : 'warn';
  ctx.state.log[level]({ reason, ...why }, 'A sign-in with the identity provider was refused.');
  redirect(ctx, `/sign-in?provider=${reason}`);
}

function providerOf({ identityProvider }: RouteDependencies): IdentityProvider {
  // The routes are there with the setting alone.
  if (identityProvider === undefined) throw new ServiceError('not_found');
  return identityProvider;
}

const beginProviderSignIn: Endpoint = {
  doc: {
    id: 'beginProviderSignIn',
    tag: 'Dashboard',
    summary: 'Sign in with the identity provider',
    description:
      'A page of the dashboard leads here. The browser keeps what it needs to come back, for ten minutes.',
    parameters: [
      inQuery('from', 'The page to go to afterwards.'),
      inQuery('account', 'The account to sign in to, for people who belong to several.'),
    ],
    answers: {
      303: redirected('To the provider; to the sign-in page if the provider cannot be reached.'),
    },
  },
  handler: (deps) => async (ctx) => {
    const { from, account } = ctx.query;
    try {
      const { url, kept } = await providerOf(deps).begin(deps.publicUrl + CALLBACK_PATH);
      const now = deps.clock.now();
      const begun: Static<typeof Begun> = {
        ...kept,
        sessionId: newSessionId(now),
        from: ownPage(from, deps.publicUrl),
        ...(typeof account === 'string' && { account }),
      };
      const sealed = await deps.sealedTokens.seal(PURPOSE, begun, now + LIFETIME_MS);
      ctx.set('Set-Cookie', `${COOKIE}=${sealed}; ${ATTRIBUTES}; Max-Age=${LIFETIME_MS / 1000}`);
      redirect(ctx, url);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      refuse(ctx, error.failure, error);
    }
  },
};

/** What this browser began; undefined where it began nothing, or has come back with it already. */
async function begunIn(
  ctx: HttpContext,
  { sealedTokens, actors }: RouteDependencies,
): Promise<Static<typeof Begun> | undefined> {
  const begun = await sealedTokens.open(PURPOSE, ctx.cookies.get(COOKIE) ?? '');
  if (!Value.Check(Begun, begun)) return undefined;
  const { state } = await actors.read(sessionAggregate, begun.sessionId);
  return state.status === 'none' ? begun : undefined;
}

async function finish(
  ctx: HttpContext,
  deps: RouteDependencies,
  rules: ProviderRules,
): Promise<void> {
  const begun = await begunIn(ctx, deps);
  // Another site's link must not end what this browser has begun.
  if (begun === undefined || ctx.query['state'] !== begun.state) return refuse(ctx, 'stale');
  ctx.append('Set-Cookie', `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`);
  const { sessionId, from, account: asked } = begun;
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  const callback = new URL(CALLBACK_PATH + ctx.search, deps.publicUrl);
  const signedIn = await signInByProvider(deps, {
    person: await providerOf(deps).finish(callback, begun),
    rules,
    clientAddress,
    requestId,
    loggedId,
    log,
    asked,
    contextFor: (accountId, actor) => commandContext(ctx, deps, { accountId, actor }),
  });
  const lifetime = {
    kind: 'dashboard',
    lifetimeMs: DASHBOARD_SESSION_LIFETIME_MS,
    sessionId,
  } as const;
  const opened = await openSignedIn(ctx, deps, signedIn, lifetime);
  await setDashboardCookie(ctx, deps, opened);
  redirect(ctx, from);
}

const finishProviderSignIn: Endpoint = {
  doc: {
    id: 'finishProviderSignIn',
    tag: 'Dashboard',
    summary: 'Come back from the identity provider',
    description:
      'The provider leads the browser here. What it says holds once, and only in the browser that began.',
    parameters: [
      inQuery('code', 'What the provider gives the person out for.'),
      inQuery('state', 'Names the sign-in that this browser began.'),
      inQuery('error', 'Why the provider refuses.'),
    ],
    answers: {
      303: redirected(
        'To the page that the person came from, with the session; to the sign-in page if it was refused.',
      ),
    },
  },
  handler: (deps) => {
    const { oidcDomains, oidcGroups, oidcGroupsClaim, oidcRoleClaim, oidcAccount } = deps.config;
    const rules = { oidcDomains, oidcGroups, oidcGroupsClaim, oidcRoleClaim, oidcAccount };
    return (ctx) =>
      finishOrSayWhy(ctx, deps, { ...rules, sendsMail: deps.config.smtpUrl !== undefined });
  },
};

async function finishOrSayWhy(
  ctx: HttpContext,
  deps: RouteDependencies,
  rules: ProviderRules,
): Promise<void> {
  try {
    await finish(ctx, deps, rules);
  } catch (error) {
    if (error instanceof ProviderError) return refuse(ctx, error.failure, error);
    if (error instanceof ProviderRefusal) return refuse(ctx, error.reason, error);
    const { code } = error as Partial<ServiceError>;
    // The account is suspended; or the same answer came twice at once.
    if (code === 'forbidden') return refuse(ctx, 'suspended', error);
    if (code === 'unauthorized') return refuse(ctx, 'stale', error);
    // A person is there, and no program that could read a status.
    refuse(ctx, 'failed', error);
  }
}

const OF_PROVIDER = { method: 'get', needs: 'oidcIssuer', isInternal: true } as const;

/** They are there with a provider alone. */
export const PROVIDER_ROUTES: readonly Route[] = [
  { ...OF_PROVIDER, path: '/dashboard/oidc/start', auth: 'page', ...beginProviderSignIn },
  { ...OF_PROVIDER, path: CALLBACK_PATH, auth: 'static', ...finishProviderSignIn },
];
