/** Signing in, staying signed in, signing out: JWTs whose session is a stream of its own. */
import Type from 'typebox';
import type { Membership } from '../../accounts/logins.ts';
import { type OpenedSession, openSession, type SessionTerms } from '../../accounts/sessions.ts';
import { type SignedIn, signIn } from '../../accounts/sign-in.ts';
import { refusalOf, SUSPENDED_EXAMPLE } from '../../accounts/suspension.ts';
import { orThrow } from '../../actors/command-context.ts';
import { type AccountState, accountAggregate } from '../../domain/account.ts';
import { ACCOUNT_ID } from '../../domain/ids.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile } from '../../requests/validation.ts';
import { commandContext, type HttpContext } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { sessionInForce } from '../middleware/session-in-force.ts';
import { Otp } from './confirm.ts';
import { Closed, Text } from '../openapi/fields.ts';
import type { Endpoint, ErrorDoc } from '../openapi/operation.ts';
import { ACCESS_LIFETIME_MS, type IssuedClaims, REFRESH_LIFETIME_MS } from '../tokens.ts';

/** The body of `POST /auth/jwt/create/`. */
export const SignInRequest = Closed({
  email: Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] }),
  password: Type.String({
    format: 'password',
    minLength: 1,
    maxLength: 1024,
    examples: ['correct horse battery'],
  }),
  otp: Type.Optional(Otp),
  account: Type.Optional(
    Text(
      'acct_06f3k8r1v2w9x4y5z6a7b8c9d0',
      'The account to sign in to, for people who belong to several. Without it: their own, or the one that they have belonged to longest.',
      { pattern: `^${ACCOUNT_ID}$` },
    ),
  ),
});

/** The body of `POST /auth/jwt/refresh/` and of `POST /auth/jwt/revoke/`. */
export const RefreshRequest = Closed({
  refresh: Text('eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…', 'The refresh token.', {
    minLength: 1,
    maxLength: 4096,
  }),
});

/** The answer of `POST /auth/jwt/create/` and of `POST /auth/jwt/refresh/`. */
export const TokenPair = Closed({
  access: Text(
    'eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…',
    'The access token, for Authorization: Bearer …. It is valid for 5 minutes.',
  ),
  refresh: Text(
    'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…',
    'The refresh token, for new access tokens. It is valid for a day, or until it is signed out.',
  ),
});

/** What a sign-in is refused with, beside a wrong password: those that need a code are told. */
export const SIGN_IN_REFUSED = {
  when: 'The email address or the password is wrong. Or the person has a second factor, and otp is missing or wrong: then details has otp.',
  message: 'The email address or the password is wrong.',
} as const;

const suspended: ErrorDoc = {
  when: 'An operator has suspended the account. The message has the reason.',
  message: SUSPENDED_EXAMPLE,
};
/** What a right password may be answered with. */
export const CHOICE_REFUSED = {
  forbidden: {
    when: `${suspended.when} Or the person does not belong to an account any more.`,
    message: SUSPENDED_EXAMPLE,
  },
  not_found: {
    when: 'The password is right, and the person does not belong to the account.',
    message: 'You do not belong to an account with this id.',
  },
} as const;

const badRefreshToken = {
  when: 'The refresh token is wrong, expired or signed out.',
  message: 'The refresh token is not valid or has expired.',
};

const checkSignIn = compile(SignInRequest);
const checkRefresh = compile(RefreshRequest);

/** @throws {ServiceError} `forbidden` */
async function assertNotSuspended(
  deps: RouteDependencies,
  accountId: string,
  account: AccountState,
): Promise<void> {
  const refusal = await refusalOf(deps, accountId, account);
  if (refusal !== undefined) throw refusal;
}

/** @throws {ServiceError} `unauthorized` unless the body carries a refresh token that still holds */
async function sessionOf(
  ctx: HttpContext,
  deps: RouteDependencies,
): Promise<IssuedClaims & { readonly refresh: string; readonly account: AccountState }> {
  const { refresh } = await deps.bodies.readSmall(ctx, deps.config, checkRefresh);
  const claims = await deps.tokens.verify('refresh', refresh);
  const session = claims && (await sessionInForce(deps, claims));
  if (claims === undefined || session === undefined) {
    throw new ServiceError('unauthorized', 'The refresh token is not valid or has expired.');
  }
  const { account, personId, member } = session;
  return { ...claims, account, personId, role: member.role, refresh };
}

/** The context of what somebody does who signs in to an account. */
const contextOf = (
  ctx: HttpContext,
  deps: RouteDependencies,
  { accountId, personId: person, role }: Membership,
) => {
  const actor = { kind: 'account', id: accountId, person, role } as const;
  return commandContext(ctx, deps, { accountId, actor });
};

