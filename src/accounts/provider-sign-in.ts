/**
 * Signs in people whom the identity provider knows: by issuer and subject, the first time by a verified address. Decides who
 * may come, who joins, and which role the provider gives.
 */
import { createHmac } from 'node:crypto';
import { accountQueries } from '../../projections/accounts.ts';
import { peopleQueries } from '../../projections/people.ts';
import { firstCommand } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import { accountAggregate } from '../domain/account.ts';
import type { ProviderRefusalReason } from '../domain/choices.ts';
import { isEmailAddress } from '../domain/email.ts';
import type { Actor } from '../domain/event-metadata.ts';
import { personAggregate } from '../domain/person.ts';
import type { Identity } from '../domain/person-commands.ts';
import { ServiceError } from '../errors/errors.ts';
import type { ProviderPerson } from '../oidc/port.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import { newPersonId } from '../time/ids.ts';
import { findAccount } from './accounts.ts';
import { sendProof } from './address-proofs.ts';
import { findLogin, type Login, loginOf, membershipsOf, openMemberships } from './logins.ts';
import { forgetRevoked, MAX_NAME_CHARACTERS, registerPerson } from './members.ts';
import {
  assertAdmitted,
  ProviderRefusal,
  type ProviderRules,
  roleIn,
  takesNewPeople,
} from './provider-rules.ts';
import { admit, type SignedIn } from './sign-in.ts';
import {
  accountToTell,
  clientOf,
  recordRefusal,
  type SignInDependencies,
  type Try,
} from './sign-in-tries.ts';

/** Makes the context of what a person does in an account. */
type ContextFor = (
  accountId: string,
  actor: Extract<Actor, { kind: 'account' }>,
) => Promise<CommandContext>;

export interface ProviderSignIn extends Omit<Try, 'email'> {
  readonly person: ProviderPerson;
  readonly rules: ProviderRules;
  /** The account to sign in to; undefined: as after a password. */
  readonly asked?: string | undefined;
  readonly contextFor: ContextFor;
}

/**
 * Who is refused is recorded as who gives a wrong password is.
 * @throws {ProviderRefusal}
 * @throws {KeyringUnavailable}
 */
export async function signInByProvider(
  deps: SignInDependencies,
  request: ProviderSignIn,
): Promise<SignedIn> {
  try {
    return await tryToSignIn(deps, request);
  } catch (error) {
    if (error instanceof ProviderRefusal) {
      await recordProviderRefusal(deps, request, error.reason).catch((err: unknown) =>
        request.log.error({ err }, 'A refused sign-in is not recorded.'),
      );
    }
    throw error;
  }
}

/** The account of the person whom the identity or the verified address is of has it, else the service. */
async function recordProviderRefusal(
  deps: SignInDependencies,
  { person: { issuer, subject, email }, rules, ...request }: ProviderSignIn,
  byProvider: ProviderRefusalReason,
): Promise<void> {
  const identity = identityOf(deps, { issuer, subject });
  const known = (await consistentQuery(deps, peopleQueries)).withIdentity(identity);
  const linked = known === undefined ? undefined : await loginOf(deps, known);
  const login = linked ?? (email === undefined ? undefined : await findLogin(deps, email));
  const refused = { ...request, email: email ?? `identity ${identity}` };
  const told =
    (await accountToTell(deps, login)) ?? (await accountLeftBy(deps, login?.personId, rules));
  await recordRefusal(deps, refused, told, { byProvider });
}

/** The account of the settings, where the person belonged to it. */
async function accountLeftBy(
  deps: SignInDependencies,
  personId: string | undefined,
  rules: ProviderRules,
): Promise<string | undefined> {
  const joins = personId === undefined ? undefined : await accountToJoin(deps, rules);
  if (joins === undefined || personId === undefined) return undefined;
  const { state } = await deps.actors.read(accountAggregate, joins);
  return state.former[personId] === undefined ? undefined : joins;
}

