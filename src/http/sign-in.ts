/** Judging an address and its password, slowly for those who guess. */
import { createHmac } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { sessionQueries } from '../../projections/sessions.ts';
import { type AccountDependencies, addressHmac, findAccount } from '../application/accounts.ts';
import { type Asker, NOBODYS_HASH } from '../application/passwords.ts';
import type { SignInAudit } from '../application/sign-in-audit.ts';
import type { Clock } from '../clock.ts';
import type { AccountState } from '../domain/account.ts';
import { ServiceError } from '../errors.ts';
import type { Rate, RateLimiter } from '../rate-limiter/port.ts';
import type { ReadModel } from '../read-model/database.ts';
import type { HttpContext } from './context.ts';
import { addressKey, demandAllowed } from './middleware/rate-limit.ts';

export interface SignInDependencies extends AccountDependencies {
  readonly rateLimiter: RateLimiter;
  readonly readModel: ReadModel;
  readonly clock: Clock;
  readonly signInAudit: SignInAudit;
}

export interface SignedIn {
  readonly accountId: string;
  /** As it was when the password was judged: a password changed meanwhile ends what it lets in. */
  readonly sessionEpoch: number;
  /** Tells this sign-in address and this client's address; names neither. */
  readonly client: string;
}

/**
 * Wrong sign-ins in `windowMs` after which no more are judged. A client (an IPv4 address or an IPv6 /64)
 * from which the account's owner has signed in lately has a count of its own, and no other:
 * strangers cannot lock the owner out.
 */
export const WRONG_SIGN_INS = {
  windowMs: 15 * 60 * 1000,
  /** Of strangers, for one sign-in address. */
  account: 10,
  /** For one sign-in address, from one client that its owner has signed in from. */
  knownClient: 10,
  /** Of a stranger's IPv4 address or IPv6 /64. */
  address: 30,
  /** Of strangers in an IPv4 /24 or an IPv6 /48. */
  network: 100,
  /** Of all strangers. */
  all: 3000,
} as const;

/** How long an owner's sign-in from a client counts. */
export const KNOWN_FOR_MS = 90 * 24 * 60 * 60 * 1000;

type Count = readonly [key: string, rate: Rate];

const countOf = (key: string, of: Exclude<keyof typeof WRONG_SIGN_INS, 'windowMs'>): Count => [
  `sign-in:${key}`,
  { limit: WRONG_SIGN_INS[of], windowMs: WRONG_SIGN_INS.windowMs },
];

/** An IPv4 /24 or an IPv6 /48: addresses that one client may well have to itself. */
function networkKey(address: string): string {
  const key = addressKey(address);
  return isIPv6(address) ? key.split(':').slice(0, 4).join(':') : key.replace(/\.\d+$/, '');
}

/** A sign-in: what it counts against, and in whose turn it waits for its hash. */
interface Attempt {
  readonly client: string;
  readonly counts: readonly Count[];
  readonly asker: Asker;
}

/**
 * Looks for the client by the pair's hash alone: that costs the same, and reveals nothing, where nobody has
 * the sign-in address.
 */
function attemptOf(ctx: HttpContext, deps: SignInDependencies, email: string): Attempt {
  const { clientAddress } = ctx.state;
  const account = addressHmac(deps, email);
  // The same key for another purpose than the sign-in address's own hash: the prefix tells them apart.
  const client = createHmac('sha256', deps.addressKey)
    .update(`known client\0${account}\0${addressKey(clientAddress)}`)
    .digest('hex');
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

const giveBack = (limiter: RateLimiter, counts: readonly Count[]): Promise<unknown> =>
  Promise.all(counts.map((each) => limiter.giveBack(...each)));

/** @throws {ServiceError} `rate_limit_exceeded`: one count is used up, and nothing is counted */
async function take(
  { rateLimiter, clock }: SignInDependencies,
  counts: readonly Count[],
): Promise<void> {
  for (const [index, each] of counts.entries()) {
    const standing = await rateLimiter.take(...each);
    if (!standing.allowed) await giveBack(rateLimiter, counts.slice(0, index));
    demandAllowed(standing, clock);
  }
}

interface Judged {
  readonly account: { readonly id: string; readonly state: AccountState } | undefined;
  readonly right: boolean;
}

async function judge(
  deps: SignInDependencies,
  { email, password }: { readonly email: string; readonly password: string },
  asker: Asker,
): Promise<Judged> {
  const account = await findAccount(deps, email);
  // Checked all the same, so that an account's absence takes as long.
  const hash =
    account === undefined
      ? NOBODYS_HASH
      : await deps.vault.unseal(account.id, account.state.passwordHash);
  return { account, right: await deps.passwords.verify(hash, password, asker) };
}

/** Not waited for: how long recording takes would tell a known address from an unknown one. */
function leaveTrail(
  ctx: HttpContext,
  { signInAudit, clock }: SignInDependencies,
  attempt: { readonly accountId: string | undefined; readonly email: string },
): void {
  const { clientAddress, requestId, log } = ctx.state;
  log.warn({ client: clientAddress }, 'A sign-in was refused.');
  signInAudit
    .refused({ ...attempt, clientAddress, requestId, time: clock.now() })
    .catch((err: unknown) => log.error({ err }, 'A refused sign-in is not recorded.'));
}

/**
 * The account that the pair signs in to. Each try counts as a wrong one until it has proved right, so
 * that guessing in parallel gains nothing.
 * @throws {ServiceError} `unauthorized`, or `rate_limit_exceeded` after too many wrong tries
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function signIn(
  ctx: HttpContext,
  deps: SignInDependencies,
  pair: { readonly email: string; readonly password: string },
): Promise<SignedIn> {
  const { client, counts, asker } = attemptOf(ctx, deps, pair.email);
  await take(deps, counts);
  let judged: Judged;
  try {
    judged = await judge(deps, pair, asker);
  } catch (error) {
    // A pair that is not judged was not wrong.
    await giveBack(deps.rateLimiter, counts);
    throw error;
  }
  const { account, right } = judged;
  if (account === undefined || !right) {
    leaveTrail(ctx, deps, { accountId: account?.id, email: pair.email });
    throw new ServiceError('unauthorized', 'The email address or the password is wrong.');
  }
  await giveBack(deps.rateLimiter, counts);
  return { accountId: account.id, sessionEpoch: account.state.sessionEpoch, client };
}
