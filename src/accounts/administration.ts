/** Changes to an account that its operator makes. */

import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { type AccountCommand, accountAggregate } from '../domain/account.ts';

/** @throws {ServiceError} what the account refuses; `not_found` if there is none */
export const administer = async (
  { actors }: { readonly actors: ActorSystem },
  command: AccountCommand,
  context: CommandContext,
) => orThrow(await actors.send(accountAggregate, command.accountId, command, context));
