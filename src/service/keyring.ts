/** Opens the keyring beside the documents, and refuses a foreign or lost one. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { FILE_RECHECK_MS, FileKeyRecords, fileKeyring } from '../documents/keys/file-records.ts';
import { KeyringIdentity } from '../documents/keys/identity.ts';
import { loadMasterKey } from '../documents/keys/master-key.ts';
import { type Keyring, KeyringGone, type ListedKeyRecords } from '../documents/keys/port.ts';
import { missingKeyring, openSharedKeyring, refuseRewrap } from '../documents/keys/records.ts';
import { lastingKeys } from '../documents/keys/rewrap.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { EventStore } from '../event-store/port.ts';
import type { NatsLink } from '../nats/connection.ts';
import { isDirectory, openDirectory } from './directories.ts';
import { needed, openS3, type Surroundings } from './stores.ts';

/** The place of a keyring that nodes share, in words. */
export const SHARED_PLACE = 'the place that BLOB_STORE_URL names';

export interface OpenedKeyring {
  readonly keyring: Keyring;
  readonly keyringIdentity: KeyringIdentity;
  readonly masterKey: Buffer;
  /** The key for a purpose: it stays where the log holds what it made, and follows from the master key elsewhere. */
  readonly keyFor: (purpose: string) => Buffer;
}

/**
 * The keyring lies where the blobs do: a node's own data directory then holds nothing that matters.
 * @throws {Error} one line: there is none beside a log with events, or it is another log's
 */
export async function openKeyring(around: Surroundings, store: EventStore): Promise<OpenedKeyring> {
  const { blobStoreUrl } = around.config;
  const opened = await (blobStoreUrl === undefined
    ? openOwnKeyring(around.config, store)
    : openKeyringBesideBlobs(around, blobStoreUrl, store));
  const { keyringIdentity } = opened;
  // The order matters: a log is on disk before a keyring is bound to it.
  const owner = await keyringIdentity.log();
  if (owner !== undefined && (await store.head()) === 0n) {
    throw new Error(
      `The keyring in ${keyringIdentity.place} belongs to the event log ${owner}, and this event log is empty: ` +
        'set EVENT_STORE_URL and DATA_DIR to that log or restore it from a backup; to begin another, set ' +
        `${blobStoreUrl === undefined ? 'DATA_DIR' : 'BLOB_STORE_URL'} to a place without a keyring.`,
    );
  }
  around.openings.add({ unhealthyReason: () => keyringFault(keyringIdentity, around.nats) });
  return opened;
}

async function keyringFault(
  identity: KeyringIdentity,
  nats: NatsLink | undefined,
): Promise<string | undefined> {
  // The outage of NATS is reported elsewhere. To ask it would only take time.
  if (nats?.isUp() === false) return undefined;
  try {
    await identity.id();
    return undefined;
  } catch (error) {
    if (error instanceof KeyringGone) return `the keyring is gone: ${error.message}`;
    return `the keyring cannot be read: ${errorMessage(error)}`;
  }
}

async function openOwnKeyring({ dataDir, masterKey: given }: Config, store: EventStore) {
  const directory = join(dataDir, 'keyring');
  // Checked before anything is made: a keyring that is missing beside events is a lost one or another node's.
  if (!holdsKeyring(directory) && (await store.head()) !== 0n) {
    throw new Error(missingKeyring(directory));
  }
  if (isDirectory(directory)) await refuseRewrap(new FileKeyRecords(directory), directory);
  const masterKey = loadMasterKey(dataDir, given);
  const keyring = fileKeyring(directory, masterKey);
  const records = new FileKeyRecords(directory);
  const keyringIdentity = await KeyringIdentity.open(records, directory);
  return { keyring, masterKey, keyringIdentity, keyFor: await lastingKeys(records, masterKey) };
}

export const holdsKeyring = (directory: string): boolean =>
  isDirectory(directory) && readdirSync(directory).length > 0;

async function openKeyringBesideBlobs(
  around: Surroundings,
  place: NonNullable<Config['blobStoreUrl']>,
  store: EventStore,
) {
  const masterKey = needed('MASTER_KEY', around.config.masterKey);
  const create = (await store.head()) === 0n;
  const { records, recheckMs } = await openKeyRecords(around, place, create);
  await refuseRewrap(records, SHARED_PLACE);
  const keyring = await openSharedKeyring(records, masterKey, { create, recheckMs });
  const keyringIdentity = await KeyringIdentity.open(records, SHARED_PLACE);
  return { keyring, masterKey, keyringIdentity, keyFor: await lastingKeys(records, masterKey) };
}

/** @param create allows a new place for them where there is none */
export async function openKeyRecords(
  around: Surroundings,
  place: NonNullable<Config['blobStoreUrl']>,
  create: boolean,
): Promise<{ readonly records: ListedKeyRecords; readonly recheckMs: number }> {
  if (place.kind === 'folder') {
    const directory = join(place.path, 'keyring');
    if (!create && !isDirectory(directory)) throw new Error(missingKeyring(directory));
    openDirectory('BLOB_STORE_URL', place.path);
    return { records: new FileKeyRecords(directory), recheckMs: FILE_RECHECK_MS };
  }
  if (place.kind === 'nats') {
    const { NatsKeyRecords, NATS_RECHECK_MS } = await import('../documents/keys/nats-records.ts');
    const { connection, namespace, ifUp } = needed('NATS_URL', around.nats);
    const bucket = `${namespace}-keys`;
    const records = await NatsKeyRecords.open(connection, { create, bucket, ifUp });
    return { records, recheckMs: NATS_RECHECK_MS };
  }
  const { S3KeyRecords, S3_RECHECK_MS } = await import('../documents/keys/s3-records.ts');
  const objects = await openS3(around, place.url, 'keyring/');
  return { records: await S3KeyRecords.open(objects), recheckMs: S3_RECHECK_MS };
}
