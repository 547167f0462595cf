/** Opens the places of backups, and the empty stores that a restore fills. */
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { KeyringSource } from '../archive/keyring-file.ts';
import { BackupBucket, DOCUMENTS_FOLDER, FILES_FOLDER } from '../archive/places/bucket.ts';
import { BackupFolder } from '../archive/places/folder.ts';
import type { BackupPlace } from '../archive/places/port.ts';
import type { RestoreTarget } from '../archive/restore.ts';
import { refuseUsedStore } from '../archive/store-copy.ts';
import type { KeyOpener } from '../archive/verify-keyring.ts';
import type { Config } from '../config/config.ts';
import {
  readIfThere,
  removeTemporary,
  temporaryName,
  writeDurably,
} from '../documents/durable-file.ts';
import {
  findMasterKey,
  fingerprintOf,
  loadMasterKey,
  MASTER_CHECK,
  masterKeysIn,
} from '../documents/keys/master-key.ts';
import type { ListedKeyRecords } from '../documents/keys/port.ts';
import { openSharedKeyring } from '../documents/keys/records.ts';
import { unwrapDataKey } from '../documents/keys/sealing.ts';
import { isAbandoned } from '../documents/writer.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import { systemClock } from '../time/clock.ts';
import { openBlobs, openS3 } from './blobs.ts';
import { isDirectory, openDirectory } from './directories.ts';
import { lacksEventStore, openActors, openEventStore } from './event-store.ts';
import { openKeyRecords } from './keyring.ts';
import { lastCheckpointPath } from './log.ts';
import { open, type Surroundings, whileOpen } from './open.ts';

/**
 * @param name a folder, or `s3://…` as in BLOB_STORE_URL
 * @param options `write`: makes a folder where there is none
 * @throws {Error} one line: it cannot be used
 */
export function openBackupPlace(
  name: string,
  config: Config,
  { write }: { readonly write: boolean },
): Promise<{ readonly place: BackupPlace; close(): Promise<void> }> {
  return open(config, createLogger('silent'), undefined, async (around) => {
    if (name.startsWith('s3://')) {
      const shown = name.replace(/\?.*$/s, '');
      const files = await openS3(around, name, FILES_FOLDER, shown);
      await files.checkUsable();
      const documents = await openS3(around, name, DOCUMENTS_FOLDER, shown);
      return { place: new BackupBucket(shown, files, documents) };
    }
    const path = resolve(name);
    if (write) {
      refuseUsed(path);
      openDirectory('The folder of the backup', path);
      return { place: await BackupFolder.open(path) };
    }
    if (!isDirectory(path)) throw new Error(`There is no folder ${name}.`);
    return { place: BackupFolder.readOnly(path) };
  });
}

/** @throws {Error} one line: something else than a backup lies there, which stays as it is */
function refuseUsed(path: string): void {
  if (!isDirectory(path) || existsSync(join(path, 'manifest.json'))) return;
  // A first call that was killed leaves nothing but its empty folders.
  if (readdirSync(path).every((name) => name === 'tmp' || name === 'documents')) return;
  throw new Error(`${path} holds something else than a backup: name an empty folder.`);
}

export interface OpenedKeyring {
  readonly keyring: KeyringSource;
  /** Tells the master key of the keyring from others. */
  readonly masterKey: string;
  /** The file of the master key, where no setting names it. */
  readonly masterKeyFile?: string;
  close(): Promise<void>;
}

/** The keyring of the settings. @throws {Error} one line: there is none, or the master key is another one */
export function openKeyringSource(config: Config, logger: Logger): Promise<OpenedKeyring> {
  return open(config, logger, 'documents', async (around) => {
    const { blobStoreUrl: place, dataDir, masterKey: given } = config;
    const { records: keyring, missing } = await openKeyRecords(around, {});
    const own = place === undefined ? findMasterKey(dataDir, given) : undefined;
    const masterKey =
      place === undefined ? own && fingerprintOf(own) : await keyring.read(MASTER_CHECK);
    if (masterKey === undefined) throw new Error(missing);
    const isInFile = place === undefined && given === undefined;
    return {
      keyring,
      masterKey,
      ...(isInFile && { masterKeyFile: join(dataDir, 'master.key') }),
    };
  });
}

