import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { recordLook } from '../../accounts/accounts.ts';
import { isAllowedAddress, type OpenRights, openRights } from '../../accounts/key-rights.ts';
import { lackingIn } from '../../accounts/second-factors.ts';
import { refusalOf } from '../../accounts/suspension.ts';
import { operatorContext } from '../../actors/command-context.ts';
import { type AccountState, accountAggregate } from '../../domain/account.ts';
import { type ApiKeyState, apiKeyAggregate, hasExpired, useIsDue } from '../../domain/api-key.ts';
import { founderOf, type Member } from '../../domain/members.ts';
import { ServiceError } from '../../errors/errors.ts';
import { isoTime } from '../../time/clock.ts';
import { apiKeyDigest, apiKeyIdOf } from '../../time/ids.ts';
import {
  type ActingMember,
  type Caller,
  commandContext,
  type HttpContext,
  type HttpMiddleware,
  isByOperatorSocket,
} from '../context.ts';
import type { HttpDependencies } from '../dependencies.ts';
import { CHALLENGE } from './errors.ts';
import { assertAddressAllowed, countRequest, setRateLimitHeaders } from './rate-limit.ts';
import { sessionCookieOf } from './session-cookie.ts';
import { sessionInForce } from './session-in-force.ts';

/** The header of a request by the operator's socket that names an account. It means nothing anywhere else. */
const FOR_ACCOUNT = 'Pressledger-Account';
const KEY = /^pk_(?:live|test)_[0-9A-Za-z]{24}$/;
const BEGINNING = /pk_(?:live|test)_/;
export const NOT_FROM_HERE =
  'This API key may not be used from the address of this client. Send the request from one of its addresses, or use another key.';
/** Some 100 bytes each. */
const MAX_GOOD_KEYS = 10_000;

interface PresentedKey {
  readonly id: string;
  readonly digest: Buffer;
}

function parseKey(key: string): PresentedKey | undefined {
  if (!KEY.test(key)) return undefined;
  const digest = apiKeyDigest(key);
  return { id: apiKeyIdOf(digest), digest };
}

function isHash(hex: string, digest: Buffer): boolean {
  const hash = Buffer.from(hex, 'hex');
  return hash.length === digest.length && timingSafeEqual(hash, digest);
}

/** The sender, as the account has them now. */
function callerIn(
  accountId: string,
  { plan, mustChangePassword, isOperator: ofOperator }: AccountState,
  { role, documents }: Member,
  by: Pick<ActingMember, 'kind' | 'id' | 'person'>,
): Caller {
  // Whom an owner invites is not made an operator by it: only the command line makes one.
  const isOperator = ofOperator && by.person === founderOf(accountId);
  const mayReadDocuments = role !== 'auditor' || documents === true;
  const rights = { isOperator, mustChangePassword, mayReadDocuments };
  return { accountId, plan, ...rights, actor: { ...by, role } };
}

/** Tells requests with something that is, or poses as, a credential. */
export const presentsCredential = (ctx: HttpContext): boolean =>
  ctx.get('X-API-Key') !== '' || ctx.get('Authorization') !== '';

/** `a.b.c`, as tokens are and keys are not. */
const TOKEN = /^(?:Bearer +)?[\w-]+\.[\w-]+\.[\w-]+$/i;

/** Says what is wrong with the credential that is sent, or where it belongs, and repeats nothing of it. */
function credentialIssue(ctx: HttpContext): string | undefined {
  const key = ctx.get('X-API-Key');
  if (TOKEN.test(key)) {
    return 'This is an access token: send it in the header Authorization: Bearer, not in X-API-Key.';
  }
  if (key !== '') return 'The credential is not valid: the API key is wrong or was revoked.';
  const [scheme = '', value = ''] = ctx.get('Authorization').split(/ +/, 2);
  const sent = /^basic$/i.test(scheme)
    ? Buffer.from(value, 'base64').toString('latin1')
    : `${scheme} ${value}`;
  const belongs = 'This is an API key: send it in X-API-Key';
  if (BEGINNING.test(sent)) return `${belongs}, not in Authorization.`;
  if (BEGINNING.test(ctx.querystring)) return `${belongs}, not in the address.`;
  return /^bearer$/i.test(scheme)
    ? 'The credential is not valid: the access token is wrong or has expired.'
    : undefined;
}

/** The refusal of a request whose sender is not known. */
function unauthorized(ctx: HttpContext): ServiceError {
  if (ctx.get('X-API-Key') === '' && /^bearer\b/i.test(ctx.get('Authorization'))) {
    ctx.set('WWW-Authenticate', `${CHALLENGE}, error="invalid_token"`);
  }
  return new ServiceError('unauthorized', credentialIssue(ctx));
}