/** Signs in with the address and password in the body, and opens a session. */
export async function signInWithBody(
  ctx: HttpContext,
  deps: RouteDependencies,
  lifetime: SessionTerms,
): Promise<OpenedSession> {
  const { account, otp, ...pair } = await deps.bodies.readSmall(ctx, deps.config, checkSignIn);
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  const attempt = { ...pair, clientAddress, requestId, loggedId, log };
  const code = { otp, contextFor: (by: Membership) => contextOf(ctx, deps, by) };
  return await openSignedIn(ctx, deps, await signIn(deps, attempt, code, account), lifetime);
}

/** Opens a session after a sign-in, by whatever it was proved. @throws {ServiceError} `forbidden`: the account is suspended */
export async function openSignedIn(
  ctx: HttpContext,
  deps: RouteDependencies,
  signedIn: SignedIn,
  lifetime: SessionTerms,
): Promise<OpenedSession> {
  const { accountId } = signedIn;
  // After all that was to be proved: a stranger is not told.
  const { state } = await deps.actors.read(accountAggregate, accountId);
  await assertNotSuspended(deps, accountId, state);
  const context = await contextOf(ctx, deps, signedIn);
  const userAgent = ctx.get('User-Agent');
  return await openSession(deps, signedIn, { ...lifetime, userAgent }, context);
}

/** Answers with the tokens of a session that was just opened. */
export async function sendTokenPair(
  ctx: HttpContext,
  { clock, tokens }: RouteDependencies,
  { expiresAt, ...claims }: OpenedSession,
): Promise<void> {
  const accessEnd = clock.now() + ACCESS_LIFETIME_MS;
  ctx.body = {
    access: await tokens.issue('access', claims, accessEnd),
    refresh: await tokens.issue('refresh', claims, expiresAt),
  };
}

export const createTokenPair: Endpoint = {
  doc: {
    id: 'signIn',
    tag: 'Authentication',
    summary: 'Sign in',
    description:
      'Exchanges an email address and a password for an access token and a refresh token. An account that has as many open sessions as it may have loses the oldest.',
    body: { schema: SignInRequest },
    answers: { 200: { description: 'The tokens.', schema: TokenPair } },
    errors: {
      unauthorized: SIGN_IN_REFUSED,
      ...CHOICE_REFUSED,
      rate_limit_exceeded:
        'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes: for this email address, from this client, from its network, or in total. A client from which the owner has signed in before is counted on its own. Or there were 20 wrong codes of a second factor that day (UTC): a recovery code is taken then.',
    },
  },
  handler: (deps) => async (ctx) => {
    const lifetime = { kind: 'api', lifetimeMs: REFRESH_LIFETIME_MS } as const;
    await sendTokenPair(ctx, deps, await signInWithBody(ctx, deps, lifetime));
  },
};

export const refreshAccess: Endpoint = {
  doc: {
    id: 'refreshAccessToken',
    tag: 'Authentication',
    summary: 'Refresh the access token',
    description: 'Exchanges a refresh token for a new access token.',
    body: { schema: RefreshRequest },
    answers: {
      200: {
        description:
          'A new access token, and the refresh token that was sent. The refresh token keeps its expiry time.',
        schema: TokenPair,
      },
    },
    errors: {
      unauthorized: badRefreshToken,
      forbidden: suspended,
    },
  },
  handler: (deps) => async (ctx) => {
    const { refresh, account, ...claims } = await sessionOf(ctx, deps);
    await assertNotSuspended(deps, claims.accountId, account);
    const expiresAt = deps.clock.now() + ACCESS_LIFETIME_MS;
    ctx.body = { access: await deps.tokens.issue('access', claims, expiresAt), refresh };
  },
};

export const signOut: Endpoint = {
  doc: {
    id: 'signOut',
    tag: 'Authentication',
    summary: 'Sign out',
    description: 'Invalidates the refresh token and its access tokens at once.',
    body: { schema: RefreshRequest },
    answers: { 204: { description: 'The tokens are no longer valid. There is no body.' } },
    errors: { unauthorized: badRefreshToken },
  },
  handler: (deps) => async (ctx) => {
    const { accountId, sessionId, personId: person, role } = await sessionOf(ctx, deps);
    const actor = { kind: 'session', id: sessionId, person, role } as const;
    const context = await commandContext(ctx, deps, { accountId, actor });
    const command = { type: 'RevokeSession', sessionId } as const;
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, context));
    ctx.status = 204;
  },
};
