/** The second factor of the person who is signed in: an authenticator, and recovery codes for its loss. */
import Type from 'typebox';
import {
  addAuthenticator,
  authenticatorOf,
  offerAuthenticator,
  removeAuthenticator,
  removeLostAuthenticator,
  renewRecoveryCodes,
} from '../../accounts/authenticators.ts';
import { personTexts } from '../../accounts/logins.ts';
import { loginByAddress } from '../../accounts/password-reset.ts';
import { orThrow } from '../../actors/command-context.ts';
import { RECOVERY_CODES } from '../../domain/second-factor.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { compile } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { callerOf, commandContext, type HttpContext } from '../context.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Closed, Count, Flag, OrNull, PERSON, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';
import { operatorContext } from '../operator.ts';
import { confirmByEither, confirmOperator, confirmPerson, OwnPassword, PROOF } from './confirm.ts';
import { Reason } from './operator-acts.ts';

const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const SETUP = 'person_06f3k8r1v2w9x4y5z6a7b8c9d0.v1.0aYO5hGNJiYeN19uaa3BWb2C5hbmEm3';

/** The answer of `GET /account/person/totp/`. */
export const Authenticator = Closed({
  since: OrNull(Timestamp('The time when it was set up; null: there is none.')),
  recovery_codes: Count('Recovery codes that are left.', RECOVERY_CODES),
});

/** The answer of `POST /account/person/totp/`. */
export const AuthenticatorOffer = Closed({
  secret: Text(SECRET, 'The secret, in base 32, for people who type it.'),
  uri: Text(
    `otpauth://totp/Pressledger%20pdf.example.com:ada%40example.com?secret=${SECRET}`,
    'The same for an app.',
  ),
  qr: Text(
    '<svg viewBox="0 0 57 57" …>',
    'The same to scan: an SVG image, black on a transparent background.',
  ),
  setup: Text(SETUP, 'To send back with a first code, within 30 minutes.'),
});

const AuthenticatorProof = Closed({
  setup: Text(SETUP, 'What POST /account/person/totp/ has answered.', { maxLength: 1024 }),
  otp: Text('287082', 'A code of the new authenticator.', { minLength: 1, maxLength: 64 }),
  password: Type.Optional(OwnPassword),
});
const ProofRequest = Closed(PROOF);

/** The answer with recovery codes. */
export const RecoveryCodes = Closed({
  recovery_codes: Type.Array(Text('4kx2-m0dq-9b7z-1c3v'), {
    description: 'Each takes the place of a code once. They are shown only this once.',
  }),
});

/** The body of `POST /operator/second-factors/remove/`. */
export const LostAuthenticator = Closed({
  email: Text('ann@example.com', 'The address that the person signs in with.', { maxLength: 254 }),
  reason: Reason,
  ...PROOF,
});

const WithoutFactor = Closed({
  id: Text(PERSON, 'The person.'),
  second_factor: Flag('Always false.', false),
});

const checkLost = compile(LostAuthenticator);
const checkProof = compile(AuthenticatorProof);
const checkRequest = compile(ProofRequest);

const WRONG_PROOF = wrongField(
  'password',
  'Is required, or otp.',
  'The password or the code is wrong or missing.',
);
const NONE = {
  when: 'The person has no second factor.',
  message: 'There is no second factor. Set one up first.',
};

const holderOf = (ctx: HttpContext) => {
  const caller = callerOf(ctx);
  const { person: personId, id: sessionId } = signedInOf(caller);
  return { accountId: caller.accountId, personId, sessionId };
};

export const getAuthenticator: Endpoint = {
  doc: {
    id: 'getAuthenticator',
    tag: 'People',
    summary: 'Retrieve your second factor',
    description: 'Whether you have an authenticator that makes codes, and the recovery codes left.',
    answers: { 200: { description: 'The authenticator.', schema: Authenticator } },
  },
  handler: (deps) => async (ctx) => {
    const present = await authenticatorOf(deps, holderOf(ctx).personId);
    ctx.body = {
      since: present === undefined ? null : isoTime(present.addedAt),
      recovery_codes: present?.recoveryCodes.length ?? 0,
    };
  },
};