/** Finds who sends a request, in the credential's own stream, so that a revocation holds at once. */
export class Credentials {
  readonly #deps: HttpDependencies;
  /**
   * The last key of each connection: a client sends the same with every request. Nothing outlives its
   * connection, and no connection is answered from what came over another.
   */
  readonly #presented = new WeakMap<
    Socket,
    { readonly text: string; readonly key?: PresentedKey }
  >();
  /** The ids of keys that were found good lately. */
  readonly #good = new Set<string>();
  /** Keys whose use is being recorded: a burst of requests with one key asks for one event. */
  readonly #recording = new Set<string>();

  constructor(deps: HttpDependencies) {
    this.#deps = deps;
  }

  /** @throws {ServiceError} `rate_limit_exceeded` for an unknown key from an address that has none left */
  async callerOf(ctx: HttpContext): Promise<Caller | undefined> {
    if (isByOperatorSocket(ctx)) return await this.#byOperatorSocket(ctx);
    const key = ctx.get('X-API-Key');
    return key === '' ? await this.#byToken(ctx) : await this.#byKey(ctx, key);
  }

  /** Finds the sender by the dashboard's cookie, which is not a credential anywhere else. */
  async callerByCookie(ctx: HttpContext): Promise<Caller | undefined> {
    return await this.#ofSession(ctx, 'cookie', sessionCookieOf(ctx));
  }

  /** The command line names the account that it acts for, if any. @throws {ServiceError} `not_found` */
  async #byOperatorSocket(ctx: HttpContext): Promise<Caller | undefined> {
    const accountId = ctx.get(FOR_ACCOUNT);
    const asOf = await this.#noteHead(ctx);
    if (accountId === '') return undefined;
    const { state } = await this.#deps.actors.read(accountAggregate, accountId, asOf);
    if (state.status !== 'open') throw new ServiceError('not_found', 'There is no such account.');
    await recordLook(this.#deps, accountId, operatorContext(this.#deps.clock), 'account');
    const { plan, isOperator, mustChangePassword } = state;
    const rights = { isOperator, mustChangePassword, mayReadDocuments: true };
    return { accountId, plan, ...rights, actor: { kind: 'operator' } };
  }

