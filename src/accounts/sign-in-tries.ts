/** Counts what people sign in with, whatever it is, so that those who guess are slow; and records what was refused. */
import { createHmac } from 'node:crypto';
import { sessionQueries } from '../../projections/sessions.ts';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { personAggregate } from '../domain/person.ts';
import { codesRefusedUntil } from '../domain/second-factor.ts';
import type { ProviderRefusalReason } from '../domain/choices.ts';
import type { Actor } from '../domain/event-metadata.ts';
import { type SignInTarget, signInTrail, signInTrailAggregate } from '../domain/sign-in-trail.ts';
import { recoveryCodeHash } from '../time/ids.ts';
import type { Rate, RateLimiter } from '../limits/rate-limiter/port.ts';
import type { Logger } from '../observe/log.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import type { Clock } from '../time/clock.ts';
import { type AccountDependencies, addressHmac } from './accounts.ts';
import { type Login, membershipsOf } from './logins.ts';
import type { Asker } from './passwords.ts';
import { addressKey, assertAllowed, networkKey } from './rate-limits.ts';

export interface SignInDependencies extends AccountDependencies, ReadDependencies {
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
}

/** What the trail of a refused sign-in is made of. */
interface Refused {
  readonly email: string;
  readonly clientAddress: string;
  readonly requestId: string;
  /** The request's name where nothing can seal the client's own. */
  readonly loggedId: string;
  /** The session that asks, where somebody is signed in already. */
  readonly actor?: Actor;
}

/** Something that somebody signs in with, whatever it is. */
export interface Try extends Refused {
  readonly log: Logger;
}

/**
 * Wrong sign-ins in `windowMs` after which no more are judged. A client (an IPv4 address or an IPv6 /64)
 * from which the account's owner has signed in lately has a count of its own, and no other:
 * strangers cannot lock the owner out.
 */
export const WRONG_SIGN_INS = {
  windowMs: 15 * 60 * 1000,
  /** Strangers' tries for one sign-in address. */
  account: 10,
  /** Tries for one sign-in address, from one client that its owner has signed in from. */
  knownClient: 10,
  /** Tries from a stranger's IPv4 address or IPv6 /64. */
  address: 30,
  /** Tries of strangers in an IPv4 /24 or an IPv6 /48. */
  network: 100,
  /** Tries of all strangers. */
  all: 3000,
} as const;

/** An owner's sign-in from a client counts this long. */
const KNOWN_FOR_MS = 90 * 24 * 60 * 60 * 1000;

type Counted = Exclude<keyof typeof WRONG_SIGN_INS, 'windowMs'>;

interface Count {
  readonly key: string;
  readonly of: Counted;
  readonly rate: Rate;
}

const countOf = (key: string, of: Counted): Count => ({
  key: `sign-in:${key}`,
  of,
  rate: { limit: WRONG_SIGN_INS[of], windowMs: WRONG_SIGN_INS.windowMs },
});

const OF_ACCOUNT = 'There were too many wrong tries to sign in with this email address.';

/** The same for a known client as for a stranger: it must not tell whether the account is there. */
const TOO_MANY: Readonly<Record<Counted, string>> = {
  account: OF_ACCOUNT,
  knownClient: OF_ACCOUNT,
  address: 'There were too many wrong tries to sign in from your address.',
  network: 'There were too many wrong tries to sign in from your network.',
  all: 'There were too many wrong tries to sign in to this service.',
};

/** A sign-in: what it counts against, and in whose turn it waits for its hash. */
export interface Attempt {
  readonly client: string;
  readonly counts: readonly Count[];
  readonly asker: Asker;
}

/** Tells the pair of a sign-in address and a client's address; names neither. */
export const clientOf = (
  deps: Pick<SignInDependencies, 'addressKey'>,
  email: string,
  clientAddress: string,
): string =>
  // The same key for another purpose than the sign-in address's own hash: the prefix tells them apart.
  createHmac('sha256', deps.addressKey)
    .update(`known client\0${addressHmac(deps, email)}\0${addressKey(clientAddress)}`)
    .digest('hex');

/**
 * Looks for the client by the pair's hash alone: that costs the same, and reveals nothing, where nobody has
 * the sign-in address.
 */
function attemptOf({ email, clientAddress }: Refused, deps: SignInDependencies): Attempt {
  const account = addressHmac(deps, email);
  const client = clientOf(deps, email, clientAddress);
  const lastSignIn = deps.readModel.query(sessionQueries).lastSignIn(client);
  if (lastSignIn !== undefined && deps.clock.now() < lastSignIn + KNOWN_FOR_MS) {
    const counts = [countOf(client, 'knownClient')];
    return { client, counts, asker: { group: account, trusted: true } };
  }
  const network = networkKey(clientAddress);
  const counts = [
    countOf('all', 'all'),
    countOf(`network:${network}`, 'network'),
    countOf(addressKey(clientAddress), 'address'),
    countOf(account, 'account'),
  ];
  return { client, counts, asker: { group: network, trusted: false } };
}

const refund = (limiter: RateLimiter, counts: readonly Count[]): Promise<unknown> =>
  Promise.all(counts.map(({ key, rate }) => limiter.refund(key, rate)));

/** @throws {ServiceError} `rate_limit_exceeded`: one count is used up, and nothing is counted */
async function take(
  { rateLimiter, clock }: SignInDependencies,
  counts: readonly Count[],
): Promise<void> {
  for (const [index, { key, of, rate }] of counts.entries()) {
    const status = await rateLimiter.consume(key, rate);
    if (!status.allowed) await refund(rateLimiter, counts.slice(0, index));
    assertAllowed(status, TOO_MANY[of], clock);
  }
}