async function tryToSignIn(deps: SignInDependencies, request: ProviderSignIn): Promise<SignedIn> {
  const { person, rules, asked, clientAddress } = request;
  assertAdmitted(person, rules);
  const joins = await accountToJoin(deps, rules);
  const personId = await findPerson(deps, request, joins).catch((error: unknown) => {
    // The person, or the account that they were to join, was erased meanwhile.
    throw error instanceof KeyErased ? new ProviderRefusal('unknown', error) : error;
  });
  if (joins !== undefined) await takeUp(deps, request, personId, joins);
  const memberships = await openMemberships(deps, personId);
  const login = await loginOf(deps, personId);
  if (login === undefined) throw new ProviderRefusal('unknown');
  const email = await deps.vault.unsealExactly(login.sealedBy, login.email);
  const client = clientOf(deps, email, clientAddress);
  try {
    return await admit(deps, login, { memberships, asked, client }, ['oidc']);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const isBusy = error.code === 'rate_limit_exceeded';
    throw new ProviderRefusal(isBusy ? 'too-many' : 'no-account', error);
  }
}

/** The id of the open account of the settings. */
async function accountToJoin(
  deps: SignInDependencies,
  { oidcAccount: named }: ProviderRules,
): Promise<string | undefined> {
  const id =
    named === undefined
      ? (await consistentQuery(deps, accountQueries)).first()?.id
      : named.includes('@')
        ? (await findAccount(deps, named))?.id
        : named;
  if (id === undefined) return undefined;
  return (await deps.actors.read(accountAggregate, id)).state.status === 'open' ? id : undefined;
}

/** The same key for another purpose than the sign-in address's hash. A length keeps the two texts apart. */
const identityOf = (
  { addressKey }: Pick<SignInDependencies, 'addressKey'>,
  { issuer, subject }: Pick<ProviderPerson, 'issuer' | 'subject'>,
): string =>
  createHmac('sha256', addressKey)
    .update(`identity\0${issuer.length}\0${issuer}\0${subject}`)
    .digest('hex');

/** The person whom the identity is of, whom it is linked to now, or who is registered with it. */
async function findPerson(
  deps: SignInDependencies,
  request: ProviderSignIn,
  joins: string | undefined,
): Promise<string> {
  const { issuer, subject, email } = request.person;
  const identity = identityOf(deps, request.person);
  const known = (await consistentQuery(deps, peopleQueries)).withIdentity(identity);
  if (known !== undefined && (await loginOf(deps, known)) !== undefined) return known;
  if (email === undefined || !isEmailAddress(email)) throw new ProviderRefusal('unverified');
  const sealedFor = async (personId: string): Promise<Identity> => {
    // Founders of older accounts have no key of their own yet.
    await deps.vault.makeKey(personId);
    return { issuer, identity, subject: await deps.vault.seal(personId, subject) };
  };
  const login = await findLogin(deps, email);
  if (login !== undefined) {
    return await link(deps, request, login, joins, sealedFor);
  }
  if (joins === undefined || !takesNewPeople(request.rules)) throw new ProviderRefusal('unknown');
  const personId = newPersonId(deps.clock.now());
  const linked = await sealedFor(personId);
  const name = nameFor(request.person, email);
  const sealed = {
    email: await deps.vault.seal(personId, email),
    name: await deps.vault.seal(personId, name),
  };
  const role = roleIn(request.person.claims, request.rules) ?? 'member';
  const actor = { kind: 'account', id: joins, person: personId, role } as const;
  const command = {
    type: 'RegisterPerson',
    personId,
    accountId: joins,
    ...sealed,
    identity: linked,
    provenBy: 'provider',
  } as const;
  const contextFor = () => request.contextFor(joins, actor);
  if (await registerPerson(deps, email, command, contextFor)) return personId;
  // The same person signs in twice at once, or by an invitation: that one was first.
  await deps.vault.erase(personId);
  const first = await findLogin(deps, email);
  if (first === undefined) throw new ProviderRefusal('unknown');
  return await link(deps, request, first, joins, sealedFor);
}

