/** Requests of operators: who may send them, and what the log keeps of who did. */
import { recordLook } from '../accounts/accounts.ts';
import { firstCommand } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Clock } from '../time/clock.ts';
import {
  accountInView,
  type Caller,
  callerOf,
  type HttpContext,
  type HttpMiddleware,
  isByOperatorSocket,
} from './context.ts';
import type { RouteDependencies } from './dependencies.ts';
import { signedInOf } from './middleware/sessions-only.ts';
import type { ErrorDoc } from './openapi/operation.ts';

const NO_OPERATOR =
  "This account is not an operator of the service. 'pressledger account operator EMAIL --grant' makes it one.";

const FIRST_PASSWORD =
  'This account still has the password that the first start printed. Change it before you act as an operator: on the ' +
  "page Account of the dashboard, by POST /api/v1/account/password/, or with 'pressledger account password EMAIL'.";

export const NOT_AN_OPERATOR: ErrorDoc = {
  when: 'The account is not an operator of the service, it has not changed the password that the first start printed, or the credential is an API key.',
  message: NO_OPERATOR,
};

/** @throws {ServiceError} `forbidden` */
function assertOperator(caller: Caller): void {
  signedInOf(caller);
  if (!caller.isOperator) throw new ServiceError('forbidden', NO_OPERATOR);
  if (caller.mustChangePassword) throw new ServiceError('forbidden', FIRST_PASSWORD);
}

/** Lets sessions of operators through, and the command line. */
export const operatorsOnly: HttpMiddleware = async (ctx, next) => {
  if (!isByOperatorSocket(ctx)) assertOperator(callerOf(ctx));
  try {
    await next();
  } catch (cause) {
    // The account that is asked for was erased meanwhile. The operator is still signed in.
    throw cause instanceof KeyErased
      ? new ServiceError('not_found', 'There is no such account.', { cause })
      : cause;
  }
};

/**
 * Makes the metadata of what an operator does to an account, whose history has them. They name the operator's account,
 * and neither its address nor the client's.
 * @param given why the operator does it, in their words
 */
export async function operatorContext(
  ctx: HttpContext,
  deps: { readonly clock: Clock; readonly vault: Vault },
  accountId: string,
  given?: string,
): Promise<CommandContext> {
  const reason = given === undefined ? {} : { reason: await deps.vault.seal(accountId, given) };
  // A command has no id that anybody could ask about.
  const request = isByOperatorSocket(ctx)
    ? {}
    : { requestId: await deps.vault.seal(accountId, ctx.state.requestId) };
  return firstCommand(deps.clock.now(), operatorOf(ctx), { ...request, ...reason });
}

/** Records that the command line reads something of an account which it has not named: it sees those of all. */
export async function recordLookOfAll(
  ctx: HttpContext,
  deps: RouteDependencies,
  { accountId }: { readonly accountId: string },
): Promise<void> {
  if (accountInView(ctx) !== undefined) return;
  await recordLook(deps, accountId, await operatorContext(ctx, deps, accountId), 'account');
}

/** The operator as events name one: by the account, or as somebody at the command line. */
export const operatorOf = (ctx: HttpContext): CommandContext['metadata']['actor'] =>
  isByOperatorSocket(ctx)
    ? { kind: 'operator' }
    : { kind: 'operator', id: callerOf(ctx).accountId };
