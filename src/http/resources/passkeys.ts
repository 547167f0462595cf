/** The passkeys of the person who is signed in. */
import { personTexts } from '../../accounts/logins.ts';
import {
  creationOptions,
  newChallenge,
  PURPOSES,
  relyingParty,
  requestOptions,
} from '../../accounts/passkey-ceremonies.ts';
import {
  addPasskey,
  credentialsOf,
  passkeyRecords,
  removePasskey,
  renamePasskey,
} from '../../accounts/passkeys.ts';
import { confirmPasskey } from '../../accounts/passkey-sign-in.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { PASSKEY_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { callerOf, commandContext, type HttpContext, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { confirmPerson } from './confirm.ts';
import { WRONG_PASSWORD } from './operator-accounts.api.ts';
import {
  checkConfirmation,
  checkNewPasskey,
  checkPasskeyName,
  createPasskeyDoc,
  listPasskeysDoc,
  patchPasskeyDoc,
  postPasskeyDoc,
  removePasskeyDoc,
  requestPasskeyDoc,
} from './passkeys.api.ts';

/** @throws {ServiceError} `forbidden` */
export const partyOf = (ctx: HttpContext, { publicUrl }: RouteDependencies) =>
  relyingParty(publicUrl, ctx.get('Origin'));

function holderOf(ctx: HttpContext) {
  const caller = callerOf(ctx);
  const { person: personId, id: sessionId } = signedInOf(caller);
  return { personId, accountId: caller.accountId, sessionId };
}

/** Judges the passkey in the body, or what `confirmPerson` takes. @throws {ServiceError} `validation_error`, `rate_limit_exceeded` */
async function confirm(ctx: HttpContext, deps: RouteDependencies): Promise<void> {
  const { password, passkey } = await deps.bodies.readSmall(ctx, deps.config, checkConfirmation);
  const actor = signedInOf(callerOf(ctx));
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  const request = { clientAddress, requestId, loggedId, log, actor };
  if (passkey !== undefined) {
    const { personId, accountId, sessionId } = holderOf(ctx);
    const purpose = PURPOSES.confirm(sessionId);
    const presented = { assertion: passkey, party: partyOf(ctx, deps), purpose };
    const context = await commandContext(ctx, deps);
    await confirmPasskey(deps, personId, { ...request, presented }, { accountId, context });
  } else {
    const missing = 'Give your password, or one of your passkeys.';
    await confirmPerson(ctx, deps, password, missing, WRONG_PASSWORD);
  }
}

export const listPasskeys: Endpoint = {
  doc: listPasskeysDoc,
  handler: (deps) => async (ctx) => {
    ctx.body = await passkeyRecords(deps, holderOf(ctx).personId);
  },
};

export const requestPasskey: Endpoint = {
  doc: requestPasskeyDoc,
  handler: (deps) => async (ctx) => {
    const { personId, sessionId } = holderOf(ctx);
    const party = partyOf(ctx, deps);
    const purpose = PURPOSES.confirm(sessionId);
    const challenge = newChallenge(deps.addressKey, purpose, deps.clock.now());
    ctx.body = requestOptions(party, await credentialsOf(deps, personId), challenge);
  },
};

export const createPasskey: Endpoint = {
  doc: createPasskeyDoc,
  handler: (deps) => async (ctx) => {
    const { personId, sessionId } = holderOf(ctx);
    const party = partyOf(ctx, deps);
    await confirm(ctx, deps);
    const { email = '', name = email } = await personTexts(deps, personId);
    const challenge = newChallenge(deps.addressKey, PURPOSES.add(sessionId), deps.clock.now());
    const present = await credentialsOf(deps, personId);
    ctx.body = creationOptions(party, { id: personId, email, name }, present, challenge);
  },
};

export const postPasskey: Endpoint = {
  doc: postPasskeyDoc,
  handler: (deps) => async (ctx) => {
    const holder = holderOf(ctx);
    const party = partyOf(ctx, deps);
    const { name, passkey } = await deps.bodies.readSmall(ctx, deps.config, checkNewPasskey);
    const given = { name, registration: passkey };
    const record = await addPasskey(deps, holder, given, party, await commandContext(ctx, deps));
    // It was just proved, with a finger, a face or a PIN.
    const { sessionId } = holder;
    const command = { type: 'ConfirmSession', sessionId, methods: ['passkey'] } as const;
    // Refused where the session has ended meanwhile, which is as good.
    await deps.actors.send(sessionAggregate, sessionId, command, await commandContext(ctx, deps));
    ctx.status = 201;
    ctx.body = record;
  },
};

const wholeId = new RegExp(`^${PASSKEY_ID}$`);

/** @throws {ServiceError} `not_found` */
function ownPasskey(ctx: HttpContext) {
  const passkeyId = pathParameter(ctx, 'id');
  if (!wholeId.test(passkeyId)) throw new ServiceError('not_found', 'There is no such passkey.');
  const { personId, accountId } = holderOf(ctx);
  return { personId, accountId, passkeyId };
}

export const patchPasskey: Endpoint = {
  doc: patchPasskeyDoc,
  handler: (deps) => async (ctx) => {
    const own = ownPasskey(ctx);
    const { name } = await deps.bodies.readSmall(ctx, deps.config, checkPasskeyName);
    ctx.body = await renamePasskey(deps, own, name, await commandContext(ctx, deps));
  },
};

export const postPasskeyRemoval: Endpoint = {
  doc: removePasskeyDoc,
  handler: (deps) => async (ctx) => {
    const own = ownPasskey(ctx);
    await confirm(ctx, deps);
    await removePasskey(deps, own, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
