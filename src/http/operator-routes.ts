/**
 * The acts of the command line that the API does not offer. They are reached by the operator's socket alone: with them a
 * stolen session of one operator would be that of every account.
 */
import Router from '@koa/router';
import Type from 'typebox';
import { assertOpen } from '../accounts/account-details.ts';
import { findHolder, recordLook } from '../accounts/accounts.ts';
import { erasePerson } from '../accounts/erase-people.ts';
import { beginErasure, completeErasure } from '../accounts/erasure.ts';
import { changeOperator } from '../accounts/operators.ts';
import { loginByAddress, setPassword } from '../accounts/password-reset.ts';
import { operatorContext } from '../actors/command-context.ts';
import { accountAggregate } from '../domain/account.ts';
import { ACCOUNT_ID } from '../domain/ids.ts';
import { ServiceError } from '../errors/errors.ts';
import { currentCheckpoint, currentKeys } from '../log/transparency-log.ts';
import { compile } from '../requests/validation.ts';
import { isoTime } from '../time/clock.ts';
import {
  type HttpContext,
  type HttpMiddleware,
  isByOperatorSocket,
  pathParameter,
  type RequestState,
} from './context.ts';
import type { RouteDependencies } from './dependencies.ts';
import { operatorContext as operatorContextOf } from './operator.ts';
import { Reason } from './resources/operator-acts.ts';
import { getEvidence, getHistory } from './resources/operator-history.ts';
import { BASE_PATH } from './routes.ts';

const WHOLE_ID = new RegExp(`^${ACCOUNT_ID}$`);
const closed = { additionalProperties: false } as const;
const checkPassword = compile(
  Type.Object(
    {
      email: Type.String({ maxLength: 254 }),
      password: Type.Optional(Type.String({ maxLength: 1024 })),
      reason: Type.Optional(Reason),
    },
    closed,
  ),
);
const checkOperator = compile(
  Type.Object({ operator: Type.Boolean(), reason: Type.Optional(Reason) }, closed),
);

function postPassword(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { bodies, config } = deps;
    const { email, password: given, reason } = await bodies.readSmall(ctx, config, checkPassword);
    const login = await loginByAddress(deps, email);
    const made = await setPassword(deps, login, given, (owner) =>
      operatorContextOf(ctx, deps, owner, reason),
    );
    ctx.body = { id: login.personId, ...(made !== undefined && { password: made }) };
  };
}

function postOperator(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { operator, reason } = await deps.bodies.readSmall(ctx, deps.config, checkOperator);
    const accountId = await openAccountOf(ctx, deps);
    const context = await operatorContextOf(ctx, deps, accountId, reason);
    await changeOperator(deps, accountId, operator, context);
    ctx.body = { operator };
  };
}

/** @throws {ServiceError} `not_found` where there is none, or it was erased */
async function openAccountOf(ctx: HttpContext, deps: RouteDependencies): Promise<string> {
  const accountId = pathParameter(ctx, 'id');
  await assertOpen(deps, accountId);
  return accountId;
}

/** Signs what is new first, as the leader does from time to time. */
function postCheckpoint(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    await deps.signer.signNews();
    const { size, root, note, signedAt } = await currentCheckpoint(deps);
    ctx.body = { size, root: root.toString('base64'), note, signed_at: isoTime(signedAt) };
  };
}

function listKeys(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    ctx.body = { keys: await currentKeys(deps) };
  };
}

function postKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    await deps.signer.rotate(operatorContext(deps.clock));
    ctx.body = { keys: await currentKeys(deps) };
  };
}

export interface Erasure {
  readonly id: string;
  readonly email: string;
  /** `begun`: the account has ended, and its documents are not all deleted. */
  readonly state: 'open' | 'begun' | 'erased';
}

/**
 * Finds an account by its address or its id. Another account may have taken the address of one that was erased: its id
 * still names it.
 * @throws {ServiceError} `not_found`
 */
async function erasureOf(deps: RouteDependencies, given: string): Promise<Erasure> {
  const byId = WHOLE_ID.test(given);
  const holder = byId
    ? { id: given, ...(await deps.actors.read(accountAggregate, given)) }
    : await findHolder(deps, given);
  if (holder === undefined || holder.state.status === 'none') {
    throw new ServiceError('not_found', `There is no account for ${given}.`);
  }
  const { id, state } = holder;
  if (state.status === 'erased') {
    return { id, email: given, state: state.erasureCompleted ? 'erased' : 'begun' };
  }
  const email = byId ? await deps.vault.unseal(id, state.email) : given;
  return { id, email, state: 'open' };
}

function getErasure(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const found = await erasureOf(deps, pathParameter(ctx, 'account'));
    await recordLook(deps, found.id, operatorContext(deps.clock), 'account');
    ctx.body = found;
  };
}

/** Erases the account, and ends when all of it is done. */
function postErasure(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { id, state } = await erasureOf(deps, pathParameter(ctx, 'account'));
    if (state === 'open') await beginErasure(deps, id, operatorContext(deps.clock));
    // A copy of the keyring from before, in use again, has its key: the log does not show that.
    if (state === 'erased') await deps.vault.erase(id);
    else await completeErasure({ ...deps, store: deps.streams }, id);
    ctx.body = {};
  };
}

/** Erases the person who signs in with the address, and no account. */
function postPersonErasure(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { personId: id } = await loginByAddress(deps, pathParameter(ctx, 'email'));
    await erasePerson(deps, id, operatorContext(deps.clock));
    ctx.body = { id };
  };
}

/** Passes all other requests on, as if there was no such route. */
const bySocket =
  (handle: HttpMiddleware): HttpMiddleware =>
  (ctx, next) =>
    isByOperatorSocket(ctx) ? handle(ctx, next) : next();

export function operatorRoutes(deps: RouteDependencies): Router<RequestState> {
  const router = new Router<RequestState>({ strict: true, sensitive: true, prefix: BASE_PATH });
  router.post('/operator/passwords/', bySocket(postPassword(deps)));
  router.post('/operator/accounts/:id/operator/', bySocket(postOperator(deps)));
  router.post('/operator/checkpoints/', bySocket(postCheckpoint(deps)));
  router.get('/operator/log-keys/', bySocket(listKeys(deps)));
  router.post('/operator/log-keys/', bySocket(postKey(deps)));
  router.get('/operator/erasures/:account/', bySocket(getErasure(deps)));
  router.post('/operator/erasures/:account/', bySocket(postErasure(deps)));
  router.post('/operator/people/:email/erase/', bySocket(postPersonErasure(deps)));
  router.get('/operator/histories/:subject/', bySocket(getHistory(deps)));
  router.get('/operator/evidence/:id/', bySocket(getEvidence(deps)));
  return router;
}
