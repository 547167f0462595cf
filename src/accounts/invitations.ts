/** Inviting people into an account, and how they accept. `domain/members.ts` decides. */
import { type MemberRow, peopleQueries } from '../../projections/people.ts';
import type { CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { UNPROVEN_ADDRESS } from '../domain/address-proof.ts';
import { isEmailAddress } from '../domain/email.ts';
import type { Actor } from '../domain/event-metadata.ts';
import type { Role } from '../domain/member-events.ts';
import { founderOf, INVITATION_GONE, openInvitation } from '../domain/members.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { newPersonId, tokenHashOf } from '../time/ids.ts';
import { sendToAccount } from './accounts.ts';
import { sendProof } from './address-proofs.ts';
import { findLogin, type Login, loginOf } from './logins.ts';
import { countMail, recordMail } from './mail-budget.ts';
import { memberOf, nameOfPerson, registerPerson } from './members.ts';
import { restoreOperator } from './operators.ts';
import { checkPassword } from './passwords.ts';
import { assertAllowed, networkKey } from './rate-limits.ts';
import { judgeInTurn, type SignInRequest } from './sign-in.ts';
import type { SignInDependencies } from './sign-in-tries.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const INVITATION_MS = 7 * DAY_MS;
const TOKEN = /^([0-9a-z]{26})-[\w-]{43}$/;

const PROVE_FIRST =
  'Nobody has proven your address before: the link of this mail does. Sign out, open the link again, and choose a name and a password. What you have now ends then.';

const gone = () => new ServiceError('gone', INVITATION_GONE);

/**
 * The secret of an invitation's link. The account is found by it, so that no index that may lag is asked. It is made again
 * for the mail: until the key of the invitation's person is destroyed, which no other invitation has.
 */
export const invitationToken = async (
  { vault }: { readonly vault: Pick<Vault, 'linkSecret'> },
  accountId: string,
  personId: string,
): Promise<string> =>
  `${accountId.slice('acct_'.length)}-${await vault.linkSecret(personId, 'an invitation')}`;

/**
 * An address with a sign-in is invited as one without: the answer does not tell them apart, unless nobody has proven the
 * address and there is no mail server that could.
 * @param by the member who invites; undefined: the operator
 * @returns the secret of the link, to be shown this once; undefined where the service sends it to the address alone
 * @throws {ServiceError} `validation_error`, `forbidden`, `rate_limit_exceeded`
 */
export async function inviteMember(
  deps: SignInDependencies,
  accountId: string,
  {
    email: given,
    sendsMail: byMail,
    ...right
  }: {
    readonly email: string;
    readonly role: Role;
    readonly documents?: boolean;
    /** The service can send mail. */
    readonly sendsMail: boolean;
  },
  by: string | undefined,
  context: CommandContext,
): Promise<{ readonly row: MemberRow; readonly token?: string }> {
  const email = given.trim();
  if (!isEmailAddress(email)) throw fieldError('email', 'This is not an email address.');
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const login = await findLogin(deps, email);
  // It tells nothing: whoever may invite sees the addresses of the members.
  if (login !== undefined && state.members[login.personId] !== undefined) {
    throw fieldError('email', 'The person with this address is a member of the account already.');
  }
  if (login !== undefined && !byMail && !login.isProven && !state.former[login.personId]) {
    throw fieldError('email', UNPROVEN_ADDRESS);
  }
  const invite = () => offerInvitation(deps, accountId, { email, byMail, ...right }, by, context);
  if (!byMail) return await invite();
  const mail = { kind: 'invitation', email, accountId } as const;
  const status = await countMail(deps, mail);
  assertAllowed(status, 'There were too many invitations by mail.', deps.clock);
  return await recordMail(deps, mail, invite);
}

async function offerInvitation(
  deps: SignInDependencies,
  accountId: string,
  {
    email,
    byMail,
    ...right
  }: {
    readonly email: string;
    readonly role: Role;
    readonly documents?: boolean;
    readonly byMail: boolean;
  },
  by: string | undefined,
  context: CommandContext,
): Promise<{ readonly row: MemberRow; readonly token?: string }> {
  const now = context.metadata.time;
  const personId = newPersonId(now);
  await deps.vault.makeKey(personId);
  const token = await invitationToken(deps, accountId, personId);
  const invitation = {
    personId,
    tokenHash: tokenHashOf(token),
    email: await deps.vault.seal(personId, email),
    ...right,
    byMail,
    now,
    expiresAt: now + INVITATION_MS,
  };
  const command = {
    type: 'InviteMember',
    accountId,
    ...invitation,
    ...(by !== undefined && { by }),
  } as const;
  try {
    await sendToAccount(deps, command, context);
  } catch (error) {
    if (error instanceof ServiceError) await deps.vault.erase(personId);
    throw error;
  }
  const row = await memberOf(deps, accountId, personId);
  return byMail ? { row } : { row, token };
}

export interface Invitation {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly documents: boolean;
  readonly expiresAt: number;
  readonly tokenHash: string;
  /** Nobody but the addressee got the link. */
  readonly byMail: boolean;
}

/** @throws {ServiceError} `not_found` for what is not a token; `gone` where it is not open */
export async function invitationOf(deps: SignInDependencies, token: string): Promise<Invitation> {
  const [, suffix] = TOKEN.exec(token) ?? [];
  if (suffix === undefined) throw new ServiceError('not_found', 'There is no such invitation.');
  const accountId = `acct_${suffix}`;
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const tokenHash = tokenHashOf(token);
  const open = state.status === 'open' && openInvitation(state, tokenHash, deps.clock.now());
  if (!open) throw gone();
  const row = (await consistentQuery(deps, peopleQueries))
    .all(accountId)
    .find(({ id }) => id === open.id);
  // Ended since its account was read.
  if (row?.email === undefined) throw gone();
  const email = await orGone(deps.vault.unsealExactly(open.id, row.email));
  const { id, role, documents = false, byMail = false, expiresAt } = open;
  return { id, accountId, email, role, documents, byMail, expiresAt, tokenHash };
}

async function orGone<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof KeyErased ? gone() : error;
  }
}

