/** Opens the keyring beside the documents, and refuses a foreign or lost one. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_RECHECK_MS, FileKeyRecords, fileKeyring } from '../documents/keys/file-records.ts';
import { KeyringIdentity } from '../documents/keys/identity.ts';
import { loadMasterKey } from '../documents/keys/master-key.ts';
import { type Keyring, KeyringGone, type ListedKeyRecords } from '../documents/keys/port.ts';
import { missingKeyring, openSharedKeyring, refuseRewrap } from '../documents/keys/records.ts';
import { lastingKeys } from '../documents/keys/rewrap.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { EventStore } from '../event-store/port.ts';
import type { NatsLink } from '../nats/connection.ts';
import { needed, openS3 } from './blobs.ts';
import { isDirectory, openDirectory } from './directories.ts';
import type { Surroundings } from './open.ts';

/** The place of a keyring that nodes share, in words. */
const SHARED_PLACE = 'the place that BLOB_STORE_URL names';

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
  const { blobStoreUrl, dataDir, masterKey: given } = around.config;
  const isNew = (await store.head()) === 0n;
  // Checked before anything is made: a keyring that is missing beside events is a lost one or another node's.
  const { records, recheckMs, place } = await openKeyRecords(around, {
    create: isNew,
    write: true,
  });
  const masterKey =
    blobStoreUrl === undefined ? loadMasterKey(dataDir, given) : needed('MASTER_KEY', given);
  const keyring =
    blobStoreUrl === undefined
      ? fileKeyring(place, masterKey)
      : await openSharedKeyring(records, masterKey, { create: isNew, recheckMs });
  const keyringIdentity = await KeyringIdentity.open(records, place);
  // The order matters: a log is on disk before a keyring is bound to it.
  const owner = await keyringIdentity.log();
  // Another process may have begun the log since the look above.
  if (owner !== undefined && isNew && (await store.head()) === 0n) {
    throw new Error(
      `The keyring in ${keyringIdentity.place} belongs to the event log ${owner}, and this event log is empty: ` +
        'set EVENT_STORE_URL and DATA_DIR to that log or restore it from a backup; to begin another, set ' +
        `${blobStoreUrl === undefined ? 'DATA_DIR' : 'BLOB_STORE_URL'} to a place without a keyring.`,
    );
  }
  around.openings.add({ unhealthyReason: () => keyringFault(keyringIdentity, around.nats) });
  return { keyring, masterKey, keyringIdentity, keyFor: await lastingKeys(records, masterKey) };
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

/** The place of a keyring's records. */
export interface KeyPlace {
  /** Undefined if there is no keyring, and none is made. */
  readonly records: ListedKeyRecords | undefined;
  /** Milliseconds that a key in memory is used before its tombstone is looked for again. */
  readonly recheckMs: number;
  /** The place as its operator knows it. */
  readonly place: string;
  /** What to say where a keyring is missing. */
  readonly missing: string;
}

/** `create`: makes a place for a keyring where there is none. `write`: allows changes, and removes what a kill has left. */
interface KeyMode {
  readonly create?: boolean;
  readonly write?: true;
}

/**
 * Finds the keyring of the settings.
 * @throws {Error} one line: it cannot be read, or its master key is being changed
 */
export async function findKeyRecords(around: Surroundings, mode: KeyMode): Promise<KeyPlace> {
  const found = await findRecords(around, mode);
  if (found.records) await refuseRewrap(found.records, found.place);
  return found;
}

/** As `findKeyRecords`. @throws {Error} one line: there is no keyring, too */
export async function openKeyRecords(
  around: Surroundings,
  mode: KeyMode,
): Promise<KeyPlace & { readonly records: ListedKeyRecords }> {
  const { records, ...found } = await findKeyRecords(around, mode);
  if (records === undefined) throw new Error(found.missing);
  return { ...found, records };
}

/** As `findKeyRecords`, also while the master key is being changed. */
export async function findRecords(
  around: Surroundings,
  { create = false, write }: KeyMode,
): Promise<KeyPlace> {
  const { blobStoreUrl: url, dataDir } = around.config;
  if (url === undefined || url.kind === 'folder') {
    const directory = join(url === undefined ? dataDir : url.path, 'keyring');
    if (url !== undefined) openDirectory('BLOB_STORE_URL', url.path, { create });
    return {
      records:
        create || holdsKeyring(directory)
          ? new FileKeyRecords(directory, { write: create || write === true })
          : undefined,
      recheckMs: FILE_RECHECK_MS,
      place: url === undefined ? directory : SHARED_PLACE,
      missing: missingKeyring(directory),
    };
  }
  const shared = { place: SHARED_PLACE, missing: missingKeyring(SHARED_PLACE) };
  if (url.kind === 'nats') {
    const { NatsKeyRecords, NATS_RECHECK_MS } = await import('../documents/keys/nats-records.ts');
    const { connection, namespace, replicas, ifUp } = needed('NATS_URL', around.nats);
    const options = { bucket: `${namespace}-keys`, replicas, ifUp };
    const records = create
      ? await NatsKeyRecords.open(connection, { ...options, create })
      : await NatsKeyRecords.find(connection, options);
    return { ...shared, records, recheckMs: NATS_RECHECK_MS };
  }
  const { S3KeyRecords, S3_RECHECK_MS } = await import('../documents/keys/s3-records.ts');
  const objects = await openS3(around, url.url, 'keyring/');
  return { ...shared, records: await S3KeyRecords.open(objects), recheckMs: S3_RECHECK_MS };
}

const holdsKeyring = (directory: string): boolean =>
  isDirectory(directory) && readdirSync(directory).length > 0;
