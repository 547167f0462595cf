/** Opens the event store, the blob store, and the keyring beside it. */
import { constants, existsSync, readdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { allProjections } from '../../projections/all.ts';
import { isAbandoned } from '../blob-store/writer.ts';
import { EmbeddedBlobStore } from '../blob-store/embedded.ts';
import { FileBlobStore } from '../blob-store/files.ts';
import { temporaryName, writeDurably } from '../blob-store/durable-file.ts';
import type { BlobStore } from '../blob-store/port.ts';
import { type Config, ConfigError } from '../config.ts';
import type { CopyableEventStore, EventStore } from '../event-store/port.ts';
import { SqliteEventStore } from '../event-store/sqlite/store.ts';
import { readIfThere, removeTemporary } from '../keyring/durable-file.ts';
import { FileKeyRecords, FILE_RECHECK_MS } from '../keyring/file-records.ts';
import { FileKeyring } from '../keyring/file.ts';
import { KeyringIdentity } from '../keyring/identity.ts';
import { loadMasterKey } from '../keyring/master-key.ts';
import { type Keyring, KeyringGone } from '../keyring/port.ts';
import { type ListedKeyRecords, missingKeyring } from '../keyring/records.ts';
import type { Logger } from '../log.ts';
import type { NatsLink } from '../nats/connection.ts';
import { errorMessage } from '../error-message.ts';
import type { ReadModelOptions } from '../read-model/database.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../sqlite/database.ts';
import { openEmbeddedReadOnly } from '../sqlite/read-only.ts';
import type { LastCheckpoint } from '../use-cases/checkpoint-signer.ts';
import {
  checkDirectory,
  isDirectory,
  isMissing,
  makeDirectory,
  openDirectory,
} from './directories.ts';
import type { Openings } from './openings.ts';

/** The settings of a process, and what it has opened so far. */
export interface Surroundings {
  readonly config: Config;
  readonly logger: Logger;
  readonly openings: Openings;
  readonly nats: NatsLink | undefined;
}

/**
 * The store, and the database that it may share with others of the same data directory.
 * @param mode `create`: makes an empty one where there is none; `copy`: also opens what a barrier keeps services off;
 * `read`: changes nothing on this machine
 */
export async function openEventStore(
  around: Surroundings,
  mode: 'create' | 'open' | 'copy' | 'read',
): Promise<OpenedEventStore> {
  const opened = await openAnyEventStore(around, mode);
  if (mode === 'create' || mode === 'open') await refuseBarrier(opened.store);
  return opened;
}

export interface OpenedEventStore {
  readonly store: CopyableEventStore;
  /** The file of an embedded one. */
  readonly database?: EmbeddedDatabase;
}

/** @throws {Error} one line: no service may work on this log */
async function refuseBarrier(store: CopyableEventStore): Promise<void> {
  const barrier = await store.barrier();
  if (barrier === undefined) return;
  const { kind, subject } = barrier;
  throw new Error(
    kind === 'moved'
      ? `This log was moved to ${subject} and goes on there: start with the settings of that place. ` +
          "('pressledger move --cancel' takes the move back, before anything was started there.)"
      : `The event store holds a copy of ${subject} that is not complete: repeat the command that made it ` +
          "('pressledger log import', 'pressledger restore' or 'pressledger move') until it ends.",
  );
}

async function openAnyEventStore(
  { config, logger, openings }: Surroundings,
  mode: 'create' | 'open' | 'copy' | 'read',
): Promise<OpenedEventStore> {
  const { eventStoreUrl, dataDir } = config;
  if (eventStoreUrl !== undefined) {
    const { openKurrentDb } = await import('../event-store/kurrentdb/store.ts');
    const store = await openKurrentDb(eventStoreUrl, { logger });
    openings.add({
      unhealthyReason: async () => {
        const answers = store.head().then(
          () => true,
          () => false,
        );
        return (await answers) ? undefined : 'the event store does not answer';
      },
      close: () => store.close(),
    });
    if (mode !== 'read') openDirectory('DATA_DIR', dataDir);
    return { store };
  }
  const file = join(dataDir, 'pressledger.db');
  if ((mode === 'open' || mode === 'read') && isMissing(file)) {
    throw new Error(
      `There is no store in ${dataDir}: set DATA_DIR to the directory of the service, or make ` +
        "one with 'pressledger account create' or 'pressledger start'.",
    );
  }
  if (mode !== 'read') openDirectory('DATA_DIR', dataDir);
  const database = mode === 'read' ? openEmbeddedReadOnly(file) : openEmbeddedDatabase(file);
  const store = new SqliteEventStore(database);
  openings.add({
    unhealthyReason: async () => {
      const failure = database.failure();
      return failure === undefined ? undefined : `the event store takes no writes: ${failure}`;
    },
    close: async () => {
      await store.close();
      database.close();
    },
  });
  return { store, database };
}

const unusable = (reason: unknown): string =>
  `the blob store cannot be used: ${errorMessage(reason)}`;

/** @param database of the event store, where it is embedded */
export async function openBlobs(
  around: Surroundings,
  side: 'api' | 'renderer' | 'reader',
  database?: EmbeddedDatabase,
): Promise<BlobStore> {
  const { config, openings, nats } = around;
  const { blobStoreUrl: place } = config;
  const openFiles = async (directory: string): Promise<FileBlobStore> =>
    side === 'reader' ? FileBlobStore.readOnly(directory) : await FileBlobStore.open(directory);
  if (place === undefined) {
    const files = await openFiles(join(config.dataDir, 'blobs'));
    return database === undefined ? files : new EmbeddedBlobStore(database, files);
  }
  if (place.kind === 'folder') {
    const directory = join(place.path, 'blobs');
    if (side === 'renderer' && !existsSync(directory)) throw missingFolder(directory);
    if (side === 'reader') return await openFiles(directory);
    // A renderer may be given the blobs alone, without the keys beside them.
    openDirectory('BLOB_STORE_URL', side === 'api' ? place.path : directory);
    openings.add({
      unhealthyReason: () => access(directory, constants.W_OK).then(() => undefined, unusable),
    });
    return await openFiles(directory);
  }
  const { ObjectBlobStore } = await import('../blob-store/remote.ts');
  const objects =
    place.kind === 's3' ? await openS3(around, place.url, 'blobs/') : await openNatsObjects(nats);
  await objects.checkUsable();
  const blobs = new ObjectBlobStore(objects, { triesWrites: side === 'api' });
  openings.add({
    unhealthyReason: async () => {
      // The outage of NATS is reported elsewhere. To ask the blob store would only take time.
      if (place.kind === 'nats' && nats?.isUp() === false) return undefined;
      const failure = await blobs.failure();
      return failure === undefined ? undefined : unusable(failure);
    },
  });
  return blobs;
}

/** Says beforehand what the folder of BLOB_STORE_URL lacks. @throws {Error} one line */
export function checkBlobFolder(path: string, side: 'api' | 'renderer'): void {
  const directory = join(path, 'blobs');
  if (side === 'api') checkDirectory('BLOB_STORE_URL', path);
  else if (!existsSync(directory)) throw missingFolder(directory);
  if (existsSync(directory)) checkDirectory('BLOB_STORE_URL', directory);
}

const missingFolder = (directory: string): Error =>
  new Error(
    `There is no ${directory}: BLOB_STORE_URL names a folder that all nodes share, and an api node, ` +
      'which is started first, makes it.',
  );

async function openNatsObjects(nats: NatsLink | undefined) {
  const { NatsObjects } = await import('../blob-store/nats-objects.ts');
  const { connection, namespace } = needed('NATS_URL', nats);
  return new NatsObjects(connection, { bucket: `${namespace}-blobs` });
}

/**
 * @param name of what the URL was given as, for messages
 * @throws {ConfigError}
 */
export async function openS3(
  { config, openings }: Pick<Surroundings, 'config' | 'openings'>,
  url: string,
  folder: string,
  name = 'BLOB_STORE_URL',
) {
  const [{ S3Bucket }, { parseS3Url }, { S3Objects }] = await Promise.all([
    import('../blob-store/s3-bucket.ts'),
    import('../blob-store/s3-location.ts'),
    import('../blob-store/s3-objects.ts'),
  ]);
  const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken: token } = config;
  const credentials = {
    accessKeyId: needed('AWS_ACCESS_KEY_ID', awsAccessKeyId),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY', awsSecretAccessKey),
  };
  const bucket = new S3Bucket(
    parseS3Url(url, name),
    token === undefined ? credentials : { ...credentials, sessionToken: token },
  );
  openings.add({ close: async () => bucket.close() });
  return new S3Objects(bucket, folder, name);
}

