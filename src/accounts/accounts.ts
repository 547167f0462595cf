/** Opening and finding accounts: the address is reserved first, so that it is never held twice. */
import { createHmac } from 'node:crypto';
import { accountQueries } from '../../projections/accounts.ts';
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { sessionQueries } from '../../projections/sessions.ts';
import { operatorContext, orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import { type AccountCommand, type AccountState, accountAggregate } from '../domain/account.ts';
import type { AddressProof } from '../domain/choices.ts';
import {
  type EmailCommand,
  type EmailState,
  emailAggregate,
  isAccount,
  isEmailAddress,
  personOf,
} from '../domain/email.ts';
import type { Plan } from '../domain/event-fields.ts';
import { founderOf } from '../domain/members.ts';
import { personAggregate } from '../domain/person.ts';
import { keepsAddress, signsInWith } from '../domain/sign-in-address.ts';
import type { Look } from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Logger } from '../observe/log.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import type { Clock } from '../time/clock.ts';
import { newAccountId, randomAlphanumeric } from '../time/ids.ts';
import { type ApiKeyDependencies, createApiKey } from './api-keys.ts';
import type { Asker, Passwords } from './passwords.ts';

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

/** Case does not tell two addresses apart. */
export const normalAddress = (email: string): string => email.trim().normalize('NFC').toLowerCase();

/** The id of the stream that reserves an address, which names nobody. */
export function addressHmac(deps: Pick<AccountDependencies, 'addressKey'>, email: string): string {
  return createHmac('sha256', deps.addressKey).update(normalAddress(email), 'utf8').digest('hex');
}

/** @throws {ServiceError} what the account refuses; `not_found` if there is none */
export const sendToAccount = async (
  { actors }: Pick<AccountDependencies, 'actors'>,
  command: AccountCommand,
  context: CommandContext,
) => orThrow(await actors.send(accountAggregate, command.accountId, command, context));

/**
 * Records that an operator reads what the account has, before anything is shown. Nobody is left to read it once the account
 * is erased.
 */
export async function recordLook(
  deps: Pick<AccountDependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
  what?: Look['what'],
): Promise<void> {
  const { state } = await deps.actors.read(accountAggregate, accountId);
  if (state.status !== 'open') return;
  const { actor, time: now } = context.metadata;
  const look = {
    ...(actor.kind === 'operator' && actor.id !== undefined && { by: actor.id }),
    ...(what !== undefined && { what }),
  };
  await sendToAccount(deps, { type: 'RecordLook', accountId, ...look, now }, context);
}

/**
 * Reserves an address, unless somebody else signs in with it, or may do so yet by a link.
 * @param address its HMAC, hex
 * @returns the account or person that has it then
 */
export async function reserveAddress(
  deps: Pick<AccountDependencies, 'actors' | 'vault'>,
  address: string,
  whose: Pick<EmailCommand, 'accountId' | 'personId' | 'forChange'>,
  context: CommandContext,
): Promise<string | undefined> {
  const { state: reserved } = await deps.actors.read(emailAggregate, address);
  const isOwn = reserved.holder === (whose.personId ?? whose.accountId);
  const isFree = !isOwn && (await isGone(deps, reserved, address, context.metadata.time));
  const insteadOf = isFree ? { insteadOf: reserved.reservations } : {};
  const command = { type: 'ReserveEmail', ...whose, ...insteadOf } as const;
  return orThrow(await deps.actors.send(emailAggregate, address, command, context)).state.holder;
}

/**
 * True if the account or person that holds the address does not sign in with it any more. A person whose registration was
 * cut off, or whose invitation was revoked meanwhile, never did.
 */
async function isGone(
  { actors, vault }: Pick<AccountDependencies, 'actors' | 'vault'>,
  reserved: EmailState,
  address: string,
  now: number,
): Promise<boolean> {
  const { holder } = reserved;
  if (holder === undefined) return false;
  const { state: person } = await actors.read(personAggregate, personOf(holder));
  if (person.status === 'erased') return true;
  if (isAccount(holder)) {
    const { state } = await actors.read(accountAggregate, holder);
    if (state.status !== 'open') return state.status === 'erased';
    return !keepsAddress(state, reserved, address, now);
  }
  if (person.status === 'none') return true;
  if ((await unlessErased(vault.dataKey(holder))) === undefined) return true;
  return !keepsAddress(person, reserved, address, now);
}

// No details: the address is well formed, so this is not wrong usage of the command line.
const isTaken = (email: string): ServiceError =>
  new ServiceError('validation_error', `There is an account for ${email} already.`);

