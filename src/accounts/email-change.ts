/**
 * Another address for a person to sign in with: asked for by the person, and changed by the link that is sent there. Without
 * a mail server, an operator changes it.
 */
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { AddressProof } from '../domain/choices.ts';
import { isEmailAddress } from '../domain/email.ts';
import { personAggregate } from '../domain/person.ts';
import { ADDRESS_LINK_GONE, ADDRESS_LINK_MS, isAddressOffered } from '../domain/sign-in-address.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { tokenHashOf } from '../time/ids.ts';
import { addressHmac, reserveAddress, sendToAccount } from './accounts.ts';
import { sendProof } from './address-proofs.ts';
import { type Login, loginOf, openMemberships } from './logins.ts';
import { countMail, MAIL_BUDGET, recordMail } from './mail-budget.ts';
import { assertAllowed } from './rate-limits.ts';
import type { SignInDependencies } from './sign-in-tries.ts';

const TOKEN = /^email_([0-9a-z]{26})_[\w-]{43}$/;
/** Addresses that one person may ask for. */
const ASKED = { windowMs: MAIL_BUDGET.windowMs, limit: 5 };
const TOO_MANY = 'There were too many requests for another address.';

/** The same for a link that was never made. */
export const OTHER_PERSON =
  'The link is for somebody else than the person who is signed in. Sign in with the address that you want to change.';

/** Makes the context of one command. Its texts are sealed with the key of the owner, an account or a person. */
type ContextFor = (owner: string) => Promise<CommandContext>;

/** The secret of the link follows from the key of the person, so that the mail can be written later. */
const tokenFor = async (
  { vault }: { readonly vault: Pick<Vault, 'linkSecret'> },
  personId: string,
  address: string,
  expiresAt: number,
): Promise<string> => {
  const secret = await vault.linkSecret(personId, `the address ${address} until ${expiresAt}`);
  return `email_${personId.replace(/^person_/, '')}_${secret}`;
};

/** The link to the address that the person asked for, as long as it may be used. @throws {KeyErased} */
export async function offeredEmail(
  deps: {
    readonly actors: Pick<ActorSystem, 'read'>;
    readonly vault: Pick<Vault, 'linkSecret'>;
  },
  personId: string,
  now: number,
) {
  const offer = (await loginOf(deps, personId))?.addressOffer;
  if (offer === undefined || offer.expiresAt <= now) return undefined;
  const { addressHash, email, expiresAt } = offer;
  return { token: await tokenFor(deps, personId, addressHash, expiresAt), email, expiresAt };
}

interface Wanted {
  readonly email: string;
  /** The account in which it is asked for. */
  readonly accountId: string;
}

/**
 * Has a link sent to the address.
 * @param login as it was before the person proved again who they are
 * @throws {ServiceError} `validation_error`, `rate_limit_exceeded`; `unauthorized` where sessions were ended meanwhile
 */
export async function askForEmail(
  deps: SignInDependencies,
  login: Login,
  { email: given, accountId }: Wanted,
  context: () => Promise<CommandContext>,
): Promise<void> {
  const email = await otherAddress(deps, login, given, 'email');
  const asked = await deps.rateLimiter.consume(`email-change:${login.personId}`, ASKED);
  assertAllowed(asked, TOO_MANY, deps.clock);
  const mail = { kind: 'email_change', email, accountId } as const;
  assertAllowed(await countMail(deps, mail), TOO_MANY, deps.clock);
  await recordMail(deps, mail, async () =>
    offerLink(deps, login, { email, accountId }, true, await context()),
  );
}

/**
 * Has the person sign in with another address, for which an operator vouches. It ends all their sessions.
 * @throws {ServiceError} `validation_error` where it is not one, is theirs already or somebody else's; `not_found` where the
 * person belongs to no account
 */
export async function changeEmailFor(
  deps: SignInDependencies,
  login: Login,
  given: string,
  contextFor: ContextFor,
): Promise<void> {
  const email = await otherAddress(deps, login, given, 'new_email');
  const [first] = await openMemberships(deps, login.personId);
  if (first === undefined) throw new ServiceError('not_found', 'The person has no account.');
  const { accountId } = first;
  const token = await offerLink(
    deps,
    login,
    { email, accountId },
    false,
    await contextFor(accountId),
  );
  if (await tryToChange(deps, token, 'operator', contextFor)) return;
  throw fieldError('new_email', 'Somebody else signs in with this address.');
}

