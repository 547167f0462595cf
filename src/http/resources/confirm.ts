/** Requests that prove again who is signed in: a stolen session must not become more than that. */
import Type from 'typebox';
import { authenticatorOf } from '../../accounts/authenticators.ts';
import { type Confirmation, confirmCode, confirmPassword } from '../../accounts/sign-in.ts';
import { fieldError } from '../../errors/errors.ts';
import { callerOf, commandContext, type HttpContext, isByOperatorSocket } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Text } from '../openapi/fields.ts';

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

const takeOtp = (ctx: HttpContext, deps: RouteDependencies, otp: string) =>
  confirmCode(deps, holderOf(ctx), confirmationOf(ctx), {
    otp,
    contextFor: () => commandContext(ctx, deps),
  });

/** Takes a code or the password. @throws {ServiceError} `validation_error`, `rate_limit_exceeded` */
export async function confirmByEither(
  ctx: HttpContext,
  deps: RouteDependencies,
  { password, otp }: Proof,
): Promise<void> {
  if (otp !== undefined) await takeOtp(ctx, deps, otp);
  else if (password !== undefined) await confirmOwnPassword(ctx, deps, password);
  else throw fieldError('password', 'Is required, or otp.');
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
