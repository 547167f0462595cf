/** The people of an account: showing, changing, removing. `domain/members.ts` decides. */
import type { ApiKeyRow } from '../../projections/api-keys.ts';
import { type MemberRow, peopleQueries } from '../../projections/people.ts';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { type AccountEvent, accountAggregate } from '../domain/account.ts';
import { emailAggregate } from '../domain/email.ts';
import type { Role } from '../domain/member-events.ts';
import type { Rejection } from '../domain/decider.ts';
import { founderOf, removalRefused } from '../domain/members.ts';
import { personAggregate } from '../domain/person.ts';
import type { PersonCommand } from '../domain/person-commands.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import { isoTime } from '../time/clock.ts';
import { addressHmac, reserveAddress, sendToAccount } from './accounts.ts';
import { membershipsOf, personName, personTexts, type TextReaders } from './logins.ts';
import { removeFromAccount } from './operators.ts';
import { apiKeyRecord, type Opener } from './records.ts';
import type { SignInDependencies } from './sign-in-tries.ts';

export const MAX_NAME_CHARACTERS = 100;

/** @throws {ServiceError} `validation_error` */
export function nameOfPerson(given: string): string {
  const name = given.trim();
  const length = Array.from(name).length;
  if (isBlank(name) || length > MAX_NAME_CHARACTERS || plainText(name) !== name) {
    throw fieldError(
      'name',
      `A name has 1 to ${MAX_NAME_CHARACTERS} characters, is not blank, and has no control characters, line breaks or marks of text direction.`,
    );
  }
  return name;
}

/** A member or an open invitation, as the API shows it: to owners with what is their business. */
export async function memberRecord(deps: TextReaders, row: MemberRow, isForOwner: boolean) {
  const { id, role, documents, email: invited, since, expiresAt } = row;
  const texts = invited === undefined ? await personTexts(deps, id) : {};
  const email = invited === undefined ? texts.email : await deps.vault.unseal(id, invited);
  return {
    id,
    status: expiresAt === undefined ? ('active' as const) : ('invited' as const),
    email: email ?? null,
    name: texts.name ?? null,
    role,
    documents: documents || role !== 'auditor',
    ...(isForOwner &&
      expiresAt === undefined && {
        second_factor: deps.readModel.query(peopleQueries).person(id)?.secondFactor ?? false,
      }),
    since: isoTime(since),
    ...(expiresAt !== undefined && { expires_at: isoTime(expiresAt) }),
  };
}

/** It names who made the key, unless that is the person whom the account was opened for. */
export async function namedKeyRecord<T extends string | undefined>(
  deps: TextReaders,
  row: ApiKeyRow,
  opener: Opener<T>,
) {
  const { accountId, createdBy: id } = row;
  const record = await apiKeyRecord(opener, row);
  if (id === founderOf(accountId)) return record;
  return { ...record, created_by: { id, name: await personName(deps, id) } };
}

/** @throws {ServiceError} `not_found` for what belongs to another account, too */
export async function memberOf(
  deps: ReadDependencies,
  accountId: string,
  id: string,
): Promise<MemberRow> {
  const all = (await consistentQuery(deps, peopleQueries)).all(accountId);
  const row = all.find((each) => each.id === id);
  if (row === undefined) throw new ServiceError('not_found', 'There is no such member.');
  return row;
}

/** Who asks; undefined: the operator. */
type By = string | undefined;
const asked = (by: By) => (by === undefined ? {} : { by });

/** @throws {ServiceError} `not_found`, `forbidden`, `validation_error` */
export async function changeMember(
  deps: SignInDependencies,
  accountId: string,
  personId: string,
  change: { readonly role?: Role; readonly documents?: boolean },
  by: By,
  context: CommandContext,
): Promise<MemberRow> {
  const command = { type: 'ChangeMember', accountId, personId, ...change, ...asked(by) } as const;
  const { events } = await sendToAccount(deps, command, context);
  await forgetRevoked(deps, events, context);
  return await memberOf(deps, accountId, personId);
}

/**
 * Removes a member, whose sessions and keys of the account end with it, or revokes an invitation.
 * @throws {ServiceError} `not_found`, `forbidden`
 */
export async function removeMember(
  deps: SignInDependencies,
  accountId: string,
  personId: string,
  by: By,
  context: CommandContext,
): Promise<void> {
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const isInvitation = state.invitations[personId] !== undefined;
  const which = { accountId, personId, ...asked(by) };
  const { events } = isInvitation
    ? await sendToAccount(deps, { type: 'RevokeInvitation', ...which }, context)
    : await removeFromAccount(deps, { type: 'RemoveMember', ...which }, context);
  await forgetRevoked(deps, events, context);
}

type Forgetting = Pick<SignInDependencies, 'actors'> &
  ReadDependencies & { readonly vault: Pick<Vault, 'erase'> };