/**
 * A setting that others need, which `readConfig` has checked for every role.
 * @throws {ConfigError} it was not checked
 */
function needed<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new ConfigError(`${name} is needed.`);
  return value;
}

export interface OpenedKeyring {
  readonly keyring: Keyring;
  readonly keyringIdentity: KeyringIdentity;
  readonly masterKey: Buffer;
}

/**
 * The keyring lies where the blobs do: a node's own data directory then holds nothing that matters.
 * @throws {Error} one line: there is none beside a log with events, or it is another log's
 */
export async function openKeyring(around: Surroundings, store: EventStore): Promise<OpenedKeyring> {
  const { blobStoreUrl } = around.config;
  const opened = await (blobStoreUrl === undefined
    ? openOwnKeyring(around.config, store)
    : openSharedKeyring(around, blobStoreUrl, store));
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
  const masterKey = loadMasterKey(dataDir, given);
  const keyring = new FileKeyring(directory, masterKey);
  const records = new FileKeyRecords(directory);
  return { keyring, masterKey, keyringIdentity: await KeyringIdentity.open(records, directory) };
}

const holdsKeyring = (directory: string): boolean =>
  isDirectory(directory) && readdirSync(directory).length > 0;

async function openSharedKeyring(
  around: Surroundings,
  place: NonNullable<Config['blobStoreUrl']>,
  store: EventStore,
) {
  const masterKey = needed('MASTER_KEY', around.config.masterKey);
  const { RemoteKeyring } = await import('../keyring/remote.ts');
  const create = (await store.head()) === 0n;
  const { records, recheckMs } = await openKeyRecords(around, place, create);
  const keyring = await RemoteKeyring.open(records, masterKey, { create, recheckMs });
  const keyringIdentity = await KeyringIdentity.open(
    records,
    'the place that BLOB_STORE_URL names',
  );
  return { keyring, masterKey, keyringIdentity };
}

