/** The second factor of a person: setting up an authenticator, taking its codes and recovery codes, and its end. */
import { Secret, TOTP } from 'otpauth';
import { encodeQR } from 'qr';
import { orThrow } from '../actors/command-context.ts';
import type { CommandContext } from '../actors/system.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import type { SignInMethod } from '../domain/choices.ts';
import { type PersonState, personAggregate } from '../domain/person.ts';
import type { PersonCommand } from '../domain/person-commands.ts';
import { HAS_ONE, RECOVERY_CODES, STEP_MS } from '../domain/second-factor.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import type { ReadDependencies } from '../read-model/consistent-query.ts';
import { newRecoveryCode, recoveryCodeHash } from '../time/ids.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';
import { type Login, openMemberships } from './logins.ts';

type Dependencies = Pick<AccountDependencies, 'actors' | 'vault'>;

/** What apps take without asking (RFC 6238): other parameters are ignored by some. */
const PARAMETERS = { algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000 } as const;
const SECRET_BYTES = 20;
/** The steps to each side of now that a code may be of: clocks of telephones differ. */
const SKEW = 1;
/** A set-up that was begun is finished within this time. */
const SET_UP_MS = 30 * 60 * 1000;
/** Tells a set-up from other texts of the same key. A name has no control characters. */
const SET_UP = '\u0000set-up\u0000';

const sendToPerson = async (
  { actors }: Pick<Dependencies, 'actors'>,
  command: PersonCommand,
  context: CommandContext,
): Promise<void> => {
  orThrow(await actors.send(personAggregate, command.personId, command, context));
};

/** The present state of a person's second factor. */
export async function secondFactorOf(
  { actors }: Pick<Dependencies, 'actors'>,
  personId: string,
): Promise<Pick<PersonState, 'authenticator' | 'passkeys'>> {
  return (await actors.read(personAggregate, personId)).state;
}

export const authenticatorOf = async (deps: Pick<Dependencies, 'actors'>, personId: string) =>
  (await secondFactorOf(deps, personId)).authenticator;

/** The session in which somebody sets up a second factor. */
interface SetUpSession {
  readonly accountId: string;
  readonly personId: string;
  readonly sessionId: string;
}

/** A secret that was offered, sealed for its person: nothing is kept of it until a code proves it. */
interface SetUp {
  readonly sessionId: string;
  readonly secret: string;
  readonly until: number;
}

/**
 * Offers the secret of a new authenticator.
 * @param name where the app shows it: the service, and the address that one signs in with
 * @throws {ServiceError} `validation_error`: there is one already
 */
export async function offerAuthenticator(
  deps: Dependencies,
  { personId, sessionId }: SetUpSession,
  name: { readonly issuer: string; readonly label: string },
  now: number,
) {
  if ((await authenticatorOf(deps, personId)) !== undefined) {
    throw new ServiceError('validation_error', HAS_ONE);
  }
  const secret = new Secret({ size: SECRET_BYTES }).base32;
  const uri = new TOTP({ ...PARAMETERS, ...name, secret }).toString();
  const setUp: SetUp = { sessionId, secret, until: now + SET_UP_MS };
  // Founders of older accounts have no key of their own yet.
  await deps.vault.makeKey(personId);
  return {
    secret,
    uri,
    qr: encodeQR(uri, 'svg', { border: 4 }),
    setup: await deps.vault.seal(personId, `${SET_UP}${JSON.stringify(setUp)}`),
  };
}

/** @returns undefined for what was not offered in this session, or too long ago */
async function offered(
  { vault }: Dependencies,
  { personId, sessionId }: SetUpSession,
  setup: string,
  now: number,
): Promise<SetUp | undefined> {
  // A text of another person's key must not be opened here.
  if (!setup.startsWith(`${personId}.`)) return undefined;
  const text = await vault.unsealExactly(personId, setup).catch(() => undefined);
  // The name of a person is sealed with the same key: it is not a set-up.
  if (text === undefined || !text.startsWith(SET_UP)) return undefined;
  const given = JSON.parse(text.slice(SET_UP.length)) as SetUp;
  return given.sessionId === sessionId && now < given.until ? given : undefined;
}

const newCodes = (): readonly string[] => Array.from({ length: RECOVERY_CODES }, newRecoveryCode);

/**
 * Adds the authenticator that was offered, proved by a code of it.
 * @returns the recovery codes, which are kept as hashes alone
 * @throws {ServiceError} `validation_error`
 */
