/** Opens the blob store of the settings. */
import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../config/config.ts';
import { EmbeddedBlobStore } from '../documents/embedded.ts';
import { FileBlobStore } from '../documents/files.ts';
import type { BlobStore } from '../documents/port.ts';
import { errorMessage } from '../errors/error-message.ts';
import { sometimes } from '../limits/bounds.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { EmbeddedDatabase } from '../sqlite/database.ts';
import { openDirectory } from './directories.ts';
import type { Surroundings } from './open.ts';

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
    if (side === 'reader') return await openFiles(join(place.path, 'blobs'));
    const directory = openBlobFolder(place.path, side);
    openings.add({
      unhealthyReason: () => access(directory, constants.W_OK).then(() => undefined, unusable),
    });
    return await openFiles(directory);
  }
  const { ObjectBlobStore } = await import('../documents/remote.ts');
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
    bound: {
      name: 'blob_store',
      reason: sometimes(async () => {
        const failure = await blobs.knownFailure();
        return failure === undefined ? undefined : unusable(failure);
      }),
    },
  });
  if (place.kind === 'nats') {
    openings.add({
      bound: {
        name: 'nats',
        reason: async () =>
          nats?.isUp() === false ? 'NATS is away, and documents lie there.' : undefined,
      },
    });
  }
  return blobs;
}

/**
 * Makes the folder of BLOB_STORE_URL where an API node finds none.
 * @param path the folder; documents lie in a directory below it
 * @param options `create`: false only says what would fail, and makes nothing
 * @returns the directory of the documents
 * @throws {Error} one line
 */
export function openBlobFolder(
  path: string,
  side: 'api' | 'renderer',
  { create } = { create: true },
): string {
  const directory = join(path, 'blobs');
  const isThere = existsSync(directory);
  if (side === 'api') openDirectory('BLOB_STORE_URL', path, { create });
  // A renderer may be given the documents alone, without the keys beside them.
  else if (!isThere) throw missingFolder(directory);
  if (isThere) openDirectory('BLOB_STORE_URL', directory, { create });
  return directory;
}

const missingFolder = (directory: string): Error =>
  new Error(
    `There is no ${directory}: BLOB_STORE_URL names a folder that all nodes share, and an api node, ` +
      'which is started first, makes it.',
  );

async function openNatsObjects(nats: NatsLink | undefined) {
  const { NatsObjects } = await import('../documents/nats-objects.ts');
  const { connection, namespace, replicas, ifUp } = needed('NATS_URL', nats);
  return new NatsObjects(connection, { bucket: `${namespace}-blobs`, replicas, ifUp });
}

/**
 * @param name of what the URL was given as, for messages
 * @throws {ConfigError}
 */
export async function openS3(
  { config, logger, openings }: Pick<Surroundings, 'config' | 'logger' | 'openings'>,
  url: string,
  folder: string,
  name = 'BLOB_STORE_URL',
) {
  const [{ S3Bucket }, { parseS3Url }, { S3Objects }] = await Promise.all([
    import('../documents/s3-bucket.ts'),
    import('../documents/s3-location.ts'),
    import('../documents/s3-objects.ts'),
  ]);
  const { awsAccessKeyId, awsSecretAccessKey, awsSessionToken: token } = config;
  const credentials = {
    accessKeyId: needed('AWS_ACCESS_KEY_ID', awsAccessKeyId),
    secretAccessKey: needed('AWS_SECRET_ACCESS_KEY', awsSecretAccessKey),
  };
  const location = parseS3Url(url, name);
  const bucket = new S3Bucket(
    location,
    token === undefined ? credentials : { ...credentials, sessionToken: token },
    undefined,
    openings.outage(`the bucket ${location.bucket}`, logger),
  );
  openings.add({ close: async () => bucket.close() });
  return new S3Objects(bucket, folder, name);
}

/**
 * A setting that others need, which `readConfig` has checked for every role.
 * @throws {ConfigError} it was not checked
 */
export function needed<T>(name: string, value: T | undefined): T {
  if (value === undefined) throw new ConfigError(`${name} is needed.`);
  return value;
}