/** @throws {ServiceError} `validation_error` */
async function otherAddress(
  deps: SignInDependencies,
  { sealedBy, email: sealed }: Login,
  given: string,
  field: 'email' | 'new_email',
): Promise<string> {
  const email = given.trim();
  if (!isEmailAddress(email)) throw fieldError(field, 'This is not an email address.');
  const present = await deps.vault.unsealExactly(sealedBy, sealed);
  if (addressHmac(deps, email) !== addressHmac(deps, present)) return email;
  throw fieldError(field, 'This address signs in already.');
}

/** @returns the secret of the link */
async function offerLink(
  deps: SignInDependencies,
  { personId, sealedBy, epoch }: Login,
  { email, accountId }: Wanted,
  byMail: boolean,
  context: CommandContext,
): Promise<string> {
  const address = addressHmac(deps, email);
  // Founders of older accounts have no key of their own yet.
  await deps.vault.makeKey(personId);
  const expiresAt = context.metadata.time + ADDRESS_LINK_MS;
  const token = await tokenFor(deps, personId, address, expiresAt);
  const offered = {
    email: await deps.vault.seal(personId, email),
    addressHash: address,
    tokenHash: tokenHashOf(token),
    expiresAt,
    byMail,
    epoch,
  };
  if (sealedBy === personId) {
    const command = { type: 'OfferPersonEmail', personId, accountId, ...offered } as const;
    orThrow(await deps.actors.send(personAggregate, personId, command, context));
  } else {
    const command = { type: 'OfferEmailChange', accountId: sealedBy, ...offered } as const;
    await sendToAccount(deps, command, context);
  }
  return token;
}

const gone = (cause?: unknown): ServiceError =>
  new ServiceError('gone', ADDRESS_LINK_GONE, { cause });

/**
 * Changes the address of the person whom the link is for, which ends all their sessions. The link proves the address, and the
 * session who asked: otherwise whoever uses a link that a stranger asked for would give the stranger their address.
 * @param personId the person of the session
 * @throws {ServiceError} `gone`; `forbidden` for the link of somebody else
 */
export async function useEmailLink(
  deps: SignInDependencies,
  { token, personId }: { readonly token: string; readonly personId: string },
  contextFor: ContextFor,
): Promise<void> {
  const [, id] = TOKEN.exec(token) ?? [];
  if (id !== undefined && personId !== `person_${id}`) {
    throw new ServiceError('forbidden', OTHER_PERSON);
  }
  try {
    if (await tryToChange(deps, token, 'mail', contextFor)) return;
  } catch (cause) {
    // Erased meanwhile, or made the last owner of an account.
    const isNeeded = cause instanceof ServiceError && cause.code === 'forbidden';
    throw cause instanceof KeyErased || isNeeded ? gone(cause) : cause;
  }
  throw gone();
}

/**
 * The address is reserved first, so that nobody else gets it meanwhile. A reservation that no change followed ends with the
 * link.
 * @returns false where somebody else has the address
 * @throws {ServiceError} `gone`
 */
async function tryToChange(
  deps: SignInDependencies,
  token: string,
  provenBy: AddressProof,
  contextFor: ContextFor,
): Promise<boolean> {
  const { vault } = deps;
  const [, id] = TOKEN.exec(token) ?? [];
  const personId = `person_${id}`;
  const login = id === undefined ? undefined : await loginOf(deps, personId);
  const tokenHash = tokenHashOf(token);
  const now = deps.clock.now();
  const offer = login?.addressOffer;
  if (login === undefined || offer === undefined) throw gone();
  if (!isAddressOffered(login, tokenHash, now)) throw gone();
  const { addressHash: address } = offer;
  const isFounder = login.sealedBy !== personId;
  const [first] = await openMemberships(deps, personId);
  const accountId = isFounder ? login.sealedBy : first?.accountId;
  // Who belongs to no account has nothing to sign in to.
  if (accountId === undefined) throw gone();
  const context = await contextFor(accountId);
  const whose = { accountId, ...(!isFounder && { personId }), forChange: true } as const;
  const holder = await reserveAddress(deps, address, whose, context);
  if (holder !== (isFounder ? accountId : personId)) return false;
  const former = await vault.unsealExactly(login.sealedBy, login.email);
  const used = { tokenHash, formerEmail: await vault.seal(personId, former), provenBy, now };
  if (isFounder) {
    await sendToAccount(deps, { type: 'ChangeEmail', accountId, ...used }, context);
  } else {
    const command = { type: 'ChangePersonEmail', personId, accountId, ...used } as const;
    const make = (memberships: number) => ({ ...command, memberships }) as const;
    await sendProof(
      deps,
      personId,
      make,
      context,
      provenBy === 'operator' ? contextFor : undefined,
    );
  }
  return true;
}