/** @param create allows a new place for them where there is none */
export async function openKeyRecords(
  around: Surroundings,
  place: NonNullable<Config['blobStoreUrl']>,
  create: boolean,
): Promise<{ records: ListedKeyRecords; recheckMs: number }> {
  if (place.kind === 'folder') {
    const directory = join(place.path, 'keyring');
    if (!create && !isDirectory(directory)) throw new Error(missingKeyring(directory));
    openDirectory('BLOB_STORE_URL', place.path);
    return { records: new FileKeyRecords(directory), recheckMs: FILE_RECHECK_MS };
  }
  if (place.kind === 'nats') {
    const { NatsKeyRecords, NATS_RECHECK_MS } = await import('../keyring/nats-records.ts');
    const { connection, namespace } = needed('NATS_URL', around.nats);
    const bucket = `${namespace}-keys`;
    const records = await NatsKeyRecords.open(connection, { create, bucket });
    return { records, recheckMs: NATS_RECHECK_MS };
  }
  const { S3KeyRecords, S3_RECHECK_MS } = await import('../keyring/s3-records.ts');
  const objects = await openS3(around, place.url, 'keyring/');
  return { records: await S3KeyRecords.open(objects), recheckMs: S3_RECHECK_MS };
}

/** The read models of the data directory. */
export const readModelOf = ({ dataDir }: Config, logger: Logger): ReadModelOptions => ({
  directory: join(dataDir, 'read-model'),
  projections: allProjections,
  logger,
});

export const lastCheckpointPath = (dataDir: string): string =>
  join(dataDir, 'transparency-log', 'last-checkpoint');

/** The checkpoint that this node signed or saw last. It is no part of the log, nor of copies of it. */
export function openLastCheckpoint(dataDir: string): LastCheckpoint {
  const path = lastCheckpointPath(dataDir);
  makeDirectory(dirname(path));
  removeTemporary(path, isAbandoned);
  return {
    path,
    read: () => readIfThere(path),
    write: (note) => writeDurably(path, `${path}.${temporaryName()}.tmp`, Buffer.from(note)),
  };
}
