/** Erases people: their keys are destroyed, and nobody can read who they were. Events stay. */
import { peopleQueries } from '../../projections/people.ts';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { founderOf } from '../domain/members.ts';
import { personAggregate } from '../domain/person.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import type { Clock } from '../time/clock.ts';
import { endSignUp } from './sign-up.ts';
import { endPerson, forgetRevoked, leaveAccounts, leavingRefused } from './members.ts';

const LAST_MOMENT_MS = 60 * 60 * 1000;

interface Dependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly vault: Pick<Vault, 'erase'>;
}

/** A verification finds the command of these events by their cause. */
const causedByItself = (context: CommandContext, commandId: string): CommandContext => ({
  commandId,
  metadata: { ...context.metadata, causationId: commandId },
});

/**
 * Erases a person who belongs to no account but this one. A founder, who signs in by what was sealed with the key of the
 * account, leaves all others first.
 */
export async function erasePersonOf(
  deps: Dependencies,
  personId: string,
  accountId: string,
  { commandId, metadata }: CommandContext,
): Promise<void> {
  const context = causedByItself({ commandId, metadata }, commandId);
  const others = (await consistentQuery(deps, peopleQueries)).memberships(personId);
  const isFounder = founderOf(accountId) === personId;
  if (!isFounder && others.length > 0) return;
  for (const { accountId: other } of others) {
    // Refused where it would leave that account without an owner: the operator invites another one.
    const command = { type: 'RemoveMember', accountId: other, personId } as const;
    const own = causedByItself(context, `${commandId}/${other}`);
    const outcome = await deps.actors.send(accountAggregate, other, command, own);
    if (outcome.accepted) await forgetRevoked(deps, outcome.events, own);
  }
  await endPerson(deps, personId, { accountId }, context);
}

/**
 * Erases a person and not an account: nobody can read their name and address from then on, and they cannot sign in any
 * more. Events stay, and name a removed person.
 * @throws {ServiceError} `forbidden` where an account would be left without an owner, or the service without an operator:
 * nothing is erased
 */
export async function erasePerson(
  deps: Dependencies,
  personId: string,
  context: CommandContext,
): Promise<void> {
  const rejection = await leavingRefused(deps, personId);
  if (rejection !== undefined) orThrow({ accepted: false, rejection });
  const contextFor = async (accountId: string) =>
    causedByItself(context, `${context.commandId}/${accountId}`);
  const left = await leaveAccounts(deps, personId, {}, contextFor);
  await endPerson(deps, personId, { accountId: left.at(-1)?.accountId }, context);
}

/**
 * Destroys the key of a person who was erased, or of an invitation that has ended, if the process that ended it has not. A
 * sign-in that the invitation made stays.
 */
export async function destroyEnded(
  { actors, vault }: Pick<Dependencies, 'actors' | 'vault'>,
  personId: string,
): Promise<void> {
  const { state } = await actors.read(personAggregate, personId);
  if (state.status !== 'registered') await vault.erase(personId);
}

/**
 * Destroys the addresses of invitations, and of links that open accounts, that have expired.
 * @param failed gets the error of each that could not be: the others are not held up
 */
export async function forgetEnded(
  deps: Dependencies & { readonly clock: Clock },
  failed: (error: unknown) => void,
  stopping?: AbortSignal,
): Promise<void> {
  const now = deps.clock.now();
  const queries = await consistentQuery(deps, peopleQueries);
  for (const { accountId, id: personId } of queries.expired(now)) {
    if (stopping?.aborted === true) return;
    await forgetInvitation(deps, accountId, personId, now).catch(failed);
  }
  // Whoever uses a link in its last moment has ended by then.
  for (const { accountId, personId } of queries.expiredSignUps(now - LAST_MOMENT_MS)) {
    if (stopping?.aborted === true) return;
    const context = firstCommand(now, { kind: 'service' });
    await endSignUp(deps, accountId, personId, context).catch(failed);
  }
}

async function forgetInvitation(
  deps: Dependencies,
  accountId: string,
  personId: string,
  now: number,
): Promise<void> {
  const context = firstCommand(now, { kind: 'service' });
  const command = { type: 'RevokeInvitation', accountId, personId } as const;
  // Refused where it was used or revoked meanwhile: who did has destroyed it.
  const revoked = await deps.actors.send(accountAggregate, accountId, command, context);
  if (revoked.accepted) await forgetRevoked(deps, revoked.events, context);
}
