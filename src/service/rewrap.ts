/** Opens the keyring of the settings for a change of its master key. */
import { join } from 'node:path';
import { type Config, ConfigError, type Environment } from '../config/config.ts';
import { key32, UnusableValue } from '../config/setting-parsers.ts';
import { KeyringIdentity } from '../documents/keys/identity.ts';
import {
  findMasterKey,
  fingerprintOf,
  MASTER_CHECK,
  masterKeysIn,
  nextMasterKey,
  replaceMasterKey,
} from '../documents/keys/master-key.ts';
import type { KeyRecords } from '../documents/keys/port.ts';
import { findKeyring, REWRAP_RECORD } from '../documents/keys/records.ts';
import { endRewrap, type MasterKeyChange, rewrapKeys } from '../documents/keys/rewrap.ts';
import { LOG_ID, logAggregate } from '../domain/log.ts';
import { isNatsLeaseHeld } from '../leader/nats-lease.ts';
import { checkKeyring } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { systemClock } from '../time/clock.ts';
import { openActors, openEventStore } from './event-store.ts';
import { findRecords } from './keyring.ts';
import { keepServicesOff } from './move.ts';
import { open, type Surroundings } from './open.ts';

/** A variable of this command alone: a secret does not belong on a command line, and no service reads it. */
const NEW_KEY = 'NEW_MASTER_KEY';
const REMEDY = 'stop every node, then repeat';

export interface KeyringChange {
  /** An absolute path. */
  readonly dataDir: string;
  /** The file that the new master key lies in, where no setting has it. */
  readonly masterKeyFile?: string;
  /** Can be killed and called again, with the same keys. @returns the number of data keys */
  readonly rewrap: (onKeys: (done: number, total: number) => void) => Promise<number>;
  close(): Promise<void>;
}

/** @throws {Error} one line that names the file, server or setting and the remedy; nothing was changed */
export async function openKeyringChange(
  config: Config,
  env: Environment,
  logger: Logger,
): Promise<KeyringChange> {
  const given = newKeyIn(env);
  return await open(config, logger, 'api', async (around) => {
    const { blobStoreUrl, dataDir } = config;
    const { store } = await openEventStore(around, { write: true, serve: true });
    await refuseRunning(around);
    const { records, place, missing } = await findRecords(around, { write: true });
    if (records === undefined) throw new Error(missing);
    const keys = await keysOf(config, given, { read: (name) => records.read(name), missing });
    const actors = openActors(around, store);
    const identity = await KeyringIdentity.open(records, place);
    await checkKeyring({ actors, store, clock: systemClock }, identity, { create: false });
    const { state } = await actors.read(logAggregate, LOG_ID);
    const generations = state.keys.map(({ generation }) => generation);
    const isOwn =
      blobStoreUrl === undefined && masterKeysIn(dataDir).some((key) => key.equals(keys.to));
    return {
      dataDir,
      ...(isOwn && { masterKeyFile: join(dataDir, 'master.key') }),
      rewrap: async (onKeys) => {
        const wrapped = await rewrapKeys(records, { ...keys, generations, onKeys });
        if (blobStoreUrl === undefined) replaceMasterKey(dataDir, keys.to);
        await endRewrap(records);
        return wrapped;
      },
    };
  });
}

/** @throws {ConfigError} it cannot be used */
function newKeyIn(env: Environment): Buffer | undefined {
  const value = env[NEW_KEY];
  if (value === undefined || value === '') return undefined;
  try {
    return key32(value);
  } catch (error) {
    if (error instanceof UnusableValue) throw new ConfigError(`${NEW_KEY} ${error.message}`);
    throw error;
  }
}

/** A service that runs would wrap the keys of new accounts with the old master key. */
async function refuseRunning({ config, nats, openings }: Surroundings): Promise<void> {
  if (nats === undefined) return await keepServicesOff(config.dataDir, openings, REMEDY);
  if ((await isNatsLeaseHeld(nats)) === false) return;
  throw new Error(
    `An API node runs on this keyring, or one was killed a moment ago (NATS holds the lease of a leader): ${REMEDY}.`,
  );
}

/**
 * Returns the key that the keyring has and the one that it gets; for a change that was cut off, the same two again.
 * @param given the value of NEW_MASTER_KEY
 */
async function keysOf(
  { blobStoreUrl, dataDir, masterKey }: Config,
  given: Buffer | undefined,
  records: Pick<KeyRecords, 'read'> & { readonly missing: string },
): Promise<Pick<MasterKeyChange, 'from' | 'to'>> {
  const kept = blobStoreUrl === undefined ? masterKeysIn(dataDir) : [];
  let begun = await records.read(REWRAP_RECORD);
  if (begun !== undefined) {
    // A kill can leave it half overwritten, when all else is done.
    if (!/^[0-9a-f]{64}$/.test(begun)) begun = await records.read(MASTER_CHECK);
    const known = [given, masterKey, ...kept].filter((key) => key !== undefined);
    const to = known.find((key) => fingerprintOf(key) === begun);
    const from = [masterKey, ...kept].find(
      (key) => key !== undefined && fingerprintOf(key) !== begun,
    );
    if (to !== undefined) return { from, to };
    throw new Error(
      `A change to another new master key was begun and has not ended: set ${NEW_KEY} to that one, and MASTER_KEY as before.`,
    );
  }
  const from = blobStoreUrl === undefined ? findMasterKey(dataDir, masterKey) : masterKey;
  if (from === undefined)
    throw new Error('MASTER_KEY is needed: set it to the one of the keyring.');
  if (blobStoreUrl !== undefined && !(await findKeyring(records, from))) {
    throw new Error(records.missing);
  }
  if (given === undefined && (masterKey !== undefined || blobStoreUrl !== undefined)) {
    throw new ConfigError(
      `${NEW_KEY} is needed: set it to 32 new random bytes, in hex or base64 (openssl rand -hex 32).`,
    );
  }
  const to = given ?? nextMasterKey(dataDir);
  if (!to.equals(from)) return { from, to };
  throw new ConfigError(`${NEW_KEY} is the master key in use: set it to another one.`);
}
