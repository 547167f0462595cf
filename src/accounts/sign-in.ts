/** Judges an address and its password, and what is needed beside them. */
import type { CommandContext } from '../actors/system.ts';
import type { SignInMethod } from '../domain/choices.ts';
import { type ErrorDetails, fieldError, ServiceError } from '../errors/errors.ts';
import type { Rate } from '../limits/rate-limiter/port.ts';
import { takeCode } from './authenticators.ts';
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
import { type Code, proveRest, wrongCode } from './second-factors.ts';
import {
  assertCodesLeft,
  clientOf,
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

/** How a sign-in ends: with a session, or with what was wrong. */
interface Ending extends Judged {
  readonly signedIn?: SignedIn;
}

/**
 * The account that the pair signs in to: the one that is asked for, else the person's own, else the one that they have
 * belonged to longest.
 * @param code the second factor, which is looked at only where the pair is right
 * @throws {ServiceError} `unauthorized`, or `rate_limit_exceeded` after too many tries; with a right pair `not_found` where
 * the person does not belong to the account, and `forbidden` where they belong to none
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function signIn(
  deps: SignInDependencies,
  request: SignInRequest,
  code: Code,
  asked?: string,
): Promise<SignedIn> {
  const client = clientOf(deps, request.email, request.clientAddress);
  const { signedIn, isCode } = await inTurn(deps, request, async (asker): Promise<Ending> => {
    const { login, right, memberships: held } = await judge(deps, request, asker);
    if (login === undefined || !right) return { right: false, login };
    if (code.otp !== undefined) {
      await assertCodesLeft(deps, login.personId, code.otp, asker.trusted);
    }
    const entrance = { memberships: await held, asked, client };
    const entered = await tryToAdmit(deps, login, entrance, ['password'], code);
    return entered === undefined
      ? { right: false, login, isCode: true }
      : { right: true, login, signedIn: entered };
  });
  if (isCode) throw wrongCode('unauthorized');
  if (signedIn !== undefined) return signedIn;
  throw new ServiceError('unauthorized', 'The email address or the password is wrong.');
}

/** A right first factor, and the account that it is to open. */
interface Entrance {
  /** Those that held before the first factor was judged. */
  readonly memberships: readonly Membership[];
  readonly asked: string | undefined;
  readonly client: string;
}

/**
 * Chooses the account after a right first factor that counts as two, and proves the rest.
 * @param methods what was proved
 * @throws {ServiceError} as `signIn`
 */
export async function admit(
  ...given: [SignInDependencies, PersonWhoEnters, Entrance, readonly SignInMethod[]]
): Promise<SignedIn> {
  const signedIn = await tryToAdmit(...given);
  if (signedIn === undefined) throw wrongCode('unauthorized');
  return signedIn;
}

type PersonWhoEnters = Pick<Login, 'personId' | 'passwords'>;

/** @returns undefined for a wrong code @throws {ServiceError} as `signIn` */
async function tryToAdmit(
  deps: SignInDependencies,
  { personId, passwords }: PersonWhoEnters,
  { memberships, asked, client }: Entrance,
  methods: readonly SignInMethod[],
  code?: Code,
): Promise<SignedIn | undefined> {
  const status = await deps.rateLimiter.consume(`sign-in:right:${personId}`, RIGHT_SIGN_INS);
  assertAllowed(status, 'There were too many sign-ins to this account.', deps.clock);
  const membership = chosen(memberships, asked);
  const proved = await proveRest(deps, membership, methods, code);
  return proved && { ...membership, passwords, client, methods: proved };
}

/** A request to prove again who is signed in. */
export type Confirmation = Omit<SignInRequest, 'email' | 'password'>;

/** @throws {ServiceError} `unauthorized`: erased since the credential was read */
async function known(deps: SignInDependencies, personId: string) {
  const login = await loginOf(deps, personId);
  if (login === undefined) throw new ServiceError('unauthorized');
  return { login, email: await deps.vault.unsealExactly(login.sealedBy, login.email) };
}

const NO_PASSWORD =
  'You have no password: you sign in with the identity provider. Leave the password out, within 5 minutes of such a sign-in, or ask the people who run this service for a link that sets one.';

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
  request: Confirmation & Pick<SignInRequest, 'password'>,
  wrong: { readonly message: string; readonly details: ErrorDetails } = WRONG_PASSWORD,
): Promise<JudgedPassword> {
  const who = await known(deps, personId);
  if (who.login.passwordHash === '') {
    const [field = 'password'] = Object.keys(wrong.details);
    throw fieldError(field, NO_PASSWORD);
  }
  const attempt = { ...request, email: who.email };
  const { login, right, asker } = await judgeInTurn(deps, attempt);
  if (!right || login?.personId !== personId) {
    throw new ServiceError('validation_error', wrong.message, { details: wrong.details });
  }
  return { login, asker };
}

/** The refusal of a password that is asked for again. */
export const WRONG_PASSWORD = {
  message: 'The password is wrong.',
  details: { password: ['The password is wrong.'] },
} as const;

/**
 * Takes a code of somebody who is signed in already. A wrong one counts as a refused sign-in.
 * @throws {ServiceError} `validation_error` where it is wrong, `rate_limit_exceeded` after too many tries
 */
export async function confirmCode(
  deps: SignInDependencies,
  holder: Pick<Membership, 'personId' | 'accountId'>,
  request: Confirmation,
  { otp, contextFor }: { readonly otp: string; readonly contextFor: () => Promise<CommandContext> },
): Promise<void> {
  const { login, email } = await known(deps, holder.personId);
  const { right } = await inTurn(deps, { ...request, email }, async ({ trusted }) => {
    await assertCodesLeft(deps, holder.personId, otp, trusted);
    const method = await takeCode(deps, holder, otp, contextFor);
    return { right: method !== undefined, login, isCode: true as const };
  });
  if (!right) throw wrongCode('validation_error');
}
