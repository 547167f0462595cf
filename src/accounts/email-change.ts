/** Another address for a person to sign in with: asked for by the person, and changed by the link that is sent there. */
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { isEmailAddress } from '../domain/email.ts';
import { personAggregate } from '../domain/person.ts';
import { ADDRESS_LINK_GONE, ADDRESS_LINK_MS, isAddressOffered } from '../domain/sign-in-address.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { tokenHashOf } from '../time/ids.ts';
import { addressHmac, reserveAddress, sendToAccount } from './accounts.ts';
import { type Login, loginOf, openMemberships } from './logins.ts';
import { MAIL_BUDGET, mayMail } from './mail-budget.ts';
import { assertAllowed } from './rate-limits.ts';
import type { SignInDependencies } from './sign-in-tries.ts';

const TOKEN = /^email_([0-9a-z]{26})_[\w-]{43}$/;
/** Addresses that one person may ask for: without a mail server, the answer tells which ones others have. */
const ASKED = { windowMs: MAIL_BUDGET.windowMs, limit: 5 };
const TOO_MANY = 'There were too many requests for another address.';

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

/**
 * Has a link sent to the address. Without a mail server nothing can prove it: then the address is changed at once.
 * @param login as it was before the person proved again who they are
 * @param accountId the account in which they ask
 * @throws {ServiceError} `validation_error`, `rate_limit_exceeded`; `unauthorized` where sessions were ended meanwhile
 */
export async function askForEmail(
  deps: SignInDependencies,
  login: Login,
  {
    email: given,
    accountId,
    sendsMail: byMail,
  }: { readonly email: string; readonly accountId: string; readonly sendsMail: boolean },
  contextFor: ContextFor,
): Promise<void> {
  const { personId, sealedBy, epoch } = login;
  const email = given.trim();
  if (!isEmailAddress(email)) throw fieldError('email', 'This is not an email address.');
  const address = addressHmac(deps, email);
  if (address === addressHmac(deps, await deps.vault.unsealExactly(sealedBy, login.email))) {
    throw fieldError('email', 'You sign in with this address already.');
  }
  const asked = await deps.rateLimiter.consume(`email-change:${personId}`, ASKED);
  const allowed = asked.allowed && (!byMail || (await mayMail(deps, { email, accountId })));
  assertAllowed({ ...asked, allowed }, TOO_MANY, deps.clock);
  // Founders of older accounts have no key of their own yet.
  await deps.vault.makeKey(personId);
  const context = await contextFor(accountId);
  const expiresAt = context.metadata.time + ADDRESS_LINK_MS;
  const token = await tokenFor(deps, personId, address, expiresAt);
  const offer = {
    email: await deps.vault.seal(personId, email),
    addressHash: address,
    tokenHash: tokenHashOf(token),
    expiresAt,
    byMail,
    epoch,
  };
  if (sealedBy === personId) {
    const command = { type: 'OfferPersonEmail', personId, accountId, ...offer } as const;
    orThrow(await deps.actors.send(personAggregate, personId, command, context));
  } else {
    const command = { type: 'OfferEmailChange', accountId: sealedBy, ...offer } as const;
    await sendToAccount(deps, command, context);
  }
  if (byMail || (await tryToChange(deps, token, () => contextFor(accountId)))) return;
  throw fieldError('email', 'This address cannot be used. Give another one.');
}

const gone = (cause?: unknown): ServiceError =>
  new ServiceError('gone', ADDRESS_LINK_GONE, { cause });

/**
 * Changes the address of the person whom the link is for, which ends all their sessions.
 * @throws {ServiceError} `gone`
 */
export async function useEmailLink(
  deps: SignInDependencies,
  token: string,
  contextFor: ContextFor,
): Promise<void> {
  try {
    if (await tryToChange(deps, token, contextFor)) return;
  } catch (cause) {
    // Erased meanwhile.
    throw cause instanceof KeyErased ? gone(cause) : cause;
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
  contextFor: ContextFor,
): Promise<boolean> {
  const { actors, vault } = deps;
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
  const used = { tokenHash, formerEmail: await vault.seal(personId, former), now };
  if (isFounder) {
    await sendToAccount(deps, { type: 'ChangeEmail', accountId, ...used }, context);
  } else {
    const command = { type: 'ChangePersonEmail', personId, accountId, ...used } as const;
    orThrow(await actors.send(personAggregate, personId, command, context));
  }
  return true;
}