/** @throws {ServiceError} `validation_error` where the address is not one or is taken */
export async function openAccount(
  deps: AccountDependencies,
  request: {
    readonly email: string;
    readonly plan: Plan;
    readonly credits: number;
    readonly password?: string;
    /** Whoever chose the password; absent: an operator. */
    readonly asker?: Asker;
    /** The id that it was offered with; absent: a new one. */
    readonly accountId?: string;
    /** Asked once the password is hashed, which takes long: it throws where the account is not to be opened any more. */
    readonly assertStill?: () => Promise<unknown>;
    /** It is the account of the first start. */
    readonly isFirst?: boolean;
    /** Absent: an operator opens the account. */
    readonly provenBy?: AddressProof;
  },
  context: CommandContext,
): Promise<OpenedAccount> {
  const { actors, vault } = deps;
  const { plan, credits, isFirst = false, provenBy } = request;
  const { accountId = newAccountId(context.metadata.time) } = request;
  const email = request.email.trim();
  if (!isEmailAddress(email)) {
    const text = `${JSON.stringify(email)} is not an email address.`;
    throw new ServiceError('validation_error', text, { details: { email: [text] } });
  }
  const password = request.password ?? randomAlphanumeric(GENERATED_PASSWORD_CHARACTERS);
  const passwordHash = await deps.passwords.hash(password, request.asker);
  await request.assertStill?.();

  const address = addressHmac(deps, email);
  // An earlier try may have been cut off after its reservation: then this one opens its account.
  const id = await reserveAddress(deps, address, { accountId }, context);
  if (id === undefined) throw new ServiceError('internal_error');
  if (!isAccount(id)) throw isTaken(email);
  // The founder can be erased without the account.
  const founder = founderOf(id);
  await Promise.all([vault.makeKey(id), vault.makeKey(founder)]);
  const opened = await actors.send(
    accountAggregate,
    id,
    {
      type: 'OpenAccount',
      accountId: id,
      email: await vault.seal(founder, email),
      passwordHash: await vault.seal(founder, passwordHash),
      plan,
      credits,
      isFirst,
      ...(provenBy !== undefined && { provenBy }),
    },
    context,
  );
  if (!opened.accepted || opened.events.length === 0) {
    throw isTaken(email);
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
 * Ends all sessions of the account, or those of one person in it, also those that are being opened with the password as
 * it is now.
 * @returns how many were open
 */
export async function endSessions(
  deps: Pick<AccountDependencies, 'actors'> & ReadDependencies & { readonly clock: Clock },
  { accountId, personId }: { readonly accountId: string; readonly personId?: string },
  context: CommandContext,
): Promise<number> {
  const whose = personId === undefined ? {} : { personId };
  const queries = await consistentQuery(deps, sessionQueries);
  const open = queries.open({ accountId, ...whose }, deps.clock.now());
  const command = { type: 'EndSessions', accountId, ...whose } as const;
  await sendToAccount(deps, command, context);
  return open.length;
}

/** The account that holds the address: an open one, or one that was erased and whose address nobody took since. */
export async function findHolder(
  deps: Pick<AccountDependencies, 'actors' | 'addressKey'>,
  email: string,
): Promise<{ readonly id: string; readonly state: AccountState } | undefined> {
  const address = addressHmac(deps, email);
  const { state: reserved } = await deps.actors.read(emailAggregate, address);
  const id = reserved.holder;
  if (id === undefined || !isAccount(id)) return undefined;
  const { state } = await deps.actors.read(accountAggregate, id);
  if (state.status === 'open' && !signsInWith(state, reserved, address)) return undefined;
  return state.status === 'none' ? undefined : { id, state };
}

/** The open account that signs in with the address. */
export async function findAccount(
  deps: Pick<AccountDependencies, 'actors' | 'addressKey'>,
  email: string,
): Promise<{ readonly id: string; readonly state: AccountState } | undefined> {
  const holder = await findHolder(deps, email);
  return holder?.state.status === 'open' ? holder : undefined;
}

function noKey(dataDir: string): string {
  const command = (...args: readonly string[]): string =>
    `\`${copyableCommand(dataDir, ...args)}\``;
  return (
    `the first account has no API key: ${command('account', 'list')} names it, ` +
    `${command('account', 'create-key', 'EMAIL', '--name', 'NAME')} makes a key and ${command('account', 'password', 'EMAIL')} a password`
  );
}

/** The account that the first start of an empty store opened; its secrets are shown once. */
export interface FirstAccount {
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly credits: number;
}

interface FirstAccountDependencies extends AccountDependencies, ApiKeyDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits until the read model holds everything that was in the log when it was called. */
  readonly caughtUp: () => Promise<void>;
}

/**
 * Opens the account that a newcomer begins with, an operator, if there is none yet. Its secrets are
 * returned this once and kept nowhere.
 */
export async function openFirstAccount(
  deps: FirstAccountDependencies,
  settings: {
    readonly firstAccountEmail: string;
    readonly freeCredits: number;
    readonly dataDir: string;
  },
): Promise<FirstAccount | undefined> {
  const { firstAccountEmail: email, freeCredits: credits } = settings;
  if (email === '') return undefined;
  await deps.caughtUp();
  const first = deps.readModel.query(accountQueries).first();
  if (first) {
    const { total } = deps.readModel.query(apiKeyQueries).page(first.id, { offset: 0, limit: 1 });
    // The start that opened it may have ended before it could show what it had made.
    if (total === 0) deps.logger.warn(noKey(settings.dataDir));
    return undefined;
  }
  const opened = await openAccount(
    deps,
    { email, plan: 'pro', credits, isFirst: true },
    operatorContext(deps.clock),
  ).catch(async (error: unknown) => {
    // Another process that starts on the same empty store may have been first.
    await deps.caughtUp();
    if (deps.readModel.query(accountQueries).first()) return undefined;
    throw error;
  });
  if (!opened) return undefined;
  const { id, password = '' } = opened;
  const { key } = await createApiKey(deps, id, 'first key', operatorContext(deps.clock));
  return { email, password, apiKey: key, credits };
}
