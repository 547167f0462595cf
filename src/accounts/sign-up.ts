/** Opening accounts by links: an operator invites, or somebody asks for one and confirms the address by mail. */
import { timingSafeEqual } from 'node:crypto';
import { firstCommand, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { isEmailAddress } from '../domain/email.ts';
import type { Plan } from '../domain/event-fields.ts';
import { founderOf } from '../domain/members.ts';
import { signUpAggregate } from '../domain/sign-up.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { newAccountId } from '../time/ids.ts';
import { addressHmac, type OpenedAccount, openAccount } from './accounts.ts';
import { giveUpAddress } from './address-proofs.ts';
import { findLogin } from './logins.ts';
import { type Asker, checkPassword } from './passwords.ts';
import { addressKey, assertAllowed, networkKey } from './rate-limits.ts';
import type { SignInDependencies } from './sign-in-tries.ts';

const HOUR_MS = 60 * 60 * 1000;
/** An operator's invitation is valid so long, and the mail to somebody who asked. */
const INVITED_MS = 7 * 24 * HOUR_MS;
const ASKED_MS = 24 * HOUR_MS;
const TOKEN = /^([0-9a-z]{26})-([\w-]{43})$/;

/** Requests for an account in `windowMs`. Beyond those for one address, nothing is sent, and nobody is told. */
const SIGN_UPS = {
  windowMs: 15 * 60 * 1000,
  toAddress: 2,
  client: 10,
  network: 30,
  all: 1000,
} as const;

const TOO_MANY = 'There were too many requests for new accounts.';

export const SIGN_UP_GONE =
  'The link was used, or it has expired, or there never was such a link. Ask for another one.';
const gone = (): ServiceError => new ServiceError('gone', SIGN_UP_GONE);

/** The secret of the link, which is made again for the mail, until the key of the founder is destroyed. */
export const signUpToken = async (
  { vault }: { readonly vault: Pick<Vault, 'linkSecret'> },
  personId: string,
): Promise<string> =>
  `${personId.slice('person_'.length)}-${await vault.linkSecret(personId, 'a sign-up')}`;

interface Offer {
  readonly email: string;
  readonly plan: Plan;
  readonly credits: number;
  readonly byMail: boolean;
  readonly lifetimeMs: number;
}

async function offer(
  deps: SignInDependencies,
  { lifetimeMs, email, ...terms }: Offer,
  context: CommandContext,
): Promise<{ readonly id: string; readonly token: string; readonly expiresAt: number }> {
  const { time: now } = context.metadata;
  const accountId = newAccountId(now);
  const personId = founderOf(accountId);
  await deps.vault.makeKey(personId);
  const expiresAt = now + lifetimeMs;
  const command = {
    type: 'OfferSignUp',
    accountId,
    personId,
    ...terms,
    email: await deps.vault.seal(personId, email),
    now,
    expiresAt,
  } as const;
  orThrow(await deps.actors.send(signUpAggregate, accountId, command, context));
  return { id: accountId, token: await signUpToken(deps, personId), expiresAt };
}

/**
 * Makes a link that opens an account, for an operator.
 * @throws {ServiceError} `validation_error`
 */
export async function inviteToSignUp(
  deps: SignInDependencies,
  {
    email: given,
    ...terms
  }: { readonly email: string; readonly plan: Plan; readonly credits: number },
  context: CommandContext,
): Promise<Awaited<ReturnType<typeof offer>> & { readonly email: string }> {
  const email = addressIn(given);
  const made = await offer(
    deps,
    { ...terms, email, byMail: false, lifetimeMs: INVITED_MS },
    context,
  );
  return { email, ...made };
}

function addressIn(given: string): string {
  const email = given.trim();
  if (!isEmailAddress(email)) throw fieldError('email', 'This is not an email address.');
  return email;
}

/**
 * Sends a link that opens an account to the address. What it does and answers is the same for every address: one that signs
 * in already is told so by the mail.
 * @throws {ServiceError} `validation_error`, `rate_limit_exceeded`
 */
export async function askToSignUp(
  deps: SignInDependencies,
  {
    email: given,
    clientAddress,
    credits,
  }: {
    readonly email: string;
    readonly clientAddress: string;
    readonly credits: number;
  },
): Promise<void> {
  const email = addressIn(given);
  const { windowMs, toAddress, client, network, all } = SIGN_UPS;
  for (const [key, limit] of [
    ['all', all],
    [`network:${networkKey(clientAddress)}`, network],
    [addressKey(clientAddress), client],
  ] as const) {
    const status = await deps.rateLimiter.consume(`sign-up:${key}`, { windowMs, limit });
    assertAllowed(status, TOO_MANY, deps.clock);
  }
  const counted = `sign-up:to:${addressHmac(deps, email)}`;
  const { allowed } = await deps.rateLimiter.consume(counted, { windowMs, limit: toAddress });
  if (!allowed) return;
  const terms = { email, plan: 'free', credits, byMail: true, lifetimeMs: ASKED_MS };
  await offer(deps, terms, firstCommand(deps.clock.now(), { kind: 'anonymous' }));
}

export interface OpenSignUp {
  readonly accountId: string;
  readonly personId: string;
  readonly email: string;
  readonly plan: Plan;
  readonly credits: number;
  readonly byMail: boolean;
  readonly expiresAt: number;
}

/** @throws {ServiceError} `gone` */
export async function signUpOf(deps: SignInDependencies, token: string): Promise<OpenSignUp> {
  const [, suffix] = TOKEN.exec(token) ?? [];
  if (suffix === undefined) throw gone();
  const accountId = `acct_${suffix}`;
  const personId = founderOf(accountId);
  const { state } = await deps.actors.read(signUpAggregate, accountId);
  const { status, plan, credits, byMail, expiresAt } = state;
  if (status !== 'open' || expiresAt <= deps.clock.now()) throw gone();
  const right = await unlessErased(signUpToken(deps, personId));
  // Both have the form of a token, so they are of one length.
  if (right === undefined || !timingSafeEqual(Buffer.from(right), Buffer.from(token))) throw gone();
  const email = await deps.vault.unsealExactly(personId, state.email);
  return { accountId, personId, email, plan, credits, byMail, expiresAt };
}

/**
 * Opens the account, once.
 * @throws {ServiceError} `gone`; `validation_error` where the password may not be chosen, or the address signs in already
 * @throws {BudgetExceeded} too many wait for their password to be hashed
 */
export async function openBySignUp(
  deps: SignInDependencies,
  token: string,
  { password, asker }: { readonly password: string; readonly asker: Asker },
): Promise<OpenedAccount> {
  checkPassword(password);
  const { accountId, personId, email, plan, credits, byMail } = await signUpOf(deps, token);
  const context = firstCommand(deps.clock.now(), { kind: 'anonymous' });
  const assertStill = async () => {
    await signUpOf(deps, token);
    const login = byMail ? await findLogin(deps, email) : undefined;
    if (login === undefined || login.isProven) return;
    await giveUpAddress(deps, login, context).catch((error: unknown) => {
      // Then the address is taken.
      if (!(error instanceof ServiceError && error.code === 'forbidden')) throw error;
    });
  };
  const proof = byMail ? ({ provenBy: 'mail' } as const) : {};
  const request = { accountId, email, plan, credits, password, asker, assertStill, ...proof };
  const opened = await openAccount(deps, request, context);
  await endSignUp(deps, accountId, personId, firstCommand(deps.clock.now(), { kind: 'anonymous' }));
  return opened;
}

/** Ends a link. The founder's key is destroyed unless the account is there. */
export async function endSignUp(
  { actors, vault }: { readonly actors: ActorSystem; readonly vault: Pick<Vault, 'erase'> },
  accountId: string,
  personId: string,
  context: CommandContext,
): Promise<void> {
  const { state } = await actors.read(accountAggregate, accountId);
  const isOpened = state.status !== 'none';
  const command = { type: 'EndSignUp', accountId, personId, isOpened } as const;
  orThrow(await actors.send(signUpAggregate, accountId, command, context));
  if (!isOpened) await vault.erase(personId);
}
