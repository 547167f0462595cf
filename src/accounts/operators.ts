/** Keeps the service an operator who can act, whoever is suspended, removed or erased at the same time. */
import { accountQueries } from '../../projections/accounts.ts';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import {
  type AccountCommand,
  type AccountEvent,
  type AccountState,
  accountAggregate,
} from '../domain/account.ts';
import { founderOf } from '../domain/members.ts';
import { OPERATORS_ID, operatorsAggregate } from '../domain/operators.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';

type Dependencies = Pick<AccountDependencies, 'actors'> & ReadDependencies;

/** A command after which the account does not act as an operator, if it did before. */
type EndingCommand = Extract<
  AccountCommand,
  { readonly type: 'SuspendAccount' | 'RevokeOperator' | 'EraseAccount' | 'RemoveMember' }
>;

/**
 * Sends the command. An operator is set aside first: of two who end each other at the same time, one is decided first.
 * @throws {ServiceError} `forbidden` if nobody else could act as an operator; what the account refuses
 */
export async function sendEnding(
  deps: Dependencies,
  command: EndingCommand,
  context: CommandContext,
) {
  const { accountId } = command;
  const { state } = await deps.actors.read(accountAggregate, accountId);
  if (!state.isOperator) return await sendToAccount(deps, command, context);
  // What the account refuses sets nobody aside.
  const decision = accountAggregate.decider.decide(command, state);
  if ('rejected' in decision) {
    return orThrow<AccountState, AccountEvent>({ accepted: false, rejection: decision });
  }
  const others = await otherOperators(deps, accountId);
  const aside = { type: 'SetOperatorAside', accountId, others } as const;
  orThrow(await deps.actors.send(operatorsAggregate, OPERATORS_ID, aside, context));
  const outcome = await deps.actors.send(accountAggregate, accountId, command, context);
  if (!outcome.accepted) await restoreOperator(deps, accountId, context);
  return orThrow(outcome);
}

/** Makes the account an operator, or ends that. @throws {ServiceError} as `sendEnding` */
export async function changeOperator(
  deps: Dependencies,
  accountId: string,
  isOperator: boolean,
  context: CommandContext,
): Promise<void> {
  if (!isOperator)
    return void (await sendEnding(deps, { type: 'RevokeOperator', accountId }, context));
  await sendToAccount(deps, { type: 'GrantOperator', accountId }, context);
  await restoreOperator(deps, accountId, context);
}

/** Counts the account among the operators again, if it was set aside. */
export async function restoreOperator(
  { actors }: Pick<Dependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  const command = { type: 'RestoreOperator', accountId } as const;
  orThrow(await actors.send(operatorsAggregate, OPERATORS_ID, command, context));
}

/** Returns the other operators who can act. Only the founder acts for an account, while they belong to it. */
async function otherOperators(deps: Dependencies, accountId: string): Promise<readonly string[]> {
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

/**
 * Ends a membership. Founders, who act for accounts that are operators, are set aside first.
 * @throws {ServiceError} `forbidden` if nobody could act as an operator then, or the account decides so; `not_found`
 */
export async function removeFromAccount(
  deps: Dependencies,
  command: Extract<AccountCommand, { readonly type: 'RemoveMember' }>,
  context: CommandContext,
) {
  const { accountId, personId } = command;
  return personId === founderOf(accountId)
    ? await sendEnding(deps, command, context)
    : await sendToAccount(deps, command, context);
}
