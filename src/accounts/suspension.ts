/** Suspending accounts and resuming them, and what their people are told meanwhile. */
import { accountQueries } from '../../projections/accounts.ts';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { founderOf } from '../domain/members.ts';
import { OPERATORS_ID, operatorsAggregate } from '../domain/operators.ts';
import type { Standing } from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';

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
  const { state } = await deps.actors.read(accountAggregate, accountId);
  if (state.isOperator) {
    const others = await otherOperators(deps, accountId);
    const command = { type: 'SetOperatorAside', accountId, others } as const;
    orThrow(await deps.actors.send(operatorsAggregate, OPERATORS_ID, command, context));
  }
  const { time: now } = context.metadata;
  return await sendToAccount(deps, { type: 'SuspendAccount', accountId, reason, now }, context);
}

/** Operators who can act, but for this account. Who opened an account alone acts for it, as long as they belong to it. */
async function otherOperators(
  deps: Pick<AccountDependencies, 'actors'> & ReadDependencies,
  accountId: string,
): Promise<readonly string[]> {
  const all = (await consistentQuery(deps, accountQueries)).operators();
  const others = all.filter((id) => id !== accountId);
  const states = await Promise.all(others.map((id) => deps.actors.read(accountAggregate, id)));
  return others.filter((id, index) => {
    const { status, isOperator, suspension, mustChangePassword, members } =
      states[index]?.state ?? accountAggregate.decider.initialState;
    const isHere = status === 'open' && members[founderOf(id)] !== undefined;
    return isHere && isOperator && suspension === undefined && !mustChangePassword;
  });
}

/** @throws {ServiceError} `not_found` where it is not suspended */
export async function resumeAccount(
  deps: Pick<AccountDependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
) {
  const { time: now } = context.metadata;
  const resumed = await sendToAccount(deps, { type: 'ResumeAccount', accountId, now }, context);
  const restore = { type: 'RestoreOperator', accountId } as const;
  orThrow(await deps.actors.send(operatorsAggregate, OPERATORS_ID, restore, context));
  return resumed;
}
