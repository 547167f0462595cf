/**
 * The first proof of an address, which drops all that the person had before it: somebody else may have made it. The
 * memberships end first, so that a proof which is cut off leaves none of them behind it.
 */
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { PersonCommand } from '../domain/person-commands.ts';
import { personAggregate } from '../domain/person.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import type { Login } from './logins.ts';
import { endPerson, leaveAccounts, leavingRefused } from './members.ts';

interface Dependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly vault: Pick<Vault, 'erase'>;
}

/** Makes the context of one command. Its texts are sealed with the key of the owner, an account or a person. */
type ContextFor = (owner: string) => Promise<CommandContext>;

/**
 * Sends the command that proves the address. No membership ends where it is proven already.
 * @param make gets the number of memberships that were ended
 * @param contextFor that of the end of each membership, whose account must not read who has proven the address
 * @throws {ServiceError} `forbidden` where an account would be left without an owner: nothing is dropped
 */
export async function sendProof(
  deps: Dependencies,
  personId: string,
  make: (memberships: number) => PersonCommand,
  context: CommandContext,
  contextFor: ContextFor = async () => firstCommand(context.metadata.time, { kind: 'service' }),
): Promise<void> {
  const { actors } = deps;
  const { state } = await actors.read(personAggregate, personId);
  const isFirst = state.status === 'registered' && state.provenBy === undefined;
  const ended = isFirst ? await endMemberships(deps, personId, contextFor) : 0;
  const { events } = orThrow(await actors.send(personAggregate, personId, make(ended), context));
  // Joined in between, with a password or a session that was judged before the proof. Where another request was first,
  // it may have joined since.
  const hasProven = events.some(({ type }) => type === 'PersonAddressProven');
  if (isFirst && hasProven) await endMemberships(deps, personId, contextFor);
}

const NEEDED =
  'Nobody has proven the address of this person, who is the only owner of an account. An operator of the service can make somebody else an owner of it first.';

/** True for the only owner of an account: it would have none after a first proof. */
export const isNeeded = async (
  deps: Pick<Dependencies, 'actors'> & ReadDependencies,
  personId: string,
): Promise<boolean> => (await leavingRefused(deps, personId)) !== undefined;

async function endMemberships(
  deps: Dependencies,
  personId: string,
  contextFor: ContextFor,
): Promise<number> {
  if (await isNeeded(deps, personId)) throw new ServiceError('forbidden', NEEDED);
  return (await leaveAccounts(deps, personId, { unproven: true }, contextFor)).length;
}

/**
 * Erases the person who has the address without a proof, for whoever proves it by opening an account with it.
 * @throws {ServiceError} `forbidden` where the person is the only owner of an account, or proves it meanwhile
 */
export async function giveUpAddress(
  deps: Dependencies,
  { personId }: Login,
  context: CommandContext,
): Promise<void> {
  const service = async () => firstCommand(context.metadata.time, { kind: 'service' });
  await endMemberships(deps, personId, service);
  await endPerson(deps, personId, { unproven: true }, context);
}

/**
 * An operator vouches for the person who signs in with the address.
 * @throws {ServiceError} `validation_error` where it is proven already; `forbidden` as `sendProof`
 */
export async function vouchFor(
  deps: Dependencies,
  { personId, isProven }: Login,
  contextFor: ContextFor,
): Promise<void> {
  if (isProven) throw fieldError('email', 'The address is proven already.');
  const make = (memberships: number) =>
    ({ type: 'ProveAddress', personId, provenBy: 'operator', memberships }) as const;
  await sendProof(deps, personId, make, await contextFor(personId), contextFor);
}
