/** Suspending accounts and resuming them, and what their people are told meanwhile. */
import type { CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { Standing } from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';
import { restoreOperator, sendEnding } from './operators.ts';

const refusalText = (reason: string): string =>
  `The account is suspended. The reason that the operator of the service gave: ${reason}`;

/** For the documentation. */
export const SUSPENDED_EXAMPLE = refusalText('The invoice of October is not paid.');

/** The refusal of what a suspended account asks for, with the reason; undefined where it is not suspended. */
export async function refusalOf(
  { vault }: { readonly vault: Pick<Vault, 'unseal'> },
  accountId: string,
  { suspension }: Pick<Standing, 'suspension'>,
): Promise<ServiceError | undefined> {
  if (suspension === undefined) return undefined;
  const reason = await vault.unseal(accountId, suspension.reason);
  return new ServiceError('forbidden', refusalText(reason));
}

/**
 * Suspends the account. What it asked for before is finished.
 * @param reason sealed with the account's key
 * @throws {ServiceError} `forbidden` where nobody else could act as an operator, `not_found`
 */
export async function suspendAccount(
  deps: Pick<AccountDependencies, 'actors'> & ReadDependencies,
  accountId: string,
  reason: string,
  context: CommandContext,
) {
  const { time: now } = context.metadata;
  return await sendEnding(deps, { type: 'SuspendAccount', accountId, reason, now }, context);
}

/** @throws {ServiceError} `not_found` where it is not suspended */
export async function resumeAccount(
  deps: Pick<AccountDependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
) {
  const { time: now } = context.metadata;
  const resumed = await sendToAccount(deps, { type: 'ResumeAccount', accountId, now }, context);
  await restoreOperator(deps, accountId, context);
  return resumed;
}