async function link(
  deps: SignInDependencies,
  request: ProviderSignIn,
  { personId, isProven }: Login,
  joins: string | undefined,
  sealedFor: (personId: string) => Promise<Identity>,
): Promise<string> {
  if (!isProven) await proveBefore(deps, request, personId, joins);
  const { contextFor } = request;
  const [own] = await membershipsOf(deps, personId);
  const accountId = own?.accountId ?? joins;
  // Their history would lie nowhere.
  if (accountId === undefined) throw new ProviderRefusal('no-account');
  const identity = await sealedFor(personId);
  const actor = { kind: 'account', id: accountId, person: personId } as const;
  const context = await contextFor(accountId, own ? { ...actor, role: own.role } : actor);
  const command = { type: 'LinkIdentity', personId, accountId, identity } as const;
  const outcome = await deps.actors.send(personAggregate, personId, command, context);
  if (outcome.accepted) return personId;
  const isOther = outcome.rejection.rejected === 'forbidden';
  throw new ProviderRefusal(isOther ? 'other-person' : 'unknown');
}

/**
 * Drops what somebody else may have made with the address.
 * @throws {ProviderRefusal} `unproven` where nobody could tell the person of it, or they would belong to no account
 */
async function proveBefore(
  deps: SignInDependencies,
  { person, rules, contextFor }: ProviderSignIn,
  personId: string,
  joins: string | undefined,
): Promise<void> {
  if (joins === undefined || !rules.sendsMail || !takesNewPeople(rules)) {
    throw new ProviderRefusal('unproven');
  }
  const name = await deps.vault.seal(personId, nameFor(person, person.email ?? ''));
  const proof = { personId, accountId: joins, provenBy: 'provider', name } as const;
  const actor = { kind: 'account', id: joins, person: personId } as const;
  const make = (memberships: number) => ({ type: 'ProveAddress', ...proof, memberships }) as const;
  try {
    await sendProof(deps, personId, make, await contextFor(joins, actor));
  } catch (error) {
    // They are the last owner of an account: only an operator can give it another one.
    const isRefused = error instanceof ServiceError && error.code === 'forbidden';
    throw isRefused ? new ProviderRefusal('unproven', error) : error;
  }
}

/** What the provider calls the person, as far as a name may be so. */
function nameFor({ name = '' }: ProviderPerson, email: string): string {
  const plain = Array.from(plainText(name).trim()).slice(0, MAX_NAME_CHARACTERS).join('').trim();
  return isBlank(plain) ? email.slice(0, MAX_NAME_CHARACTERS) : plain;
}

/** Lets somebody who belongs to no account into the one of the settings, or gives a member the role of the claim. */
async function takeUp(
  deps: SignInDependencies,
  { person, rules, contextFor }: ProviderSignIn,
  personId: string,
  accountId: string,
): Promise<void> {
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const member = state.members[personId];
  const role = roleIn(person.claims, rules);
  if (member === undefined) {
    const isElsewhere = (await membershipsOf(deps, personId)).length > 0;
    if (isElsewhere || !takesNewPeople(rules)) return;
    const admitted = { personId, role: role ?? 'member' } as const;
    const actor = {
      kind: 'account',
      id: accountId,
      person: personId,
      role: admitted.role,
    } as const;
    const context = await contextFor(accountId, actor);
    const command = { type: 'AdmitMember', accountId, ...admitted } as const;
    const outcome = await deps.actors.send(accountAggregate, accountId, command, context);
    if (outcome.accepted) return;
    throw new ProviderRefusal(state.former[personId] ? 'no-account' : 'full');
  }
  if (role === undefined || role === member.role) return;
  // Nobody asked for it: the provider says so.
  const context = firstCommand(deps.clock.now(), { kind: 'service' });
  const change = { personId, role, byProvider: true } as const;
  const command = { type: 'ChangeMember', accountId, ...change } as const;
  const outcome = await deps.actors.send(accountAggregate, accountId, command, context);
  // Refused for the last owner, who stays one, and for somebody who was removed meanwhile.
  if (outcome.accepted) await forgetRevoked(deps, outcome.events, context);
}
