/** Other passwords for people who have forgotten theirs: an operator sets one, or a link does, once, handed over or mailed. */
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { KeyErased } from '../documents/keys/port.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { personAggregate } from '../domain/person.ts';
import { type ResetAskCommand, resetAskAggregate } from '../domain/reset-asks.ts';
import {
  isResetOffered,
  RESET_GONE,
  RESET_LIFETIME_MS,
  type Standing,
} from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import { randomAlphanumeric, tokenHashOf } from '../time/ids.ts';
import { type AccountDependencies, addressHmac, sendToAccount } from './accounts.ts';
import { isNeeded, sendProof } from './address-proofs.ts';
import { findLogin, type Login, loginOf, loginOfAddress, openMemberships } from './logins.ts';
import { countMail, recordMail } from './mail-budget.ts';
import { type Asker, checkPassword } from './passwords.ts';

type Dependencies = Pick<AccountDependencies, 'actors' | 'vault' | 'passwords'> & ReadDependencies;

/** It names the person, so that no table is needed that leads to them. 43 characters: 256 bits. */
const TOKEN = /^reset_([0-9a-z]{26})_[\w-]{43}$/;
const RANDOM_CHARACTERS = 43;
/** The time that a mailed link is valid, and that it must have left to be mailed again. */
export const MAILED_LIFETIME_MS = 60 * 60 * 1000;
const MAILED_AGAIN_MS = 20 * 60 * 1000;
const GENERATED_PASSWORD_CHARACTERS = 24;

/** Makes the context of one command. Its texts are sealed with the key of the owner, an account or a person. */
type ContextFor = (owner: string) => Promise<CommandContext>;

/** @throws {ServiceError} `not_found` where nobody signs in with the address */
export async function loginByAddress(
  deps: Parameters<typeof findLogin>[0],
  email: string,
): Promise<Login> {
  const login = await findLogin(deps, email);
  if (login === undefined) {
    throw new ServiceError('not_found', `Nobody signs in with ${email}.`);
  }
  return login;
}

/** The account's own event says it of a founder. */
const isFounder = ({ personId, sealedBy }: Login): boolean => sealedBy !== personId;

/**
 * Each account that the person belongs to has it in its history before it is done: an operator cannot act unseen.
 * @param link the time until which a link may be used; absent where the operator sets the password
 */
async function recordReset(
  deps: Dependencies,
  { personId, sealedBy }: Login,
  link: { readonly expiresAt?: number },
  contextFor: ContextFor,
): Promise<void> {
  for (const { accountId } of await openMemberships(deps, personId)) {
    if (accountId === sealedBy) continue;
    const command = { type: 'RecordPasswordReset', accountId, personId, ...link } as const;
    await sendToAccount(deps, command, await contextFor(accountId));
  }
}

const tokenFor = (personId: string, secret: string): string =>
  `reset_${personId.replace(/^person_/, '')}_${secret}`;

/** Where the offers for the person are kept. */
const offersFor = async (
  { actors }: { readonly actors: Pick<ActorSystem, 'read'> },
  login: Login,
): Promise<Pick<Standing, 'reset' | 'mailedReset'>> =>
  isFounder(login)
    ? (await actors.read(accountAggregate, login.sealedBy)).state
    : (await actors.read(personAggregate, login.personId)).state;

/** The secret of a mailed link follows from the key that seals the credentials, and from the time of its end. */
const mailedToken = async (
  { vault }: { readonly vault: Pick<Vault, 'linkSecret'> },
  { personId, sealedBy }: Login,
  expiresAt: number,
): Promise<string> =>
  tokenFor(personId, await vault.linkSecret(sealedBy, `a password until ${expiresAt}`));

