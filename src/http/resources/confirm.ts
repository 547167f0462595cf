/** Requests that prove again who is signed in: a stolen session must not become more than that. */
import Type from 'typebox';
import { authenticatorOf } from '../../accounts/authenticators.ts';
import { loginOf } from '../../accounts/logins.ts';
import { type Confirmation, confirmCode, confirmPassword } from '../../accounts/sign-in.ts';
import { sessionAggregate } from '../../domain/session.ts';
import { fieldError } from '../../errors/errors.ts';
import { callerOf, commandContext, type HttpContext, isByOperatorSocket } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Text } from '../openapi/fields.ts';
import { DASHBOARD_SESSION_LIFETIME_MS } from '../tokens.ts';

/** A code of the authenticator, or a recovery code. */
export const Otp = Text(
  '287082',
  'A code of your authenticator, or a recovery code. Each works once.',
  { minLength: 1, maxLength: 64 },
);

/** The password of who asks. */
export const OwnPassword = Text('correct horse battery', 'Your own password.', {
  format: 'password',
  minLength: 1,
  maxLength: 1024,
});

export const PROOF = { password: Type.Optional(OwnPassword), otp: Type.Optional(Otp) };

/** A sign-in with the identity provider takes the place of a password that a person does not have for so long. */
const PROVIDER_PROOF_MS = 5 * 60 * 1000;
const NOT_FRESH =
  'You have no password: sign in with the identity provider again. That counts for 5 minutes.';

interface Proof {
  readonly password?: string;
  readonly otp?: string;
}

/** What a try is counted for and told of. */
function confirmationOf(ctx: HttpContext): Confirmation {
  const { clientAddress, requestId, loggedId, log } = ctx.state;
  return { clientAddress, requestId, loggedId, log, actor: signedInOf(callerOf(ctx)) };
}

const holderOf = (ctx: HttpContext) => {
  const { accountId } = callerOf(ctx);
  return { accountId, personId: signedInOf(callerOf(ctx)).person };
};

/** @throws {ServiceError} `validation_error`, `rate_limit_exceeded` */
export const confirmOwnPassword = (
  ctx: HttpContext,
  deps: RouteDependencies,
  password: string,
  wrong?: Parameters<typeof confirmPassword>[3],
) => confirmPassword(deps, holderOf(ctx).personId, { ...confirmationOf(ctx), password }, wrong);

/**
 * Takes the password. Who has none has proved who they are by signing in with the identity provider a few minutes ago.
 * @param missing said to somebody with a password who gives none
 * @throws {ServiceError} `validation_error`, `rate_limit_exceeded`
 */
export async function confirmPerson(
  ctx: HttpContext,
  deps: RouteDependencies,
  password: string | undefined,
  missing: string,
  wrong?: Parameters<typeof confirmPassword>[3],
): Promise<void> {
  if (password !== undefined) {
    await confirmOwnPassword(ctx, deps, password, wrong);
    return;
  }
  const { person, id } = signedInOf(callerOf(ctx));
  if ((await loginOf(deps, person))?.passwordHash !== '') throw fieldError('password', missing);
  const { state } = await deps.actors.read(sessionAggregate, id);
  const signedInAt = state.expiresAt - DASHBOARD_SESSION_LIFETIME_MS;
  const isFresh = deps.clock.now() < signedInAt + PROVIDER_PROOF_MS;
  if (!state.methods.includes('oidc') || !isFresh) throw fieldError('password', NOT_FRESH);
}

const takeOtp = (ctx: HttpContext, deps: RouteDependencies, otp: string) =>
  confirmCode(deps, holderOf(ctx), confirmationOf(ctx), {
    otp,
    contextFor: () => commandContext(ctx, deps),
  });

/** Takes a code, or what `confirmPerson` takes. @throws {ServiceError} `validation_error`, `rate_limit_exceeded` */
export async function confirmByEither(
  ctx: HttpContext,
  deps: RouteDependencies,
  { password, otp }: Proof,
): Promise<void> {
  if (otp !== undefined) await takeOtp(ctx, deps, otp);
  else await confirmPerson(ctx, deps, password, 'Is required, or otp.');
}

/**
 * Takes the password of an operator and, where they have a second factor, a code. The command line can read the store
 * anyway.
 * @throws {ServiceError} `validation_error`, `rate_limit_exceeded`
 */
export async function confirmOperator(
  ctx: HttpContext,
  deps: RouteDependencies,
  { password, otp }: Proof,
): Promise<void> {
  if (isByOperatorSocket(ctx)) return;
  if (password === undefined) throw fieldError('password', 'Is required.');
  const needsCode = (await authenticatorOf(deps, holderOf(ctx).personId)) !== undefined;
  if (needsCode && otp === undefined) {
    throw fieldError('otp', 'Is required: you have a second factor.');
  }
  await confirmOwnPassword(ctx, deps, password);
  if (needsCode && otp !== undefined) await takeOtp(ctx, deps, otp);
}