export async function addAuthenticator(
  deps: Dependencies,
  session: SetUpSession,
  { setup, otp }: { readonly setup: string; readonly otp: string },
  context: CommandContext,
): Promise<readonly string[]> {
  const { accountId, personId } = session;
  const addedAt = context.metadata.time;
  const given = await offered(deps, session, setup, addedAt);
  if (given === undefined) {
    throw fieldError('setup', 'Is not of this session, or older than 30 minutes. Begin again.');
  }
  const step = stepOf(given.secret, otp, addedAt);
  if (step === undefined) {
    throw fieldError('otp', 'Is not the code of the authenticator. Check the clock of its device.');
  }
  const codes = newCodes();
  const added = {
    secret: await deps.vault.seal(personId, given.secret),
    addedAt,
    step,
    recoveryCodes: codes.map(recoveryCodeHash),
  };
  const command = { type: 'AddSecondFactor', personId, accountId, ...added } as const;
  await sendToPerson(deps, command, context);
  return codes;
}

/** The step of time that the code is of; undefined for a wrong one. */
function stepOf(secret: string, otp: string, timestamp: number): number | undefined {
  const token = otp.replaceAll(/\s/g, '');
  const window = SKEW;
  const key = Secret.fromBase32(secret);
  const delta = TOTP.validate({ ...PARAMETERS, token, secret: key, timestamp, window });
  return delta === null ? undefined : TOTP.counter({ ...PARAMETERS, timestamp }) + delta;
}

/** A person who signs in to an account, or acts in it. */
interface Holder {
  readonly personId: string;
  readonly accountId: string;
}

/**
 * Takes a code of the authenticator or a recovery code: each works once, on all nodes together.
 * @param contextFor makes the context of its use, once it has proved right
 * @returns what it proves; undefined for a wrong one, and for one that was used
 */
export async function takeCode(
  deps: Dependencies,
  { personId, accountId }: Holder,
  otp: string,
  contextFor: () => Promise<CommandContext>,
): Promise<SignInMethod | undefined> {
  const authenticator = await authenticatorOf(deps, personId);
  if (authenticator === undefined) return undefined;
  const of = { personId, accountId };
  const use = async (command: PersonCommand): Promise<boolean> =>
    (await deps.actors.send(personAggregate, personId, command, await contextFor())).accepted;
  const codeHash = recoveryCodeHash(otp);
  if (authenticator.recoveryCodes.includes(codeHash)) {
    const isTaken = await use({ type: 'UseRecoveryCode', ...of, codeHash });
    return isTaken ? 'recovery_code' : undefined;
  }
  const secret = await unlessErased(deps.vault.unsealExactly(personId, authenticator.secret));
  const { time } = (await contextFor()).metadata;
  const step = secret === undefined ? undefined : stepOf(secret, otp, time);
  // Judged again where it is recorded: another node may take the same code at this moment.
  if (step === undefined || step <= authenticator.step) return undefined;
  return (await use({ type: 'UseSecondFactor', ...of, step })) ? 'otp' : undefined;
}

/** Makes other recovery codes: those from before are worth nothing. @throws {ServiceError} `not_found` */
export async function renewRecoveryCodes(
  deps: Dependencies,
  { personId, accountId }: Holder,
  context: CommandContext,
): Promise<readonly string[]> {
  const codes = newCodes();
  const recoveryCodes = codes.map(recoveryCodeHash);
  const command = { type: 'RenewRecoveryCodes', personId, accountId, recoveryCodes } as const;
  await sendToPerson(deps, command, context);
  return codes;
}

/** @throws {ServiceError} `not_found` */
export async function removeAuthenticator(
  deps: Dependencies,
  { personId, accountId }: Holder,
  context: CommandContext,
): Promise<void> {
  await sendToPerson(deps, { type: 'RemoveSecondFactor', personId, accountId }, context);
}

/**
 * Removes a second factor that was lost, passkeys too, for the operator. Each account that the person belongs to has it in its history
 * before it is done: an operator cannot act unseen.
 * @param contextFor makes the context of one command, whose texts are sealed with the key of the owner
 * @throws {ServiceError} `not_found`
 */
export async function removeLostAuthenticator(
  deps: Dependencies & ReadDependencies,
  { personId }: Pick<Login, 'personId'>,
  contextFor: (owner: string) => Promise<CommandContext>,
): Promise<void> {
  const { authenticator, passkeys } = await secondFactorOf(deps, personId);
  if (authenticator === undefined && Object.keys(passkeys).length === 0) {
    throw new ServiceError('not_found', 'The person has no second factor.');
  }
  for (const { accountId } of await openMemberships(deps, personId)) {
    const command = { type: 'RecordSecondFactorRemoval', accountId, personId } as const;
    await sendToAccount(deps, command, await contextFor(accountId));
  }
  const commands: readonly PersonCommand[] = [
    ...(authenticator === undefined ? [] : [{ type: 'RemoveSecondFactor', personId } as const]),
    ...Object.keys(passkeys).map(
      (passkeyId) => ({ type: 'RemovePasskey', personId, passkeyId }) as const,
    ),
  ];
  for (const command of commands) await sendToPerson(deps, command, await contextFor(personId));
}