  async #byToken(ctx: HttpContext): Promise<Caller | undefined> {
    return await this.#ofSession(
      ctx,
      'access',
      /^Bearer +([\w.-]+)$/i.exec(ctx.get('Authorization'))?.[1],
    );
  }

  async #ofSession(
    ctx: HttpContext,
    kind: 'access' | 'cookie',
    token: string | undefined,
  ): Promise<Caller | undefined> {
    if (token === undefined) return undefined;
    const claims = await this.#deps.tokens.verify(kind, token);
    if (claims === undefined) return undefined;
    const session = await sessionInForce(this.#deps, claims, await this.#noteHead(ctx));
    if (session === undefined) return undefined;
    const { accountId, sessionId } = claims;
    // The cookie is sent to one route of this method, which ends its session: nobody is kept from signing out.
    const signsOut = kind === 'cookie' && ctx.method === 'DELETE';
    if (!signsOut && (await this.#isSuspended(ctx, accountId, session.account))) return undefined;
    const { account, personId: person, member, kind: sessionKind, methods } = session;
    const by = { kind: 'session', id: sessionId, person } as const;
    const lacking = lackingIn(account.signInRequirement, methods);
    const caller = { ...callerIn(accountId, account, member, by), sessionKind, methods };
    return lacking === undefined ? caller : { ...caller, lacking };
  }

  async #byKey(ctx: HttpContext, text: string): Promise<Caller | undefined> {
    const { actors, clock } = this.#deps;
    const presented = this.#parsed(ctx.req.socket, text);
    if (presented === undefined) return undefined;
    const { id, digest } = presented;
    // Guesses are not looked up for an address that has used up its own; who shares it can go on.
    if (!this.#good.has(id)) await assertAddressAllowed(this.#deps, ctx);
    const asOf = await this.#noteHead(ctx);
    const { state } = await actors.read(apiKeyAggregate, id, asOf);
    if (state.status !== 'active' || !isHash(state.keyHash, digest)) {
      this.#good.delete(id);
      return undefined;
    }
    this.#rememberGood(id);
    const { accountId, createdBy: person, memberSince } = state;
    const { state: account } = await actors.read(accountAggregate, accountId, asOf);
    const member = account.members[person];
    // It has ended with the membership of the person who made it.
    if (account.status !== 'open' || member?.since !== memberSince) return undefined;
    if (await this.#isSuspended(ctx, accountId, account)) return undefined;
    const key = await this.#rightsHere(ctx, state);
    if (key === undefined) return undefined;
    const caller = { ...callerIn(accountId, account, member, { kind: 'key', id, person }), key };
    if (useIsDue(state, clock.now())) this.#recordUse(ctx, id, caller);
    return caller;
  }

  /** The rights of a key, unless its time is over or it is not for the client's address: the request says which. */
  async #rightsHere(ctx: HttpContext, state: ApiKeyState): Promise<OpenRights | undefined> {
    const { vault, clock } = this.#deps;
    const { accountId, rights } = state;
    if (hasExpired(state, clock.now())) {
      const when = isoTime(rights.expiresAt ?? 0);
      const text = `The API key expired at ${when}. Create another, and revoke this one.`;
      ctx.state.refusal = new ServiceError('unauthorized', text);
      return undefined;
    }
    const opened = await openRights(vault, accountId, rights);
    if (isAllowedAddress(opened, ctx.state.clientAddress)) return opened;
    ctx.state.refusal = new ServiceError('forbidden', NOT_FROM_HERE);
    return undefined;
  }

  async #isSuspended(ctx: HttpContext, accountId: string, account: AccountState): Promise<boolean> {
    ctx.state.refusal = await refusalOf(this.#deps, accountId, account);
    return ctx.state.refusal !== undefined;
  }

  #parsed(socket: Socket, text: string): PresentedKey | undefined {
    const last = this.#presented.get(socket);
    if (last?.text === text) return last.key;
    const key = parseKey(text);
    this.#presented.set(socket, { text, ...(key && { key }) });
    return key;
  }

  /** Notes the log's head before a credential is looked up. */
  async #noteHead(ctx: HttpContext): Promise<bigint> {
    const asOf = await this.#deps.store.head();
    ctx.state.asOf = asOf;
    return asOf;
  }

  #rememberGood(id: string): void {
    if (this.#good.has(id)) return;
    this.#good.add(id);
    const [oldest] = this.#good;
    if (this.#good.size > MAX_GOOD_KEYS && oldest !== undefined) this.#good.delete(oldest);
  }

  /** The answer does not wait: a use is not refused because it is recorded late, or not at all. */
  #recordUse(ctx: HttpContext, id: string, holder: Caller): void {
    if (this.#recording.has(id)) return;
    this.#recording.add(id);
    const record = async (): Promise<void> => {
      const context = await commandContext(ctx, this.#deps, holder);
      const command = { type: 'RecordKeyUse', keyId: id, now: context.metadata.time } as const;
      await this.#deps.actors.send(apiKeyAggregate, id, command, context);
    };
    record()
      .catch((err: unknown) => ctx.state.log.warn({ err, keyId: id }, 'A key use is not recorded.'))
      .finally(() => this.#recording.delete(id));
  }
}

/** Puts the caller into the state, where the credential is good; an answer of a failure has its headers. */
export async function identify(
  ctx: HttpContext,
  deps: HttpDependencies,
  find: (ctx: HttpContext) => Promise<Caller | undefined>,
): Promise<void> {
  try {
    ctx.state.caller = await find(ctx);
  } catch (error) {
    await setRateLimitHeaders(deps, ctx);
    throw error;
  }
}

/** Lets through senders with a good credential and requests left, judged in this order, and the command line. */
export function authenticate(
  deps: HttpDependencies,
  find: (ctx: HttpContext) => Promise<Caller | undefined>,
  refusal: (ctx: HttpContext) => ServiceError = unauthorized,
): HttpMiddleware {
  return async (ctx, next) => {
    await identify(ctx, deps, find);
    await countRequest(deps, ctx);
    if (ctx.state.caller === undefined && !isByOperatorSocket(ctx)) {
      throw ctx.state.refusal ?? refusal(ctx);
    }
    await next();
  };
}

/** The refusal of a page of the dashboard whose cookie is not good. */
export const sessionEnded = (): ServiceError =>
  new ServiceError('unauthorized', 'The session has ended. Sign in again.');

/** Counts requests whose credential is in the body: until it is judged, the client is its address. */
export function countAnonymous(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await countRequest(deps, ctx);
    await next();
  };
}

/** Shows the limits of the client's address on answers to requests that do not count. */
export function showRateLimit(deps: HttpDependencies): HttpMiddleware {
  return async (ctx, next) => {
    await setRateLimitHeaders(deps, ctx);
    await next();
  };
}