export interface Acceptance extends Omit<SignInRequest, 'email' | 'password'> {
  /** Needed, as the password is, without a session. */
  readonly name?: string;
  readonly password?: string;
  /** The person whose session came with the request, if one did. */
  readonly signedIn?: string;
}

/** The context of what a person does by an invitation. */
type ContextFor = (actor: Extract<Actor, { kind: 'account' }>) => Promise<CommandContext>;

/**
 * Lets the holder of the invited address join. An address with a sign-in has to prove it; one without gets one. A mailed
 * link is the first proof of an address that has a sign-in without one.
 * @throws {ServiceError} `gone`; `unauthorized` where the password of a known address is wrong; `forbidden` for a session of
 * somebody else; `validation_error`
 */
export async function acceptInvitation(
  deps: SignInDependencies,
  invitation: Invitation,
  request: Acceptance,
  contextFor: ContextFor,
): Promise<string> {
  const { accountId, role, tokenHash } = invitation;
  const personId = await personFor(deps, invitation, request, contextFor);
  const context = await contextFor({ kind: 'account', id: accountId, person: personId, role });
  const now = context.metadata.time;
  const isProven = (await loginOf(deps, personId))?.isProven === true;
  const join = { type: 'JoinAccount', accountId, personId, isProven, tokenHash, now } as const;
  await sendToAccount(deps, join, context);
  // The founder of an operator's account, back in it, acts for it again.
  if (personId === founderOf(accountId)) await restoreOperator(deps, accountId, context);
  if (personId !== invitation.id) await deps.vault.erase(invitation.id);
  return personId;
}

async function personFor(
  deps: SignInDependencies,
  invitation: Invitation,
  request: Acceptance,
  contextFor: ContextFor,
): Promise<string> {
  const { email } = invitation;
  const { signedIn, password } = request;
  // Whoever is signed in has one, which stays.
  const name = signedIn === undefined ? nameOfPerson(request.name ?? '') : '';
  const login = await findLogin(deps, email);
  const { byMail } = invitation;
  const isProven = login?.isProven ?? true;
  if (signedIn !== undefined) {
    if (login?.personId === signedIn && isProven) return signedIn;
    if (login?.personId === signedIn)
      throw new ServiceError('forbidden', byMail ? PROVE_FIRST : UNPROVEN_ADDRESS);
    throw new ServiceError(
      'forbidden',
      'The invitation is for another address than that of the session. Sign out, and open the link again.',
    );
  }
  // Before it shows whether the address has a sign-in: the answer is the same for both.
  if (password === undefined) throw fieldError('password', 'This field is required.');
  checkPassword(password);
  const chosen = { ...request, name, password };
  if (login === undefined) return await registered(deps, invitation, chosen, contextFor);
  if (!isProven && byMail) return await proveByLink(deps, invitation, chosen, login, contextFor);
  return await proven(deps, { ...request, email, password });
}

/** @throws {ServiceError} `unauthorized`, `rate_limit_exceeded` */
async function proven(deps: SignInDependencies, request: SignInRequest): Promise<string> {
  const { login, right } = await judgeInTurn(deps, request);
  if (login !== undefined && right) return login.personId;
  throw new ServiceError(
    'unauthorized',
    'The password is wrong. This address signs in to the service already: give the password that it has. If it has none, sign in first, and open the link again.',
  );
}

/** Gives the person what they choose now, in place of all that was there before the address was proven. */
async function proveByLink(
  deps: SignInDependencies,
  { accountId, role }: Invitation,
  { name, password, clientAddress }: Chosen,
  { personId }: Login,
  contextFor: ContextFor,
): Promise<string> {
  const asker = { group: networkKey(clientAddress), trusted: false };
  const hash = await deps.passwords.hash(password, asker);
  const chosen = {
    name: await orGone(deps.vault.seal(personId, name)),
    passwordHash: await orGone(deps.vault.seal(personId, hash)),
  };
  const proof = { personId, accountId, provenBy: 'mail', ...chosen } as const;
  const make = (memberships: number) => ({ type: 'ProveAddress', ...proof, memberships }) as const;
  const context = await contextFor({ kind: 'account', id: accountId, person: personId, role });
  await sendProof(deps, personId, make, context);
  return personId;
}

type Chosen = Acceptance & { readonly name: string; readonly password: string };

async function registered(
  deps: SignInDependencies,
  { id: personId, accountId, email, role, byMail }: Invitation,
  request: Chosen,
  contextFor: ContextFor,
): Promise<string> {
  const { vault } = deps;
  const { name, password, clientAddress } = request;
  const asker = { group: networkKey(clientAddress), trusted: false };
  const hash = await deps.passwords.hash(password, asker);
  const seal = (text: string) => orGone(vault.seal(personId, text));
  const sealed = {
    email: await seal(email),
    name: await seal(name),
    passwordHash: await seal(hash),
    ...(byMail && { provenBy: 'mail' as const }),
  };
  const actor = { kind: 'account', id: accountId, person: personId, role } as const;
  const command = { type: 'RegisterPerson', personId, accountId, ...sealed } as const;
  if (await registerPerson(deps, email, command, () => contextFor(actor))) return personId;
  // Another acceptance was first: of this invitation, or of another one to the same address.
  return await proven(deps, { ...request, email });
}
