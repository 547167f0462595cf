/** The passkeys of people: adding, showing, renaming, removing, and judging what they sign. */
import { createHmac } from 'node:crypto';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import type { Passkey } from '../domain/passkeys.ts';
import { personAggregate } from '../domain/person.ts';
import type { PersonCommand } from '../domain/person-commands.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { type Clock, isoTime } from '../time/clock.ts';
import { passkeyIdOf, tokenHashOf } from '../time/ids.ts';
import { nameOfPerson } from './members.ts';
import {
  type Assertion,
  challengeIn,
  judgeChallenge,
  PURPOSES,
  type Registration,
  type RelyingParty,
  verifiedCounter,
  verifiedRegistration,
} from './passkey-ceremonies.ts';

export interface PasskeyDependencies {
  readonly actors: ActorSystem;
  readonly vault: Pick<Vault, 'seal' | 'unseal' | 'unsealExactly' | 'makeKey'>;
  readonly addressKey: Buffer;
  readonly clock: Clock;
}

/** Finds a passkey without an index that may lag, and tells nothing of its credential. */
const idOf = ({ addressKey }: Pick<PasskeyDependencies, 'addressKey'>, credential: string) =>
  passkeyIdOf(
    createHmac('sha256', addressKey)
      .update('passkey\0')
      .update(Buffer.from(credential, 'base64url'))
      .digest(),
  );

/** A passkey as its person sees it. */
async function passkeyRecord(
  { vault }: Pick<PasskeyDependencies, 'vault'>,
  personId: string,
  [id, { name, addedAt, lastUsedAt }]: readonly [string, Passkey],
) {
  return {
    id,
    name: await vault.unseal(personId, name),
    created_at: isoTime(addedAt),
    last_used_at: lastUsedAt === undefined ? null : isoTime(lastUsedAt),
  };
}

const passkeysIn = async ({ actors }: Pick<PasskeyDependencies, 'actors'>, personId: string) =>
  (await actors.read(personAggregate, personId)).state.passkeys;

/** The person's passkeys, in the order in which they were added. */
export async function passkeyRecords(deps: PasskeyDependencies, personId: string) {
  const all = Object.entries(await passkeysIn(deps, personId));
  return await Promise.all(all.map((each) => passkeyRecord(deps, personId, each)));
}

/** The ids under which browsers and security keys know the person's passkeys. */
export async function credentialsOf(
  deps: PasskeyDependencies,
  personId: string,
): Promise<readonly string[]> {
  const all = Object.values(await passkeysIn(deps, personId));
  return await Promise.all(
    all.map(({ credential }) => deps.vault.unsealExactly(personId, credential)),
  );
}

/** Somebody who is signed in. */
interface Holder {
  readonly personId: string;
  readonly accountId: string;
  readonly sessionId: string;
}

const sendToPerson = async (
  { actors }: Pick<PasskeyDependencies, 'actors'>,
  command: PersonCommand,
  context: CommandContext,
) => orThrow(await actors.send(personAggregate, command.personId, command, context));

/** @throws {ServiceError} `not_found` */
async function recordOf(deps: PasskeyDependencies, personId: string, passkeyId: string) {
  const passkey = (await passkeysIn(deps, personId))[passkeyId];
  if (passkey === undefined) throw new ServiceError('not_found', 'There is no such passkey.');
  return await passkeyRecord(deps, personId, [passkeyId, passkey]);
}

const NOT_MADE =
  'This is not a passkey that was asked for here, in this session, in the last 5 minutes. Add it again.';