/**
 * Refuses to judge a code once there were too many wrong ones that day. Recovery codes cannot be guessed: they are taken.
 * @param isKnownClient the person has signed in from there
 * @throws {ServiceError} `rate_limit_exceeded`
 */
export async function assertCodesLeft(
  { actors, clock }: Pick<SignInDependencies, 'actors' | 'clock'>,
  personId: string,
  otp: string,
  isKnownClient: boolean,
): Promise<void> {
  const { state } = await actors.read(personAggregate, personId);
  if (state.authenticator?.recoveryCodes.includes(recoveryCodeHash(otp))) return;
  const until = codesRefusedUntil(state, isKnownClient, clock.now());
  if (until === undefined) return;
  const limit =
    'There were too many wrong codes today. Use a recovery code, or wait until midnight (UTC).';
  assertAllowed({ allowed: false, resetAt: until / 1000 }, limit, clock);
}

/** What somebody signed in with. */
export interface Judged {
  readonly login: Login | undefined;
  readonly right: boolean;
  /** The code of a second factor was wrong, and not the password. */
  readonly isCode?: true;
}

/**
 * Judges what somebody signs in with. Each try counts as a wrong one until it has proved right, so that guessing in
 * parallel gains nothing; a wrong one leaves a trail.
 * @param request its address is that of the person, or names what nobody signs in with
 * @throws {ServiceError} `rate_limit_exceeded` after too many tries
 */
export async function inTurn<J extends Judged>(
  deps: SignInDependencies,
  request: Try,
  judgeTry: (asker: Asker) => Promise<J>,
): Promise<J & Pick<Attempt, 'client' | 'asker'>> {
  const { client, counts, asker } = attemptOf(request, deps);
  await take(deps, counts);
  let judged: J;
  try {
    judged = await judgeTry(asker);
  } catch (error) {
    // What is not judged was not wrong.
    await refund(deps.rateLimiter, counts);
    throw error;
  }
  if (judged.right) await refund(deps.rateLimiter, counts);
  else await leaveTrail(deps, request, judged, asker);
  return { ...judged, client, asker };
}

/**
 * A refusal of an address or its password is not waited for: the time that recording takes would tell a known address from
 * an unknown one. A wrong code is, because it counts: whoever sends it knows the password.
 */
async function leaveTrail(
  deps: SignInDependencies,
  request: Try,
  { login, isCode }: Judged,
  { trusted }: Asker,
): Promise<void> {
  request.log.warn('A sign-in was refused.');
  const code = isCode && login && { personId: login.personId, isKnownClient: trusted };
  const record = async (): Promise<void> => {
    await recordRefusal(deps, request, await accountToTell(deps, login), { code });
  };
  if (code !== undefined) return await record();
  record().catch((err: unknown) =>
    request.log.error({ err }, 'A refused sign-in is not recorded.'),
  );
}

/**
 * The account that is told of refused sign-ins of the person. One who was invited has no account of their own: the one that
 * they have belonged to longest is told.
 */
export async function accountToTell(
  deps: ReadDependencies,
  login: Login | undefined,
): Promise<string | undefined> {
  if (login?.sealedBy !== login?.personId) return login?.sealedBy;
  return login && (await membershipsOf(deps, login.personId))[0]?.accountId;
}

/** What was refused, where it was not an address with its password, or a passkey. */
interface RefusedOther {
  /** Whose code was wrong. */
  readonly code?: { readonly personId: string; readonly isKnownClient: boolean } | undefined;
  /** Why somebody whom the identity provider knows is not let in. */
  readonly byProvider?: ProviderRefusalReason;
}

/**
 * Leaves a trail of a refused sign-in in the log, bounded however many there are.
 * @param accountId the account that the address is of; undefined where it is nobody's
 */
export async function recordRefusal(
  {
    actors,
    vault,
    clock,
    addressKey: key,
  }: Pick<SignInDependencies, 'actors' | 'vault' | 'clock' | 'addressKey'>,
  { email, clientAddress, requestId, loggedId, actor = { kind: 'anonymous' } }: Refused,
  accountId: string | undefined,
  { code, byProvider }: RefusedOther = {},
): Promise<void> {
  const now = clock.now();
  const reason = byProvider === undefined ? {} : { byProvider };
  let target: SignInTarget;
  let context: CommandContext;
  if (accountId === undefined) {
    // The same key for two purposes: the prefix keeps a client from being taken for an address.
    const client = createHmac('sha256', key).update(`client\0${clientAddress}`).digest('hex');
    target = {
      kind: 'unknown',
      ...reason,
      address: addressHmac({ addressKey: key }, email),
      client,
    };
    // An address without an account has no key to seal with.
    context = firstCommand(now, { kind: 'anonymous' }, { requestId: loggedId });
  } else {
    target = { kind: 'account', accountId, ...reason };
    context = firstCommand(now, actor, {
      requestId: await vault.seal(accountId, requestId),
      client: await vault.seal(accountId, clientAddress),
    });
  }
  if (accountId !== undefined && code !== undefined) {
    const refused = { type: 'RefuseCode', accountId, ...code, now } as const;
    orThrow(await actors.send(personAggregate, code.personId, refused, context));
    return;
  }
  const command = { type: 'RecordRefusal', target, now } as const;
  await actors.send(signInTrailAggregate, signInTrail(target, now), command, context);
}
