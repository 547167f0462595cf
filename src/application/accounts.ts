/** Opening and finding accounts: the address is reserved first, so that it is never held twice. */
import { createHmac } from 'node:crypto';
import { sessionQueries } from '../../projections/sessions.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import type { Clock } from '../clock.ts';
import type { AccountState } from '../domain/account.ts';
import { isEmailAddress } from '../domain/email.ts';
import type { Plan } from '../domain/events.ts';
import { ServiceError } from '../errors.ts';
import { newAccountId } from '../ids.ts';
import type { Vault } from '../keyring/vault.ts';
import { accepted } from './accepted.ts';
import { freshQuery, type ReadDependencies } from './fresh-query.ts';
import { accountActor, emailActor } from './kinds.ts';
import type { Passwords } from './passwords.ts';
import { randomAlphanumeric } from './random-text.ts';

export interface AccountDependencies {
  readonly actors: ActorSystem;
  readonly vault: Vault;
  readonly passwords: Passwords;
  /** Keys the hash under which a sign-in address is found. */
  readonly addressKey: Buffer;
}

export interface OpenedAccount {
  readonly id: string;
  readonly email: string;
  readonly plan: Plan;
  readonly credits: number;
  /** Only where none was given and one was made. */
  readonly password?: string;
}

const GENERATED_PASSWORD_CHARACTERS = 24;

/** The id of the stream that reserves an address, which names nobody. Case does not tell two apart. */
export function addressHmac(deps: Pick<AccountDependencies, 'addressKey'>, email: string): string {
  const normal = email.trim().normalize('NFC').toLowerCase();
  return createHmac('sha256', deps.addressKey).update(normal, 'utf8').digest('hex');
}

/** @throws {ServiceError} `validation_error` where the address is not one or is taken */
export async function openAccount(
  deps: AccountDependencies,
  request: {
    readonly email: string;
    readonly plan: Plan;
    readonly credits: number;
    readonly password?: string;
  },
  context: CommandContext,
): Promise<OpenedAccount> {
  const { actors, vault } = deps;
  const { plan, credits } = request;
  const email = request.email.trim();
  if (!isEmailAddress(email)) {
    const text = `${JSON.stringify(email)} is not an email address.`;
    throw new ServiceError('validation_error', text, { details: { email: [text] } });
  }
  const password = request.password ?? randomAlphanumeric(GENERATED_PASSWORD_CHARACTERS);
  const passwordHash = await deps.passwords.hash(password);

  const reservation = await actors.send(
    emailActor,
    addressHmac(deps, email),
    { type: 'ReserveEmail', accountId: newAccountId(context.metadata.time) },
    context,
  );
  // An earlier try may have been cut off after its reservation: then this one opens its account.
  const id = reservation.accepted ? reservation.state.accountId : undefined;
  if (id === undefined) throw new ServiceError('internal_error');
  const opened = await actors.send(
    accountActor,
    id,
    {
      type: 'OpenAccount',
      accountId: id,
      email: await vault.seal(id, email),
      passwordHash: await vault.seal(id, passwordHash),
      plan,
      credits,
    },
    context,
  );
  if (!opened.accepted || opened.events.length === 0) {
    // No details: the address is well formed, so this is no wrong usage of the command line.
    throw new ServiceError('validation_error', `There is an account for ${email} already.`);
  }
  return {
    id,
    email,
    plan,
    credits,
    ...(request.password === undefined ? { password } : {}),
  };
}

/**
 * Sets another password, which ends all sessions.
 * @returns the password that was made where none was given
 * @throws {ServiceError} `validation_error`, `not_found`
 */
export async function changePassword(
  deps: Pick<AccountDependencies, 'actors' | 'vault' | 'passwords'>,
  accountId: string,
  given: string | undefined,
  context: CommandContext,
): Promise<string | undefined> {
  const made = given === undefined ? randomAlphanumeric(GENERATED_PASSWORD_CHARACTERS) : undefined;
  const passwordHash = await deps.vault.seal(
    accountId,
    await deps.passwords.hash(given ?? made ?? ''),
  );
  const command = { type: 'ChangePassword', accountId, passwordHash } as const;
  accepted(await deps.actors.send(accountActor, accountId, command, context));
  return made;
}

/**
 * Ends all sessions of the account, also those that are being opened with the password as it is now.
 * @returns how many were open
 */
export async function endSessions(
  deps: Pick<AccountDependencies, 'actors'> & ReadDependencies & { readonly clock: Clock },
  accountId: string,
  context: CommandContext,
): Promise<number> {
  const open = (await freshQuery(deps, sessionQueries)).open(accountId, deps.clock.now());
  const command = { type: 'EndSessions', accountId } as const;
  accepted(await deps.actors.send(accountActor, accountId, command, context));
  return open.length;
}

/** The open account that signs in with the address. */
export async function findAccount(
  deps: Pick<AccountDependencies, 'actors' | 'addressKey'>,
  email: string,
): Promise<{ readonly id: string; readonly state: AccountState } | undefined> {
  const reserved = await deps.actors.read(emailActor, addressHmac(deps, email));
  const id = reserved.state.accountId;
  if (id === undefined) return undefined;
  const { state } = await deps.actors.read(accountActor, id);
  return state.status === 'open' ? { id, state } : undefined;
}