/** @throws {ServiceError} `validation_error` */
export async function addPasskey(
  deps: PasskeyDependencies,
  { personId, accountId, sessionId }: Holder,
  { name: given, registration }: { readonly name: string; readonly registration: Registration },
  party: RelyingParty,
  context: CommandContext,
) {
  const { vault, addressKey } = deps;
  const now = context.metadata.time;
  const name = nameOfPerson(given);
  const challenge = challengeIn(registration) ?? '';
  const isOurs = judgeChallenge(addressKey, PURPOSES.add(sessionId), challenge, now) === 'good';
  const made = isOurs && (await verifiedRegistration(party, registration, challenge));
  if (!made) throw fieldError('passkey', NOT_MADE);
  // Founders of older accounts have no key of their own yet.
  await vault.makeKey(personId);
  const seal = (text: string) => vault.seal(personId, text);
  const passkeyId = idOf(deps, made.credential);
  const command = {
    type: 'AddPasskey',
    personId,
    accountId,
    passkeyId,
    credential: await seal(made.credential),
    publicKey: await seal(made.publicKey),
    name: await seal(name),
    counter: made.counter,
    challenge: tokenHashOf(challenge),
    now,
  } as const;
  await sendToPerson(deps, command, context);
  return await recordOf(deps, personId, passkeyId);
}

interface OwnPasskey extends Pick<Holder, 'personId' | 'accountId'> {
  readonly passkeyId: string;
}

/** @throws {ServiceError} `not_found`, `validation_error` */
export async function renamePasskey(
  deps: PasskeyDependencies,
  own: OwnPasskey,
  given: string,
  context: CommandContext,
) {
  const name = await deps.vault.seal(own.personId, nameOfPerson(given));
  await sendToPerson(deps, { type: 'RenamePasskey', ...own, name }, context);
  return await recordOf(deps, own.personId, own.passkeyId);
}

/** It opens no session from then on; those that are open go on. @throws {ServiceError} `not_found` */
export async function removePasskey(
  deps: PasskeyDependencies,
  own: OwnPasskey,
  context: CommandContext,
): Promise<void> {
  await sendToPerson(deps, { type: 'RemovePasskey', ...own }, context);
}

/** A passkey that somebody presents for an act. */
export interface PresentedPasskey {
  readonly assertion: Assertion;
  readonly party: RelyingParty;
  /** One of `PURPOSES`. */
  readonly purpose: string;
}

/** Says that a signature came too late, which is not a wrong one. @throws {ServiceError} `unauthorized` */
export function assertInTime(
  { addressKey, clock }: Pick<PasskeyDependencies, 'addressKey' | 'clock'>,
  { assertion, purpose }: PresentedPasskey,
): void {
  const challenge = challengeIn(assertion) ?? '';
  if (judgeChallenge(addressKey, purpose, challenge, clock.now()) !== 'expired') return;
  throw new ServiceError('unauthorized', 'The passkey was asked for 5 minutes ago. Try again.');
}

/** The account that a passkey is used in, and the context of the event that says so. */
export interface PasskeyUse {
  readonly accountId: string;
  readonly context: CommandContext;
}

/**
 * Judges a signature, and records its use in the person's stream: so it is taken once, on whichever node. The caller
 * counts tries.
 * @param use undefined: it opens no account, and is not recorded
 */
export async function judgePasskey(
  deps: PasskeyDependencies,
  personId: string,
  { assertion, party, purpose }: PresentedPasskey,
  use: PasskeyUse | undefined,
): Promise<boolean> {
  const { actors, vault, addressKey, clock } = deps;
  const passkeyId = idOf(deps, assertion.id);
  const passkey = (await passkeysIn(deps, personId))[passkeyId];
  const challenge = challengeIn(assertion) ?? '';
  const now = clock.now();
  if (passkey === undefined) return false;
  if (judgeChallenge(addressKey, purpose, challenge, now) !== 'good') return false;
  const publicKey = await unlessErased(vault.unsealExactly(personId, passkey.publicKey));
  if (publicKey === undefined) return false;
  const counter = await verifiedCounter(party, assertion, publicKey, challenge);
  if (counter === undefined) return false;
  if (use === undefined) return true;
  const { accountId, context } = use;
  const signed = { passkeyId, counter, challenge: tokenHashOf(challenge), now };
  const command = { type: 'UsePasskey', personId, accountId, ...signed } as const;
  const outcome = await actors.send(personAggregate, personId, command, context);
  return outcome.accepted && outcome.events.some(({ type }) => type === 'PasskeyUsed');
}
