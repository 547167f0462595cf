import { readContent } from '../documents/decryption.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { BlobStore } from '../documents/port.ts';
import { conversionStream } from '../domain/conversion.ts';
import type { EventOf } from '../domain/events.ts';
import type { RenderManifest } from '../domain/render-manifest.ts';
import { ServiceError } from '../errors/errors.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { EventStore } from '../event-store/port.ts';

type ConversionEvent = EventOf<
  'ConversionCompleted' | 'ConversionFailed' | 'ConversionDeleted' | 'ConversionExpired'
>;

/**
 * The manifest of a completed conversion, found from the log alone and checked against its event.
 * @throws {ServiceError} `not_found` if there is none (yet), `gone` after its retention
 * @throws {BlobNotFound} it is lost
 * @throws {BlobStoreUnavailable} it is damaged
 * @throws {KeyErased} its account was erased
 */
export async function readRenderManifest(
  {
    store,
    blobs,
    vault,
  }: {
    readonly store: Pick<EventStore, 'readStream'>;
    readonly blobs: Pick<BlobStore, 'read'>;
    readonly vault: Pick<Vault, 'unseal' | 'contentKey'>;
  },
  conversionId: string,
): Promise<RenderManifest> {
  const recorded = await store.readStream(conversionStream(conversionId));
  const events = recorded.map((each) => decodeEvent(each)) as readonly ConversionEvent[];
  const completed = events.find((each) => each.type === 'ConversionCompleted');
  if (completed === undefined) {
    const failed = events.find((each) => each.type === 'ConversionFailed');
    const why =
      failed === undefined
        ? 'no such conversion has completed.'
        : `it failed: ${await vault.unseal(failed.data.accountId, failed.data.message)}`;
    throw new ServiceError('not_found', `There is no manifest of ${conversionId}: ${why}`);
  }
  // Before the retention: erasing an account expires its conversions, too.
  const contentKey = await vault.contentKey(completed.data.accountId, conversionId);
  if (events.some(({ type }) => type === 'ConversionDeleted')) {
    throw new ServiceError(
      'gone',
      `The manifest of ${conversionId} was deleted, as its account asked.`,
    );
  }
  if (events.some(({ type }) => type === 'ConversionExpired')) {
    throw new ServiceError('gone', `The manifest of ${conversionId} was deleted by its retention.`);
  }
  const content = await readContent(blobs, contentKey, completed.data.manifest);
  return JSON.parse(content.toString('utf8')) as RenderManifest;
}
