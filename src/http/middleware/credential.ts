import type { ActorSystem } from '../../actors/system.ts';
import type { Clock } from '../../clock.ts';
import { accountAggregate, type AccountState } from '../../domain/account.ts';
import { apiKeyAggregate, useIsDue } from '../../domain/api-key.ts';
import type { EventStore } from '../../event-store/port.ts';
import { apiKeyDigest, apiKeyIdOf } from '../../ids.ts';
import type { Vault } from '../../keyring/vault.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { type Caller, type HttpContext, commandContext } from '../context.ts';
import type { TokenClaims, Tokens } from '../tokens.ts';
import { type RateLimitDependencies, assertAddressAllowed } from './rate-limit.ts';
import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/**
 * Remembers, for each connection, what was last made of a text that came over it: a client sends the
 * same credential with every request. Nothing outlives its connection, and no connection is answered
 * from what came over another.
 */
export class ConnectionMemo<Made> {
  readonly #last = new WeakMap<Socket, { readonly text: string; readonly made: Made }>();

  of(socket: Socket, text: string, make: (text: string) => Made): Made {
    const known = this.#last.get(socket);
    if (known?.text === text) return known.made;
    const made = make(text);
    this.#last.set(socket, { text, made });
    return made;
  }
}

/**
 * One look at the log's head for everyone who asks meanwhile. Each look begins after all whom it serves
 * have asked, so each gets a head no older than its question; who asks while one is under way is served
 * by the next. What a look costs (system calls, or a round trip) is thereby shared under load.
 */
export function sharedHead(store: Pick<EventStore, 'head'>): EventStore['head'] {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<bigint> | undefined;

  async function look(): Promise<bigint> {
    // Not earlier than the end of this turn of the event loop: what came in it shares the look.
    await Promise.all([underWay, setImmediate()]);
    next = undefined;
    const head = store.head();
    underWay = head.catch(() => {});
    return await head;
  }

  return () => {
    next ??= look();
    return next;
  };
}

export interface CredentialDependencies {
  readonly store: Pick<EventStore, 'head'>;
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly tokens: Tokens;
}

const KEY = /^pk_live_[0-9A-Za-z]{24}$/;

function isHash(hex: string, digest: Buffer): boolean {
  const hash = Buffer.from(hex, 'hex');
  return hash.length === digest.length && timingSafeEqual(hash, digest);
}

interface PresentedKey {
  readonly id: string;
  readonly digest: Buffer;
}

function presented(key: string): PresentedKey | undefined {
  if (!KEY.test(key)) return undefined;
  const digest = apiKeyDigest(key);
  return { id: apiKeyIdOf(digest), digest };
}

const presentedKeys = new ConnectionMemo<PresentedKey | undefined>();

/** The ids of keys that were found good lately. Some 100 bytes each. */
const goodKeys = new Set<string>();
const MOST_GOOD_KEYS = 10_000;

function rememberGood(id: string): void {
  if (goodKeys.has(id)) return;
  goodKeys.add(id);
  const [oldest] = goodKeys;
  if (goodKeys.size > MOST_GOOD_KEYS && oldest !== undefined) goodKeys.delete(oldest);
}

/** Uses being recorded: a burst of requests with one key asks for one event, not for many. */
const recording = new Set<string>();

function recordUse(ctx: HttpContext, deps: CredentialDependencies, holder: Caller): void {
  const { id } = holder.actor;
  if (recording.has(id)) return;
  recording.add(id);
  const record = async () => {
    const context = await commandContext(ctx, deps, holder);
    const command = { type: 'RecordKeyUse', keyId: id, now: context.metadata.time } as const;
    await deps.actors.send(apiKeyAggregate, id, command, context);
  };
  // The answer does not wait: that a use is recorded late, or not, is no reason to refuse it.
  record()
    .catch((err: unknown) => ctx.state.log.warn({ err, keyId: id }, 'A key use is not recorded.'))
    .finally(() => recording.delete(id));
}

/** Notes the log's head before a credential is looked up. */
async function notedHead(ctx: HttpContext, deps: CredentialDependencies): Promise<bigint> {
  const asOf = await deps.store.head();
  ctx.state.asOf = asOf;
  return asOf;
}

async function callerByKey(
  ctx: HttpContext,
  deps: CredentialDependencies & RateLimitDependencies,
  key: string,
): Promise<Caller | undefined> {
  const known = presentedKeys.of(ctx.req.socket, key, presented);
  if (known === undefined) return undefined;
  const { id, digest } = known;
  // Guesses are not looked up for an address that has used up its own; who shares it can go on.
  if (!goodKeys.has(id)) await assertAddressAllowed(deps, ctx);
  const asOf = await notedHead(ctx, deps);
  const { state } = await deps.actors.read(apiKeyAggregate, id, asOf);
  if (state.status !== 'active' || !isHash(state.keyHash, digest)) {
    goodKeys.delete(id);
    return undefined;
  }
  rememberGood(id);
  const { accountId } = state;
  const { state: account } = await deps.actors.read(accountAggregate, accountId, asOf);
  if (account.status !== 'open') return undefined;
  const caller: Caller = { accountId, plan: account.plan, actor: { kind: 'key', id } };
  if (useIsDue(state, deps.clock.now())) recordUse(ctx, deps, caller);
  return caller;
}

async function callerByToken(
  ctx: HttpContext,
  deps: CredentialDependencies,
): Promise<Caller | undefined> {
  const token = /^Bearer +([\w.-]+)$/i.exec(ctx.get('Authorization'))?.[1];
  const claims = token === undefined ? undefined : await deps.tokens.verify('access', token);
  if (claims === undefined) return undefined;
  const account = await accountOfSession(deps, claims, await notedHead(ctx, deps));
  if (account === undefined) return undefined;
  const { accountId, sessionId } = claims;
  return { accountId, plan: account.plan, actor: { kind: 'session', id: sessionId } };
}

/** The open account whose sign-in a token came from, if that still holds. */
export async function accountOfSession(
  { actors, clock }: Pick<CredentialDependencies, 'actors' | 'clock'>,
  { accountId, sessionId }: TokenClaims,
  asOf?: bigint,
): Promise<AccountState | undefined> {
  const { state: session } = await actors.read(sessionAggregate, sessionId, asOf);
  const holds =
    session.status === 'open' && session.accountId === accountId && clock.now() < session.expiresAt;
  if (!holds) return undefined;
  const { state } = await actors.read(accountAggregate, accountId, asOf);
  return state.status === 'open' && state.sessionEpoch === session.epoch ? state : undefined;
}

/** Whether the request comes with something that is, or poses as, a credential. */
export const presentsCredential = (ctx: HttpContext): boolean =>
  ctx.get('X-API-Key') !== '' || ctx.get('Authorization') !== '';

/**
 * Finds who sends the request, read from the credential's own stream, so that a revocation holds at once.
 * @throws {ServiceError} `rate_limit_exceeded` for an unknown key from an address that has none left
 */
export async function findCaller(
  ctx: HttpContext,
  deps: CredentialDependencies & RateLimitDependencies,
): Promise<Caller | undefined> {
  const key = ctx.get('X-API-Key');
  return key === '' ? await callerByToken(ctx, deps) : await callerByKey(ctx, deps, key);
}