/** The link that the person asked for, as long as it may be used. @throws {KeyErased} */
export async function mailedReset(
  deps: {
    readonly actors: Pick<ActorSystem, 'read'>;
    readonly vault: Pick<Vault, 'linkSecret'>;
  },
  personId: string,
  now: number,
): Promise<{ readonly token: string; readonly expiresAt: number } | undefined> {
  const login = await loginOf(deps, personId);
  const offer = login && (await offersFor(deps, login)).mailedReset;
  if (login === undefined || offer === undefined || offer.expiresAt <= now) return undefined;
  const { expiresAt } = offer;
  return { token: await mailedToken(deps, login, expiresAt), expiresAt };
}

/**
 * Records that a link is asked for, in the same way for every address, so that the time tells nothing: what follows is
 * done even if this process dies.
 * @returns the HMAC of the address, for `mailPasswordReset`; undefined: there were too many requests for it
 */
export async function askForReset(
  deps: Dependencies & Parameters<typeof countMail>[0],
  email: string,
  now: number,
): Promise<string | undefined> {
  const asked = { kind: 'password_reset', email } as const;
  if (!(await countMail(deps, asked)).allowed) return undefined;
  const address = addressHmac(deps, email);
  await recordMail(deps, asked, () => sendAsk(deps, 'AskReset', address, now));
  return address;
}

/** The address has no key that texts could be sealed with. */
const sendAsk = async (
  { actors }: { readonly actors: ActorSystem },
  type: ResetAskCommand['type'],
  address: string,
  now: number,
) => {
  const context = firstCommand(now, { kind: type === 'AskReset' ? 'anonymous' : 'service' });
  orThrow(await actors.send(resetAskAggregate, address, { type, address, now }, context));
};

/**
 * Has a link mailed to the person who signs in with the address, if anybody does. One that was mailed lately is mailed again:
 * a stranger who asks, too, ends no link. It may be repeated.
 * @param address what `askForReset` has returned
 * @param contextFor as for `offerPasswordReset`
 */
export async function mailPasswordReset(
  deps: Omit<Dependencies, 'passwords'>,
  address: string,
  now: number,
  contextFor: ContextFor,
): Promise<void> {
  const login = await loginOfAddress(deps, address);
  if (login !== undefined) await offerByMail(deps, login, now, contextFor);
  await sendAsk(deps, 'AnswerReset', address, now);
}

/** Records that the link could not be made, and nobody tries any more. */
export const giveUpReset = (
  deps: { readonly actors: ActorSystem },
  address: string,
  now: number,
): Promise<void> => sendAsk(deps, 'GiveUpReset', address, now);

async function offerByMail(
  deps: Omit<Dependencies, 'passwords'>,
  login: Login,
  now: number,
  contextFor: ContextFor,
): Promise<void> {
  const { personId, sealedBy } = login;
  const [first] = await openMemberships(deps, personId);
  // Who belongs to no account has nothing to sign in to.
  if (first === undefined || (!login.isProven && (await isNeeded(deps, personId)))) return;
  const { mailedReset: before } = await offersFor(deps, login);
  const isFresh = before !== undefined && before.expiresAt - now > MAILED_AGAIN_MS;
  const mailedUntil = isFresh ? before.expiresAt : now + MAILED_LIFETIME_MS;
  const tokenHash = tokenHashOf(await mailedToken(deps, login, mailedUntil));
  const offer = { tokenHash, now, mailedUntil };
  const context = await contextFor(sealedBy);
  if (isFounder(login)) {
    const command = { type: 'OfferPasswordReset', accountId: sealedBy, ...offer } as const;
    await sendToAccount(deps, command, context);
    return;
  }
  const { accountId } = first;
  const command = { type: 'OfferPersonReset', personId, accountId, ...offer } as const;
  orThrow(await deps.actors.send(personAggregate, personId, command, context));
}