/** The master key of the settings, if any: a backup is verified on machines without one, too. */
export function keyOpener({ dataDir, masterKey: given }: Config): KeyOpener | undefined {
  const masterKey = given ?? masterKeysIn(dataDir)[0];
  if (masterKey === undefined) return undefined;
  const opens = (accountId: string, wrapped: string): boolean => {
    try {
      return unwrapDataKey(masterKey, accountId, wrapped).length > 0;
    } catch {
      return false;
    }
  };
  return { masterKey: fingerprintOf(masterKey), opens };
}

export interface RestorePlace {
  /** Tells the master key of the settings from others. */
  readonly masterKey: string;
  /** The checkpoint that this node signed or saw last, where it lies in DATA_DIR. */
  readonly lastCheckpoint?: string;
  /** Looks at the event store and changes nothing. @throws {Error} one line: it holds a log */
  readonly refuseUsed: () => Promise<void>;
  /** Opens the stores, and closes them when `use` has ended. @throws {Error} one line: what is missing, or not empty */
  readonly withTarget: <T>(use: (target: RestoreTarget) => Promise<T>) => Promise<T>;
}

/** @throws {Error} one line: the master key is missing, or is not the one that DATA_DIR belongs to */
export function restorePlace(config: Config, logger: Logger): RestorePlace {
  const { blobStoreUrl: place, dataDir, masterKey: given } = config;
  const masterKey = place === undefined ? findMasterKey(dataDir, given) : given;
  if (masterKey === undefined) {
    throw new Error(
      `MASTER_KEY is needed: set it to the one that the keyring was wrapped with, or put its master.key into ${dataDir}.`,
    );
  }
  const lastCheckpoint = readIfThere(lastCheckpointPath(dataDir));
  return {
    masterKey: fingerprintOf(masterKey),
    ...(lastCheckpoint !== undefined && { lastCheckpoint }),
    refuseUsed: async () => {
      if (lacksEventStore(config)) return;
      await whileOpen(config, logger, undefined, async (around) =>
        refuseUsedStore((await openEventStore(around, {})).store),
      );
    },
    withTarget: (use) =>
      whileOpen(config, logger, 'documents', async (around) => {
        const { store, database } = await openEventStore(around, { create: true, write: true });
        const blobs = await openBlobs(around, 'api', database);
        const keys = await openTargetKeys(around, masterKey);
        const actors = openActors(around, store);
        return await use({
          store,
          blobs,
          keys,
          actors,
          clock: systemClock,
          forgetLastCheckpoint: () => rm(lastCheckpointPath(dataDir), { force: true }),
        });
      }),
  };
}

async function openTargetKeys(around: Surroundings, masterKey: Buffer): Promise<ListedKeyRecords> {
  const { blobStoreUrl, dataDir } = around.config;
  const { records, recheckMs } = await openKeyRecords(around, { create: true, write: true });
  // Both make the record that names the master key.
  if (blobStoreUrl === undefined) loadMasterKey(dataDir, masterKey);
  else await openSharedKeyring(records, masterKey, { create: true, recheckMs });
  return records;
}

/** Replaces the file as a whole; its owner alone may read it, and a folder that is made for it. */
export async function writeSecret(path: string, text: string): Promise<void> {
  const whole = resolve(path);
  const folder = dirname(whole);
  if (!isDirectory(folder)) openDirectory('The folder of the keyring', folder);
  if (isDirectory(whole)) throw new Error(`${whole} is a folder; name a file.`);
  // Files that a killed call left may hold the keys of accounts that were erased since.
  removeTemporary(`${whole}.`, isAbandoned);
  await writeDurably(whole, `${whole}.${temporaryName()}.tmp`, Buffer.from(text));
}
