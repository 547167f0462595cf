/**
 * People who may sign in. The credentials of a founder lie in the account's stream, those of an invited person in the
 * person's own.
 */
import { type MemberRow, peopleQueries } from '../../projections/people.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { REMOVED_PERSON, unlessErased, type Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { emailAggregate, personOf } from '../domain/email.ts';
import type { Role } from '../domain/member-events.ts';
import { founderEpoch, founderOf, homeOf, NO_MEMBER_ANY_MORE } from '../domain/members.ts';
import { personAggregate } from '../domain/person.ts';
import { type SignInAddress, signsInWith } from '../domain/sign-in-address.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, addressHmac, sendToAccount } from './accounts.ts';
import type { Asker } from './passwords.ts';

/** A person who can sign in. The texts are sealed by `sealedBy`. The hash is empty for a person without a password. */
export interface Login extends SignInAddress {
  readonly personId: string;
  readonly sealedBy: string;
  readonly email: string;
  readonly passwordHash: string;
  /** Counts the passwords and addresses after the first ones. */
  readonly passwords: number;
  /** Another one meanwhile: sessions were ended, or the password or the address was changed. */
  readonly epoch: number;
  /** Something proves that the address is theirs. That of a founder always is: by a mailed link, or an operator. */
  readonly isProven: boolean;
}

type Readers = { readonly actors: Pick<ActorSystem, 'read'> };

/** Undefined for a person who was erased, and for one without credentials. */
export async function loginOf(
  { actors }: Readers,
  personId: string,
  asOf?: bigint,
): Promise<Login | undefined> {
  const { state: person } = await actors.read(personAggregate, personId, asOf);
  if (person.status === 'erased') return undefined;
  if (person.status === 'registered') {
    const isProven = person.provenBy !== undefined;
    return { personId, sealedBy: personId, epoch: person.passwords, isProven, ...person };
  }
  const home = homeOf(personId);
  const { state } = await actors.read(accountAggregate, home, asOf);
  if (state.status !== 'open') return undefined;
  const epoch = founderEpoch(state, home);
  return { personId, sealedBy: home, epoch, isProven: true, ...state };
}

/** The person who signs in with the address of this HMAC, hex. */
export async function loginOfAddress(deps: Readers, address: string): Promise<Login | undefined> {
  const { state } = await deps.actors.read(emailAggregate, address);
  if (state.holder === undefined) return undefined;
  const login = await loginOf(deps, personOf(state.holder));
  return login && signsInWith(login, state, address) ? login : undefined;
}

/** The person who signs in with the address, with the hash of the password opened, if they have one. */
export async function findLogin(
  deps: Readers &
    Pick<AccountDependencies, 'addressKey'> & { readonly vault: Pick<Vault, 'unsealExactly'> },
  email: string,
): Promise<(Login & { readonly hash?: string }) | undefined> {
  const login = await loginOfAddress(deps, addressHmac(deps, email));
  if (!login) return undefined;
  const { sealedBy, passwordHash } = login;
  if (passwordHash === '') return login;
  const hash = await unlessErased(deps.vault.unsealExactly(sealedBy, passwordHash));
  return hash === undefined ? undefined : { ...login, hash };
}

/** A password that was found right, and in whose turn it was judged. */
export interface JudgedPassword {
  readonly login: Login;
  readonly asker: Asker;
}

/**
 * Sets another password of somebody who is signed in, which ends all their sessions.
 * @param accountId the account in which it is done
 * @throws {ServiceError} `validation_error`, `not_found`; `unauthorized` where sessions were ended meanwhile
 */
export async function changeLoginPassword(
  deps: Pick<AccountDependencies, 'actors' | 'vault' | 'passwords'>,
  accountId: string,
  { login: { personId, sealedBy, epoch }, asker }: JudgedPassword,
  password: string,
  context: CommandContext,
): Promise<void> {
  const hash = await deps.passwords.hash(password, asker);
  const passwordHash = await deps.vault.seal(sealedBy, hash);
  if (sealedBy !== personId) {
    const command = { type: 'ChangePassword', accountId: sealedBy, passwordHash, epoch } as const;
    await sendToAccount(deps, command, context);
    return;
  }
  const change = { accountId, passwordHash, passwords: epoch };
  const command = { type: 'ChangePersonPassword', personId, ...change } as const;
  orThrow(await deps.actors.send(personAggregate, personId, command, context));
}

export type TextReaders = {
  readonly readModel: Pick<ReadDependencies['readModel'], 'query'>;
  readonly vault: Pick<Vault, 'unseal'>;
};

/** The address and the name of a person, as far as they are there. */
export async function personTexts(
  { readModel, vault }: TextReaders,
  personId: string,
): Promise<{ readonly email?: string; readonly name?: string }> {
  const { name, email } = readModel.query(peopleQueries).person(personId) ?? {};
  const open = (sealed: string | undefined) =>
    sealed === undefined ? undefined : unlessErased(vault.unseal(homeOf(personId), sealed));
  const [opened, called] = [await open(email), await open(name)];
  return { ...(opened && { email: opened }), ...(called && { name: called }) };
}

/** True where what a person is called is sealed with a key of their own, and not with that of the account they founded. */
export function isSealedByOwn({ readModel }: Pick<TextReaders, 'readModel'>, personId: string) {
  const { name, email } = readModel.query(peopleQueries).person(personId) ?? {};
  return (name ?? email)?.startsWith(`${personId}.`) ?? false;
}

/** What a person is called: the name, or the address where none was given. */
export async function personName(deps: TextReaders, personId: string): Promise<string> {
  const { name, email } = await personTexts(deps, personId);
  return name ?? email ?? REMOVED_PERSON;
}

/** The accounts that the person belongs to: first their own, then by the time of joining. */
export async function membershipsOf(
  deps: ReadDependencies,
  personId: string,
): Promise<readonly MemberRow[]> {
  const rows = (await consistentQuery(deps, peopleQueries)).memberships(personId);
  const isOwn = ({ accountId }: MemberRow): boolean => founderOf(accountId) === personId;
  return [...rows.filter(isOwn), ...rows.filter((row) => !isOwn(row))];
}

/** What a person is in an account that is open. */
export interface Membership {
  readonly accountId: string;
  readonly personId: string;
  readonly role: Role;
  /** The member's epoch at that time: what ends the sessions meanwhile ends what is opened with it. */
  readonly sessionEpoch: number;
}

/** The memberships that hold now, first that of the person's own account, then by the time of joining. */
export async function openMemberships(
  deps: Readers & ReadDependencies,
  personId: string,
): Promise<readonly Membership[]> {
  const rows = await membershipsOf(deps, personId);
  const read = rows.map(async ({ accountId }): Promise<readonly Membership[]> => {
    const { state } = await deps.actors.read(accountAggregate, accountId);
    const member = state.members[personId];
    if (state.status !== 'open' || member === undefined) return [];
    return [{ accountId, personId, role: member.role, sessionEpoch: member.epoch }];
  });
  return (await Promise.all(read)).flat();
}

/** @throws {ServiceError} `not_found` where the person does not belong to it; `forbidden`: to none */
export function chosen(memberships: readonly Membership[], asked: string | undefined): Membership {
  const found =
    asked === undefined ? memberships[0] : memberships.find(({ accountId }) => accountId === asked);
  if (found !== undefined) return found;
  throw asked === undefined
    ? new ServiceError('forbidden', NO_MEMBER_ANY_MORE)
    : new ServiceError('not_found', 'You do not belong to an account with this id.');
}