/** Makes another link; the one before ends. The token is kept as its hash alone. */
export async function offerPasswordReset(
  deps: Dependencies,
  login: Login,
  now: number,
  contextFor: ContextFor,
): Promise<{ readonly token: string; readonly expiresAt: number }> {
  const { personId, sealedBy } = login;
  const token = tokenFor(personId, randomAlphanumeric(RANDOM_CHARACTERS));
  const offer = { tokenHash: tokenHashOf(token), now };
  const expiresAt = now + RESET_LIFETIME_MS;
  await recordReset(deps, login, { expiresAt }, contextFor);
  const context = await contextFor(sealedBy);
  if (isFounder(login)) {
    await sendToAccount(
      deps,
      { type: 'OfferPasswordReset', accountId: sealedBy, ...offer },
      context,
    );
  } else {
    const command = { type: 'OfferPersonReset', personId, ...offer } as const;
    orThrow(await deps.actors.send(personAggregate, personId, command, context));
  }
  return { token, expiresAt };
}

/**
 * Sets another password of the person, for the operator. It ends all sessions of the person.
 * @returns the password that was made where none was given
 * @throws {ServiceError} `validation_error`, `not_found`
 */
export async function setPassword(
  deps: Dependencies,
  login: Login,
  given: string | undefined,
  contextFor: ContextFor,
): Promise<string | undefined> {
  const { personId, sealedBy } = login;
  const made = given === undefined ? randomAlphanumeric(GENERATED_PASSWORD_CHARACTERS) : undefined;
  const passwordHash = await deps.vault.seal(
    sealedBy,
    await deps.passwords.hash(given ?? made ?? ''),
  );
  await recordReset(deps, login, {}, contextFor);
  const context = await contextFor(sealedBy);
  if (isFounder(login)) {
    const command = { type: 'ChangePassword', accountId: sealedBy, passwordHash } as const;
    await sendToAccount(deps, command, context);
  } else {
    const command = { type: 'ChangePersonPassword', personId, passwordHash } as const;
    orThrow(await deps.actors.send(personAggregate, personId, command, context));
  }
  return made;
}

const gone = (cause?: unknown): ServiceError => new ServiceError('gone', RESET_GONE, { cause });

/**
 * Sets the password of the person who the token is for, which ends all their sessions. The answer to a token that never
 * was is that to one that has been used.
 * @param contextFor makes the context, once the account or person is known whose key seals its texts
 * @throws {ServiceError} `validation_error` where it is too short or too long, `gone`
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function resetPassword(
  deps: Dependencies,
  { token, password, asker }: { token: string; password: string; asker: Asker },
  contextFor: ContextFor,
  now: number,
): Promise<void> {
  checkPassword(password);
  const [, id] = TOKEN.exec(token) ?? [];
  if (id === undefined) throw gone();
  const personId = `person_${id}`;
  const login = await loginOf(deps, personId);
  if (login === undefined) throw gone();
  const { sealedBy } = login;
  const tokenHash = tokenHashOf(token);
  const offers = await offersFor(deps, login);
  if (!isResetOffered(offers, tokenHash, now)) throw gone();
  const isMailed = offers.mailedReset?.tokenHash === tokenHash;
  const hash = await deps.passwords.hash(password, asker);
  try {
    const reset = { tokenHash, passwordHash: await deps.vault.seal(sealedBy, hash), now };
    if (isFounder(login)) {
      const command = { type: 'ResetPassword', accountId: sealedBy, ...reset } as const;
      await sendToAccount(deps, command, await contextFor(sealedBy));
      return;
    }
    const isProof = isMailed && !login.isProven;
    // The memberships of before end with a first proof.
    const [first] = isProof ? [] : await openMemberships(deps, personId);
    const where = first === undefined ? {} : { accountId: first.accountId };
    const command = { type: 'ResetPersonPassword', personId, ...where, ...reset } as const;
    const context = await contextFor(where.accountId ?? personId);
    if (isProof) {
      await sendProof(deps, personId, (memberships) => ({ ...command, memberships }), context);
    } else {
      orThrow(await deps.actors.send(personAggregate, personId, command, context));
    }
  } catch (cause) {
    // Erased meanwhile, or made the last owner of an account.
    const isEnded = cause instanceof KeyErased || isRefused(cause);
    throw isEnded ? gone(cause) : cause;
  }
}

const isRefused = (error: unknown): boolean =>
  error instanceof ServiceError && ['not_found', 'forbidden'].includes(error.code);
