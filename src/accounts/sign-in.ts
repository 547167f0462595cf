/** Signs in with an address and its password, slowly for those who guess. */
import type { SignInMethod } from '../domain/choices.ts';
import { type ErrorDetails, fieldError, ServiceError } from '../errors/errors.ts';
import type { Rate } from '../limits/rate-limiter/port.ts';
import {
  chosen,
  findLogin,
  type JudgedPassword,
  type Login,
  loginOf,
  type Membership,
  openMemberships,
} from './logins.ts';
import { type Asker, NOBODYS_HASH } from './passwords.ts';
import { assertAllowed } from './rate-limits.ts';
import { proveRest } from './second-factors.ts';
import {
  inTurn,
  type Judged,
  type SignInDependencies,
  type Try,
  WRONG_SIGN_INS,
} from './sign-in-tries.ts';

export interface SignInRequest extends Try {
  readonly password: string;
}

export interface SignedIn extends Membership {
  /** The person's count of passwords then. */
  readonly passwords: number;
  /** Tells this sign-in address and this client's address; names neither. */
  readonly client: string;
  /** What they proved. */
  readonly methods: readonly SignInMethod[];
}

/** Right sign-ins to an account, from wherever they come: each is kept in the log for ever. */
export const RIGHT_SIGN_INS: Rate = { windowMs: WRONG_SIGN_INS.windowMs, limit: 300 };

interface JudgedPair extends Judged {
  readonly memberships: Promise<readonly Membership[]>;
}

async function judge(
  deps: SignInDependencies,
  { email, password }: { readonly email: string; readonly password: string },
  asker: Asker,
): Promise<JudgedPair> {
  const login = await findLogin(deps, email);
  // Looked for before the password is judged: sessions that are ended meanwhile end what it lets in. And beside it,
  // because the time must not tell a known address.
  const memberships = login === undefined ? none : openMemberships(deps, login.personId);
  // Nobody hears of it unless the password is right.
  memberships.catch(() => {});
  // Checked all the same, so that a person's absence takes as long.
  const hash = login?.hash ?? NOBODYS_HASH;
  return { login, memberships, right: await deps.passwords.verify(hash, password, asker) };
}

const none: Promise<readonly Membership[]> = Promise.resolve([]);

/**
 * Judges the pair, slowly for those who guess.
 * @throws {ServiceError} `rate_limit_exceeded` after too many tries
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export const judgeInTurn = (deps: SignInDependencies, request: SignInRequest) =>
  inTurn(deps, request, (asker) => judge(deps, request, asker));

/**
 * The account that the pair signs in to: the one that is asked for, else the person's own, else the one that they have
 * belonged to longest.
 * @throws {ServiceError} `unauthorized`, or `rate_limit_exceeded` after too many tries; with a right pair `not_found` where
 * the person does not belong to the account, and `forbidden` where they belong to none
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function signIn(
  deps: SignInDependencies,
  request: SignInRequest,
  asked?: string,
): Promise<SignedIn> {
  const { login, right, client, memberships } = await judgeInTurn(deps, request);
  if (login === undefined || !right) {
    throw new ServiceError('unauthorized', 'The email address or the password is wrong.');
  }
  return await admit(deps, login, { memberships: await memberships, asked, client }, ['password']);
}

/** A right first factor, and the account that it is to open. */
interface Entrance {
  /** Those that held before the first factor was judged. */
  readonly memberships: readonly Membership[];
  readonly asked: string | undefined;
  readonly client: string;
}

/**
 * Chooses the account after a right first factor, and proves the rest.
 * @param methods what was proved
 * @throws {ServiceError} as `signIn`
 */
export async function admit(
  deps: SignInDependencies,
  { personId, passwords }: Pick<Login, 'personId' | 'passwords'>,
  { memberships, asked, client }: Entrance,
  methods: readonly SignInMethod[],
): Promise<SignedIn> {
  const status = await deps.rateLimiter.consume(`sign-in:right:${personId}`, RIGHT_SIGN_INS);
  assertAllowed(status, 'There were too many sign-ins to this account.', deps.clock);
  const membership = chosen(memberships, asked);
  const proved = await proveRest(deps, membership, methods);
  return { ...membership, passwords, client, methods: proved };
}

const NO_PASSWORD =
  'You have no password: you sign in with the identity provider. Ask the people who run this service for a link that sets one.';

/**
 * Judges the present password of somebody who is signed in already. A wrong one counts as a refused sign-in:
 * a stolen session gives no further guesses.
 * @param wrong the message for a wrong one
 * @throws {ServiceError} `validation_error` where it is wrong, `rate_limit_exceeded` after too many tries
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function confirmPassword(
  deps: SignInDependencies,
  personId: string,
  request: Omit<SignInRequest, 'email'>,
  wrong: { readonly message: string; readonly details: ErrorDetails },
): Promise<JudgedPassword> {
  const known = await loginOf(deps, personId);
  // Erased since its credential was read.
  if (known === undefined) throw new ServiceError('unauthorized');
  if (known.passwordHash === '') {
    const [field = 'password'] = Object.keys(wrong.details);
    throw fieldError(field, NO_PASSWORD);
  }
  const email = await deps.vault.unsealExactly(known.sealedBy, known.email);
  const { login, right, asker } = await judgeInTurn(deps, { ...request, email });
  if (!right || login?.personId !== personId) {
    throw new ServiceError('validation_error', wrong.message, { details: wrong.details });
  }
  return { login, asker };
}
