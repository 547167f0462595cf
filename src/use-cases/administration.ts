/** Changes to an account that its operator makes, on the command line or over the API. */
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { type AccountCommand, type AccountState, accountAggregate } from '../domain/account.ts';
import type { Plan } from '../domain/events.ts';
import { type Hold, holdInForce } from '../domain/hold.ts';
import { orThrow } from './command-context.ts';

interface Dependencies {
  readonly actors: ActorSystem;
}

/** @throws {ServiceError} what the account refuses; `not_found` if there is none */
async function change(
  { actors }: Dependencies,
  command: AccountCommand,
  context: CommandContext,
): Promise<AccountState> {
  return orThrow(await actors.send(accountAggregate, command.accountId, command, context)).state;
}

export async function changePlan(
  deps: Dependencies,
  accountId: string,
  plan: Plan,
  context: CommandContext,
): Promise<void> {
  await change(deps, { type: 'ChangePlan', accountId, plan }, context);
}

/**
 * @param grant `idempotencyKey`: hex HMAC of the operator's key; for 24 hours, it grants once
 * @returns the balance after it, and whether an earlier request with the key had granted them
 */
export async function grantCredits(
  { actors }: Dependencies,
  accountId: string,
  grant: { readonly amount: number; readonly idempotencyKey?: string },
  context: CommandContext,
): Promise<{ readonly credits: number; readonly replayed: boolean }> {
  const command = {
    type: 'GrantCredits',
    accountId,
    ...grant,
    now: context.metadata.time,
  } as const;
  const { state, events } = orThrow(
    await actors.send(accountAggregate, accountId, command, context),
  );
  return { credits: state.credits, replayed: events.length === 0 };
}

export async function setOperator(
  deps: Dependencies,
  accountId: string,
  isOperator: boolean,
  context: CommandContext,
): Promise<void> {
  const type = isOperator ? 'GrantOperator' : 'RevokeOperator';
  await change(deps, { type, accountId }, context);
}

/**
 * Places a hold, in the place of one that is in force.
 * @param until milliseconds since the Unix epoch; without it, the hold has no end
 */
export async function placeHold(
  deps: Dependencies,
  accountId: string,
  until: number | undefined,
  context: CommandContext,
): Promise<Hold | undefined> {
  const now = context.metadata.time;
  const end = until === undefined ? {} : { until };
  return holdInForce(
    await change(deps, { type: 'PlaceHold', accountId, now, ...end }, context),
    now,
  );
}

export async function releaseHold(
  deps: Dependencies,
  accountId: string,
  context: CommandContext,
): Promise<void> {
  await change(deps, { type: 'ReleaseHold', accountId, now: context.metadata.time }, context);
}
