import { accountAggregate } from '../domain/account.ts';
import { type ErrorDetails, ServiceError } from '../errors/errors.ts';
import type { Asker } from './passwords.ts';
import { judgeInTurn, type SignInDependencies, type SignInRequest } from './sign-in.ts';

/**
 * Judges the present password of somebody who is signed in already. A wrong one counts as a refused sign-in:
 * a stolen session gives no further guesses.
 * @param wrong the message for a wrong one
 * @throws {ServiceError} `validation_error` where it is wrong, `rate_limit_exceeded` after too many tries
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function confirmPassword(
  deps: SignInDependencies,
  accountId: string,
  request: Omit<SignInRequest, 'email'>,
  wrong: { readonly message: string; readonly details: ErrorDetails },
): Promise<{ readonly sessionEpoch: number; readonly asker: Asker }> {
  const { state } = await deps.actors.read(accountAggregate, accountId);
  // Erased since its credential was read.
  if (state.status !== 'open') throw new ServiceError('unauthorized');
  const email = await deps.vault.unsealExactly(accountId, state.email);
  const { account, right, asker } = await judgeInTurn(deps, { ...request, email });
  if (!right || account?.id !== accountId) {
    throw new ServiceError('validation_error', wrong.message, { details: wrong.details });
  }
  return { sessionEpoch: account.state.sessionEpoch, asker };
}
