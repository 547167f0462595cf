/**
 * Decides what is still needed after a right first factor: the one place for passwords, passkeys and the identity
 * provider.
 */
import type { CommandContext } from '../actors/system.ts';
import { accountAggregate } from '../domain/account.ts';
import type { SignInMethod, SignInRequirement } from '../domain/choices.ts';
import { ServiceError } from '../errors/errors.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';
import { secondFactorOf, takeCode } from './authenticators.ts';
import { type Membership, openMemberships } from './logins.ts';

/** Each proves more than a password: the provider answers for what it asks, and a passkey for its holder. */
const SECOND_FACTORS: ReadonlySet<SignInMethod> = new Set([
  'otp',
  'recovery_code',
  'passkey',
  'oidc',
]);

const isMoreThanPassword = (methods: readonly SignInMethod[]): boolean =>
  methods.some((each) => SECOND_FACTORS.has(each));

/** What a session lacks to do more than set up its sign-in. */
export type Lacking = Exclude<SignInRequirement, 'none'>;

/** @returns undefined where what was proved is enough for the account */
export function lackingIn(
  requirement: SignInRequirement,
  methods: readonly SignInMethod[],
): Lacking | undefined {
  switch (requirement) {
    case 'none':
      return undefined;
    case 'second_factor':
      return isMoreThanPassword(methods) ? undefined : requirement;
    case 'oidc':
      return methods.includes('oidc') ? undefined : requirement;
  }
}

const ONLY_PROVIDER =
  'In this account people sign in only with its identity provider. Sign in with it.';

/** The refusal of what a session may not do yet. */
export function refusalOfLacking(lacking: Lacking): ServiceError {
  const text =
    lacking === 'oidc'
      ? ONLY_PROVIDER
      : 'An account of yours requires a second factor, and you have not proved one. Set one up on the page Account of the dashboard. If you have one, sign in again with it.';
  return new ServiceError('forbidden', text, { details: { [lacking]: [text] } });
}

/**
 * Refuses a session that has proved the password alone to change what its person signs in with, where they have a second
 * factor and one of their accounts requires more than a password: whoever knows the password would get around it.
 * @throws {ServiceError} `forbidden`
 */
export async function assertMayChangeFactors(
  deps: Pick<AccountDependencies, 'actors'> & ReadDependencies,
  personId: string,
  methods: readonly SignInMethod[],
): Promise<void> {
  if (isMoreThanPassword(methods)) return;
  const { authenticator, passkeys } = await secondFactorOf(deps, personId);
  if (authenticator === undefined && Object.keys(passkeys).length === 0) return;
  for (const { accountId } of await openMemberships(deps, personId)) {
    const { state } = await deps.actors.read(accountAggregate, accountId);
    const lacking = lackingIn(state.signInRequirement, methods);
    if (lacking !== undefined) throw refusalOfLacking(lacking);
  }
}

/** The second factor as a client sends it. */
export interface Code {
  /** A code of the authenticator, or a recovery code; undefined: none was sent. */
  readonly otp: string | undefined;
  /** Makes the context of its use. */
  readonly contextFor: (holder: Membership) => Promise<CommandContext>;
}

const NEEDS_CODE = 'A second factor is needed: a code of your authenticator, or a recovery code.';
const NEEDS_PASSKEY = 'The account requires a second factor. Sign in with your passkey.';
const WRONG_CODE = 'The code is wrong, or it was used already. Each code works once.';

/** The refusal of a wrong code: of a sign-in, or of somebody who is signed in. */
export const wrongCode = (error: 'unauthorized' | 'validation_error'): ServiceError =>
  new ServiceError(error, WRONG_CODE, { details: { otp: [WRONG_CODE] } });

/**
 * Proves what is needed beside the first factor: the code of a person who has an authenticator. One who lacks a second
 * factor that the account requires gets a session that may do nothing but set one up.
 * @param methods what was proved already
 * @returns all that was proved; undefined for a wrong code
 * @throws {ServiceError} `unauthorized`, with `details.otp` where a code is needed and none was sent
 */
export async function proveRest(
  deps: Pick<AccountDependencies, 'actors' | 'vault'>,
  holder: Membership,
  methods: readonly SignInMethod[],
  { otp, contextFor }: Partial<Code> = {},
): Promise<readonly SignInMethod[] | undefined> {
  const { state } = await deps.actors.read(accountAggregate, holder.accountId);
  if (lackingIn(state.signInRequirement, methods) === 'oidc') {
    throw new ServiceError('unauthorized', ONLY_PROVIDER);
  }
  if (isMoreThanPassword(methods)) return methods;
  const { authenticator, passkeys } = await secondFactorOf(deps, holder.personId);
  if (authenticator === undefined) {
    // Who knows the password alone must not set up another factor beside the passkeys.
    if (state.signInRequirement === 'none' || Object.keys(passkeys).length === 0) return methods;
    throw new ServiceError('unauthorized', NEEDS_PASSKEY, {
      details: { passkey: [NEEDS_PASSKEY] },
    });
  }
  if (otp === undefined || contextFor === undefined) {
    throw new ServiceError('unauthorized', NEEDS_CODE, { details: { otp: [NEEDS_CODE] } });
  }
  const method = await takeCode(deps, holder, otp, () => contextFor(holder));
  return method && [...methods, method];
}

/** Somebody who changes how people sign in. */
interface Asker {
  /** Undefined: the operator. */
  readonly personId: string | undefined;
  /** What they proved; undefined: the operator. */
  readonly methods: readonly SignInMethod[] | undefined;
  /** The service has an identity provider. */
  readonly hasProvider: boolean;
}

/**
 * Changes what the account requires of everybody who signs in. It holds at once, also for open sessions.
 * @throws {ServiceError} `validation_error` where it cannot be met, or would shut out who asks; `forbidden`
 */
export async function changeSignInPolicy(
  deps: Pick<AccountDependencies, 'actors'>,
  accountId: string,
  require: SignInRequirement,
  { personId, methods, hasProvider }: Asker,
  context: CommandContext,
): Promise<void> {
  if (require === 'oidc' && !hasProvider) {
    throw refused('This service has no identity provider. Ask the people who run it.');
  }
  if (methods !== undefined && lackingIn(require, methods) !== undefined) {
    throw refused(
      require === 'oidc'
        ? 'You have not signed in with the identity provider. Sign in with it first.'
        : 'Your own session lacks a second factor. Set one up first.',
    );
  }
  const by = personId === undefined ? {} : { by: personId };
  await sendToAccount(deps, { type: 'ChangeSignInPolicy', accountId, require, ...by }, context);
}

const refused = (text: string): ServiceError =>
  new ServiceError('validation_error', `require: ${text}`, { details: { require: [text] } });