export const postAuthenticator: Endpoint = {
  doc: {
    id: 'offerAuthenticator',
    tag: 'People',
    summary: 'Begin to set up a second factor',
    description:
      'Makes a secret for an app that makes codes by the time (TOTP, RFC 6238). Nothing has changed until a first code is sent to /account/person/totp/confirm/.',
    answers: { 200: { description: 'The secret.', schema: AuthenticatorOffer } },
    errors: {
      validation_error: {
        when: 'There is a second factor already.',
        message:
          'There is a second factor already. Remove it before you set up another authenticator.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const holder = holderOf(ctx);
    const { email: label = holder.personId } = await personTexts(deps, holder.personId);
    const issuer = `Pressledger ${new URL(deps.publicUrl).hostname}`;
    ctx.body = await offerAuthenticator(deps, holder, { issuer, label }, deps.clock.now());
  },
};

export const postAuthenticatorProof: Endpoint = {
  doc: {
    id: 'confirmAuthenticator',
    tag: 'People',
    summary: 'Set up a second factor',
    description:
      'With a first code and the password, or a sign-in with the identity provider a few minutes ago for people who have no password, the authenticator is set up: signing in with the password takes a code from now on, in all your accounts. This session counts as one with a second factor.',
    body: { schema: AuthenticatorProof },
    answers: { 200: { description: 'The recovery codes.', schema: RecoveryCodes } },
    errors: {
      validation_error: wrongField(
        'otp',
        'Is not the code of the authenticator. Check the clock of its device.',
        'The code, the password or the set-up is wrong, or there is a second factor already.',
      ),
    },
  },
  handler: (deps) => async (ctx) => {
    const holder = holderOf(ctx);
    const { password, ...given } = await deps.bodies.readSmall(ctx, deps.config, checkProof);
    await confirmPerson(ctx, deps, password, 'Is required.');
    const context = await commandContext(ctx, deps);
    const codes = await addAuthenticator(deps, holder, given, context);
    const { sessionId } = holder;
    const command = { type: 'ConfirmSession', sessionId, methods: ['otp'] } as const;
    const confirmation = await commandContext(ctx, deps);
    orThrow(await deps.actors.send(sessionAggregate, sessionId, command, confirmation));
    ctx.body = { recovery_codes: codes };
  },
};

export const postAuthenticatorRemoval: Endpoint = {
  doc: {
    id: 'removeAuthenticator',
    tag: 'People',
    summary: 'Remove your second factor',
    description:
      'Takes the password, a code or a recovery code. The authenticator and all recovery codes are worth nothing from then on.',
    body: { schema: ProofRequest },
    answers: { 204: { description: 'There is no second factor. There is no body.' } },
    errors: { validation_error: WRONG_PROOF, not_found: NONE },
  },
  handler: (deps) => async (ctx) => {
    const proof = await deps.bodies.readSmall(ctx, deps.config, checkRequest);
    await confirmByEither(ctx, deps, proof);
    await removeAuthenticator(deps, holderOf(ctx), await commandContext(ctx, deps));
    ctx.status = 204;
  },
};

export const postRecoveryCodes: Endpoint = {
  doc: {
    id: 'renewRecoveryCodes',
    tag: 'People',
    summary: 'Make new recovery codes',
    description:
      'Takes the password, a code or a recovery code. Recovery codes from before are worth nothing from then on.',
    body: { schema: ProofRequest },
    answers: { 200: { description: 'The recovery codes.', schema: RecoveryCodes } },
    errors: { validation_error: WRONG_PROOF, not_found: NONE },
  },
  handler: (deps) => async (ctx) => {
    const proof = await deps.bodies.readSmall(ctx, deps.config, checkRequest);
    await confirmByEither(ctx, deps, proof);
    const context = await commandContext(ctx, deps);
    ctx.body = { recovery_codes: await renewRecoveryCodes(deps, holderOf(ctx), context) };
  },
};

export const postLostAuthenticator: Endpoint = {
  doc: {
    id: 'removeLostAuthenticator',
    tag: 'Operators',
    summary: 'Remove a second factor that was lost',
    description:
      'For somebody who has lost the authenticator and the recovery codes, or the passkeys: all of them are removed. Make sure who is asking. The password alone is enough for them from then on. Each account that the person belongs to has it in its history.',
    body: { schema: LostAuthenticator },
    answers: { 200: { description: 'The person has no second factor.', schema: WithoutFactor } },
    errors: {
      validation_error: {
        when: 'The body is not valid, or the password or the code is not yours.',
        message: 'The password is wrong.',
        details: { password: ['The password is wrong.'] },
      },
      not_found: {
        when: 'Nobody signs in with the address, or the person has no second factor.',
        message: 'The person has no second factor.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { email, reason, ...proof } = await deps.bodies.readSmall(ctx, deps.config, checkLost);
    await confirmOperator(ctx, deps, proof);
    const login = await loginByAddress(deps, email);
    await removeLostAuthenticator(deps, login, (owner) =>
      operatorContext(ctx, deps, owner, reason),
    );
    ctx.body = { id: login.personId, second_factor: false };
  },
};
