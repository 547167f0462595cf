import { existsSync } from 'node:fs';
import { EmbeddedBlobStore } from '../../blob-store/embedded.ts';
import { FileBlobStore } from '../../blob-store/files.ts';
import type { BlobStore } from '../../blob-store/port.ts';
import type { Config } from '../../config.ts';
import type { BlobRef } from '../../domain/events.ts';
import type { EmbeddedDatabase } from '../../sqlite/database.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { Openings } from '../openings.ts';
import { inDataDir } from './data-dir.ts';
import { demandNats } from './nats.ts';
import { openS3 } from './s3.ts';

export interface OpenedBlobs {
  readonly blobs: BlobStore;
  /** Reads a blob that only this process can read. It is sent along with its job. */
  readonly readRow?: (ref: BlobRef) => Buffer | undefined;
}

/** @param database of the event store, where it is embedded */
export async function openBlobs(
  config: Config,
  openings: Openings,
  nats: NatsLink | undefined,
  database: EmbeddedDatabase | undefined,
  side: 'api' | 'renderer',
): Promise<OpenedBlobs> {
  const { blobStoreUrl: url } = config;
  if (url === undefined) {
    const directory = inDataDir(config, 'blobs');
    if (side === 'renderer' && !existsSync(directory)) {
      throw new Error(
        `There are no documents in ${directory}: without BLOB_STORE_URL a renderer shares the DATA_DIR of ` +
          'the API node, which is started first.',
      );
    }
    const files = await FileBlobStore.open(directory);
    if (database === undefined) return { blobs: files };
    const blobs = new EmbeddedBlobStore(database, files);
    return { blobs, readRow: (ref) => blobs.readRow(ref) };
  }
  const { ObjectBlobStore } = await import('../../blob-store/remote.ts');
  const objects = await openObjects(config, openings, nats, url);
  await objects.checkUsable();
  const blobs = new ObjectBlobStore(objects, { triesWrites: side === 'api' });
  const missing = async (): Promise<string | undefined> => {
    // The outage of NATS is reported elsewhere. To ask the blob store would only take time.
    if (url === 'nats:' && nats?.isUp() === false) return undefined;
    const failure = await blobs.failure();
    return failure === undefined ? undefined : `the blob store cannot be used: ${failure}`;
  };
  openings.add({ missing, close: async () => {} });
  return { blobs };
}

async function openObjects(
  config: Config,
  openings: Openings,
  nats: NatsLink | undefined,
  url: string,
) {
  if (url === 'nats:') {
    const { NatsObjects } = await import('../../blob-store/nats-objects.ts');
    return new NatsObjects(demandNats(nats).connection);
  }
  const { S3Objects } = await import('../../blob-store/s3-objects.ts');
  return new S3Objects(await openS3(config, openings, url), 'blobs/');
}
