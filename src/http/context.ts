import type { IncomingMessage } from 'node:http';
import type { Context, Middleware, ParameterizedContext } from 'koa';
import { type OpenRights, scopesOf } from '../accounts/key-rights.ts';
import type { CountedCaller } from '../accounts/rate-limits.ts';
import type { Lacking } from '../accounts/second-factors.ts';
import { firstCommand, operatorContext } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import type { Reader } from '../conversions/history.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { SignInMethod } from '../domain/choices.ts';
import type { Role } from '../domain/member-events.ts';
import type { KeyTerms } from '../domain/acceptance.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { Clock } from '../time/clock.ts';

/** The sender of a request, by a credential that was found good. */
export interface Caller extends CountedCaller {
  /** The account acts for the service too, where a session asks. */
  readonly isOperator: boolean;
  /** It has the password that the first start printed. */
  readonly mustChangePassword: boolean;
  /** The bounds of the API key that it sent; absent without one. */
  readonly key?: OpenRights;
  readonly actor:
    | ActingMember
    /** The command line, by the operator's socket. */
    | { readonly kind: 'operator' };
  /** What the person of a session proved at sign-in. */
  readonly methods?: readonly SignInMethod[];
  /** The session may do nothing but set up what the account requires; absent: nothing lacks. */
  readonly lacking?: Lacking;
  /** An auditor who may read documents, or a member who may anyway. */
  readonly mayReadDocuments: boolean;
}

/** A member of the account, by a session or a key of theirs. */
export interface ActingMember {
  readonly kind: 'key' | 'session';
  readonly id: string;
  readonly person: string;
  /** As the account's state has it at the time of the request. */
  readonly role: Role;
}

/** Facts that the middleware has found out about a request. */
export interface RequestState {
  /** The id in the answer: the client may have chosen it. */
  readonly requestId: string;
  /** The names of the request and its path in log lines, and in errors that a client may report. */
  readonly loggedId: string;
  readonly loggedPath: string;
  /** The client's address, by the socket or, behind a trusted proxy, by its last forwarder. */
  clientAddress: string;
  /** Names the request and its client in each line, by ids that say nothing of anybody. */
  readonly log: Logger;
  caller: Caller | undefined;
  /** Why the credential is good for nothing here, where that is more than that it is wrong. */
  refusal: ServiceError | undefined;
  /** An API key that may read nothing but what it made asks. */
  seesOwnOnly: boolean;
  /** The request asks for a test, whoever sends it. */
  isTest?: boolean;
  /** The log's head when the caller was looked up: what is read as of here is current. */
  asOf: bigint | undefined;
}

export type HttpContext = ParameterizedContext<RequestState>;
export type HttpMiddleware = Middleware<RequestState>;

const bySocket = new WeakSet<IncomingMessage>();

/** Gives a request an operator's rights. Only the listener may: nothing that a client sends leads here. */
export function admitOperator(request: IncomingMessage): void {
  bySocket.add(request);
}

/** True if it came by the operator's socket: who can reach that can read and change the store without it. */
export const isByOperatorSocket = ({ req }: Pick<Context, 'req'>): boolean => bySocket.has(req);

/** The parameters of the route that matched. */
export function pathParameter(ctx: HttpContext, name: string): string {
  const { params } = ctx as HttpContext & { params?: Readonly<Record<string, string>> };
  return params?.[name] ?? '';
}

/** @throws {ServiceError} `unauthorized` on a route that lets nobody through unknown */
export function callerOf(ctx: HttpContext): Caller {
  if (ctx.state.caller === undefined) throw new ServiceError('unauthorized');
  return ctx.state.caller;
}

/** The account whose things the request may see; undefined: all, for the command line where it names none. */
export function accountInView(ctx: HttpContext): string | undefined {
  return isByOperatorSocket(ctx) ? ctx.state.caller?.accountId : callerOf(ctx).accountId;
}

/** Makes the metadata of every event that the request causes: its sender, address and request id. */
export async function commandContext(
  ctx: HttpContext,
  deps: { readonly clock: Clock; readonly vault: Vault },
  sender?: Pick<Caller, 'accountId'> & { readonly actor: CommandContext['metadata']['actor'] },
): Promise<CommandContext> {
  // A command has neither an address nor an id that anybody could ask about.
  if (sender === undefined && isByOperatorSocket(ctx)) return operatorContext(deps.clock);
  const caller = sender ?? callerOf(ctx);
  const { accountId } = caller;
  const [requestId, client] = await Promise.all([
    deps.vault.seal(accountId, ctx.state.requestId),
    deps.vault.seal(accountId, ctx.state.clientAddress),
  ]);
  return firstCommand(deps.clock.now(), caller.actor, { requestId, client });
}

/** The terms of the API key that the request was sent with. */
export function keyTermsOf(ctx: HttpContext): KeyTerms {
  const { actor, key } = ctx.state.caller ?? {};
  const asked = ctx.state.isTest === true && { isTest: true };
  if (actor?.kind !== 'key' || key === undefined) return { ...asked };
  const { isTest, creditLimit } = key;
  return {
    ...(isTest && { isTest }),
    ...asked,
    ...(creditLimit !== undefined && { limit: { keyId: actor.id, credits: creditLimit } }),
  };
}

/** True for a test key, which sees and changes only tests and test keys. */
export const seesTestsOnly = (ctx: HttpContext): boolean => ctx.state.caller?.key?.isTest === true;

/** True for what the caller may see of its account: a key may be bound to tests, and to what it made. */
export function mayShow(
  ctx: HttpContext,
  made: { readonly keyId?: string; readonly isTest?: 1 },
): boolean {
  const { actor } = ctx.state.caller ?? {};
  if (seesTestsOnly(ctx) && made.isTest === undefined) return false;
  return !ctx.state.seesOwnOnly || (actor?.kind === 'key' && actor.id === made.keyId);
}

/** What the caller may see of the account's events and deliveries. */
export function readerOf(ctx: HttpContext): Reader {
  const { actor, key, mayReadDocuments = true } = ctx.state.caller ?? {};
  const mayRead = mayReadDocuments && scopesOf(key ?? {}).includes('read');
  const isBound = actor !== undefined && 'role' in actor && actor.role !== 'owner';
  return { mayReadDocuments: mayRead, ...(isBound && { queriesOf: actor.person }) };
}

const disconnections = new WeakMap<Context['res'], AbortSignal>();

/** Aborted when the connection has taken the whole answer, or is closed. */
export function disconnection({ res }: Pick<Context, 'res'>): AbortSignal {
  const known = disconnections.get(res);
  if (known !== undefined) return known;
  const controller = new AbortController();
  releaseAtEnd({ res }, () => controller.abort());
  disconnections.set(res, controller.signal);
  return controller.signal;
}

const releases = new WeakMap<Context['res'], (() => void)[]>();

/**
 * Calls `release` when the connection has taken the whole answer, or is closed. Without a signal, which costs more than
 * all that a short request does. One listener serves the whole request: Node warns of more than ten.
 */
export function releaseAtEnd({ res }: Pick<Context, 'res'>, release: () => void): void {
  if (res.destroyed) return release();
  const waiting = releases.get(res);
  if (waiting !== undefined) return void waiting.push(release);
  const all = [release];
  releases.set(res, all);
  res.once('close', () => {
    for (const each of all) each();
  });
}

/** True if the client has this version already. Not `ctx.fresh`: clients that keep no cache say `no-cache` too. */
export function hasCopy(ctx: HttpContext, etag: string): boolean {
  const known = ctx.get('If-None-Match').split(',');
  return known.some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}
