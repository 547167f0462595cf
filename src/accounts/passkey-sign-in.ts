/** Signing in with a passkey, and confirming with one: wrong ones count, and are recorded, as wrong passwords are. */
import type { CommandContext } from '../actors/system.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import { PERSON_ID } from '../domain/ids.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { type Login, loginOf, type Membership, openMemberships } from './logins.ts';
import { holderIn } from './passkey-ceremonies.ts';
import { assertInTime, judgePasskey, type PasskeyUse, type PresentedPasskey } from './passkeys.ts';
import { admit, type SignedIn } from './sign-in.ts';
import { inTurn, type SignInDependencies, type Try } from './sign-in-tries.ts';

const WRONG =
  'The passkey is not known here, or was not accepted. Try again, or sign in with your password.';

interface PasskeyRequest extends Omit<Try, 'email'> {
  readonly presented: PresentedPasskey;
}

/** The context of what a person does who is just signing in. */
type ContextFor = (membership: Membership) => Promise<CommandContext>;

const wholePersonId = new RegExp(`^${PERSON_ID}$`);

/** The person with the address that tries are counted for; that of nobody where the passkey names no person. */
async function namedBy(
  deps: SignInDependencies,
  { assertion }: PresentedPasskey,
): Promise<{ readonly login: Login | undefined; readonly email: string }> {
  const personId = holderIn(assertion) ?? '';
  const login = wholePersonId.test(personId) ? await loginOf(deps, personId) : undefined;
  const email =
    login && (await unlessErased(deps.vault.unsealExactly(login.sealedBy, login.email)));
  return email === undefined
    ? { login: undefined, email: `passkey ${assertion.id}` }
    : { login, email };
}

/**
 * Signs in with a passkey alone: it stands for a password and a second factor. The account is chosen as by `signIn`.
 * @throws {ServiceError} `unauthorized`, or `rate_limit_exceeded` after too many tries; with a right passkey as `signIn`
 */
export async function signInWithPasskey(
  deps: SignInDependencies,
  { presented, ...request }: PasskeyRequest,
  asked: string | undefined,
  contextFor: ContextFor,
): Promise<SignedIn> {
  assertInTime(deps, presented);
  const { login, email } = await namedBy(deps, presented);
  const { right, client, memberships } = await inTurn(deps, { ...request, email }, async () => {
    if (login === undefined) return { login, right: false, memberships: [] };
    const { personId } = login;
    // Looked for before it is judged: sessions that are ended meanwhile end what it lets in.
    const all = await openMemberships(deps, personId);
    const where = all.find(({ accountId }) => accountId === asked) ?? all[0];
    const use = where && { accountId: where.accountId, context: await contextFor(where) };
    return { login, right: await judgePasskey(deps, personId, presented, use), memberships: all };
  });
  if (login === undefined || !right) throw new ServiceError('unauthorized', WRONG);
  return await admit(deps, login, { memberships, asked, client }, ['passkey']);
}

/**
 * Judges a passkey of somebody who is signed in already. A wrong one counts as a refused sign-in.
 * @throws {ServiceError} `validation_error` where it is wrong, `rate_limit_exceeded` after too many tries
 */
export async function confirmPasskey(
  deps: SignInDependencies,
  personId: string,
  { presented, ...request }: PasskeyRequest,
  use: PasskeyUse,
): Promise<void> {
  assertInTime(deps, presented);
  const login = await loginOf(deps, personId);
  // Erased since its credential was read.
  if (login === undefined) throw new ServiceError('unauthorized');
  const email = await deps.vault.unsealExactly(login.sealedBy, login.email);
  const { right } = await inTurn(deps, { ...request, email }, async () => ({
    login,
    right: await judgePasskey(deps, personId, presented, use),
  }));
  if (!right)
    throw fieldError('passkey', 'This is not a passkey of yours, or it was not accepted.');
}