/** Forgets the invitations that these events of an account have revoked. */
export async function forgetRevoked(
  deps: Forgetting,
  events: readonly AccountEvent[],
  context: CommandContext,
): Promise<void> {
  for (const { type, data } of events) {
    if (type === 'InvitationRevoked') await forgetInvitation(deps, data.personId, context);
  }
}

/**
 * Destroys what is left of an invitation that has ended: its address, and a sign-in that was made with it meanwhile, unless
 * that has joined another account since.
 */
export async function forgetInvitation(
  deps: Forgetting,
  personId: string,
  context: CommandContext,
): Promise<void> {
  const { state } = await deps.actors.read(personAggregate, personId);
  if (state.status !== 'registered') await deps.vault.erase(personId);
  else if ((await consistentQuery(deps, peopleQueries)).memberships(personId).length === 0) {
    await endPerson(deps, personId, {}, context);
  }
}

/**
 * Gives an address and credentials to a person who has neither.
 * @returns false where somebody else has the address, or got it meanwhile: the person is forgotten then
 * @throws {ServiceError} `not_found` where the person was erased meanwhile
 */
export async function registerPerson(
  deps: SignInDependencies,
  email: string,
  command: Extract<PersonCommand, { type: 'RegisterPerson' }>,
  contextFor: () => Promise<CommandContext>,
): Promise<boolean> {
  const { actors } = deps;
  const { personId, accountId } = command;
  const context = await contextFor();
  const address = addressHmac(deps, email);
  const holder = await reserveAddress(deps, address, { accountId, personId }, context);
  const made =
    holder === personId &&
    orThrow(await actors.send(personAggregate, personId, command, context)).events.length > 0;
  const isOurs = (await actors.read(emailAggregate, address)).state.holder === personId;
  if (made && isOurs) return true;
  if (made) await forgetInvitation(deps, personId, await contextFor());
  return false;
}

/** Says why the person cannot leave all accounts, if so: one of them would be left without an owner. */
export async function leavingRefused(
  deps: Pick<Forgetting, 'actors'> & ReadDependencies,
  personId: string,
): Promise<Rejection | undefined> {
  for (const { accountId } of await membershipsOf(deps, personId)) {
    const { state } = await deps.actors.read(accountAggregate, accountId);
    const rejection = removalRefused(state, personId);
    if (rejection !== undefined) return rejection;
  }
  return undefined;
}

/**
 * Ends all memberships of the person, first that of the account that they founded: if nobody else is an operator, they stay
 * in the others.
 * @param why `unproven`: the first proof of the address ends them
 * @throws {ServiceError} `forbidden` if an account would be left without an owner, or the service without an operator
 */
export async function leaveAccounts(
  deps: Forgetting,
  personId: string,
  why: { readonly unproven?: true },
  contextFor: (accountId: string) => Promise<CommandContext>,
): Promise<readonly MemberRow[]> {
  const memberships = await membershipsOf(deps, personId);
  for (const { accountId } of memberships) {
    const command = { type: 'RemoveMember', accountId, personId, ...why } as const;
    const context = await contextFor(accountId);
    const { events } = await removeFromAccount(deps, command, context);
    await forgetRevoked(deps, events, context);
  }
  return memberships;
}

/**
 * Ends a person, whose key is destroyed.
 * @param why `accountId`: the account whose history has the event; `unproven`: only if nobody has proven their address
 * @throws {ServiceError} `forbidden` if it is proven
 * @throws {KeyringUnavailable}
 */
export async function endPerson(
  { actors, vault }: Pick<Forgetting, 'actors' | 'vault'>,
  personId: string,
  why: { readonly accountId?: string | undefined; readonly unproven?: true },
  context: CommandContext,
): Promise<void> {
  const { accountId, ...rest } = why;
  const where = accountId === undefined ? {} : { accountId };
  const command = { type: 'ErasePerson', personId, ...where, ...rest } as const;
  orThrow(await actors.send(personAggregate, personId, command, context));
  await vault.erase(personId);
}

/** Gives a person a name, or another one. */
export async function namePerson(
  deps: SignInDependencies,
  personId: string,
  accountId: string,
  given: string,
  context: CommandContext,
): Promise<void> {
  const chosen = nameOfPerson(given);
  // Founders of older accounts have no key of their own yet.
  await deps.vault.makeKey(personId);
  const name = await deps.vault.seal(personId, chosen);
  const command = { type: 'NamePerson', personId, accountId, name } as const;
  orThrow(await deps.actors.send(personAggregate, personId, command, context));
}

/** The address by which people know an account: that of its founder. */
export const accountName = async (
  deps: Parameters<typeof personTexts>[0],
  accountId: string,
): Promise<string | null> => (await personTexts(deps, founderOf(accountId))).email ?? null;

/** All people of the account and its open invitations, as an export has them. */
export const membersOf = async (
  deps: ReadDependencies & Parameters<typeof memberRecord>[0],
  accountId: string,
) => {
  const rows = (await consistentQuery(deps, peopleQueries)).all(accountId);
  return await Promise.all(rows.map((row) => memberRecord(deps, row, true)));
};
