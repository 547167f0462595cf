import type { Objects } from '../../blob-store/objects.ts';
import type { Config } from '../../config.ts';
import type { KeyRecords } from '../../keyring/records.ts';
import type { Logger } from '../../log.ts';

/** @throws {Error} one line: BLOB_KEY is not the one that belongs here */
export async function checkBlobKey(
  { blobKey }: Config,
  logger: Logger,
  objects: Objects,
  records: KeyRecords,
): Promise<void> {
  const { checkKey, markForRenderers } = await import('../../blob-store/key-check.ts');
  await checkKey(objects, blobKey, records);
  // Renderers write there too: what one of them did to it must not keep this node from its work.
  await markForRenderers(objects, blobKey).catch((error: unknown) => {
    logger.warn({ err: error }, 'renderers cannot be told which BLOB_KEY belongs here');
  });
}

/** @throws {Error} one line: BLOB_KEY is not the one of the API nodes */
export async function checkBlobKeyOfRenderer({ blobKey }: Config, objects: Objects): Promise<void> {
  const { checkKeyOfRenderer } = await import('../../blob-store/key-check.ts');
  await checkKeyOfRenderer(objects, blobKey);
}
