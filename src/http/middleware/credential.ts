import { timingSafeEqual } from 'node:crypto';
import type { ActorSystem } from '../../actors/system.ts';
import { accountActor, apiKeyActor, sessionActor } from '../../application/kinds.ts';
import type { Clock } from '../../clock.ts';
import { useIsDue } from '../../domain/api-key.ts';
import type { EventStore } from '../../event-store/port.ts';
import { apiKeyDigest, apiKeyIdOf } from '../../ids.ts';
import type { Vault } from '../../keyring/vault.ts';
import { ConnectionMemo } from '../connection-memo.ts';
import { type Caller, commandContext, type HttpContext } from '../context.ts';
import type { TokenClaims, Tokens } from '../tokens.ts';
import { demandAddressAllowed, type RateLimitDependencies } from './rate-limit.ts';

export interface CredentialDependencies {
  readonly store: Pick<EventStore, 'head'>;
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly tokens: Tokens;
}

type Holder = Omit<Caller, 'plan'>;

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

function recordUse(ctx: HttpContext, deps: CredentialDependencies, holder: Holder): void {
  const { id } = holder.actor;
  if (recording.has(id)) return;
  recording.add(id);
  const record = async () => {
    const context = await commandContext(ctx, deps, holder);
    const command = { type: 'RecordKeyUse', keyId: id, now: context.metadata.time } as const;
    await deps.actors.send(apiKeyActor, id, command, context);
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

async function holderOfKey(
  ctx: HttpContext,
  deps: CredentialDependencies & RateLimitDependencies,
  key: string,
): Promise<Holder | undefined> {
  const known = presentedKeys.of(ctx.req.socket, key, presented);
  if (known === undefined) return undefined;
  const { id, digest } = known;
  // Guesses are not looked up for an address that has used up its own; who shares it can go on.
  if (!goodKeys.has(id)) await demandAddressAllowed(deps, ctx);
  const { state } = await deps.actors.read(apiKeyActor, id, await notedHead(ctx, deps));
  if (state.status !== 'active' || !isHash(state.keyHash, digest)) {
    goodKeys.delete(id);
    return undefined;
  }
  rememberGood(id);
  const holder: Holder = { accountId: state.accountId, actor: { kind: 'key', id } };
  if (useIsDue(state, deps.clock.now())) recordUse(ctx, deps, holder);
  return holder;
}

async function holderOfToken(
  ctx: HttpContext,
  deps: CredentialDependencies,
): Promise<Holder | undefined> {
  const authorization = ctx.get('Authorization');
  const token = /^Bearer +([\w.-]+)$/i.exec(authorization)?.[1];
  const claims = token === undefined ? undefined : await deps.tokens.verify('access', token);
  return claims && (await isOpen(deps, claims, await notedHead(ctx, deps)))
    ? { accountId: claims.accountId, actor: { kind: 'session', id: claims.sessionId } }
    : undefined;
}

/** Whether the sign-in that a token came from still holds. */
export async function isOpen(
  { actors, clock }: Pick<CredentialDependencies, 'actors' | 'clock'>,
  { accountId, sessionId }: TokenClaims,
  asOf?: bigint,
): Promise<boolean> {
  const { state } = await actors.read(sessionActor, sessionId, asOf);
  return state.status === 'open' && state.accountId === accountId && clock.now() < state.expiresAt;
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
  const holder = key === '' ? await holderOfToken(ctx, deps) : await holderOfKey(ctx, deps, key);
  if (holder === undefined) return undefined;
  const { state } = await deps.actors.read(accountActor, holder.accountId, ctx.state.asOf);
  return state.status === 'open' ? { ...holder, plan: state.plan } : undefined;
}
