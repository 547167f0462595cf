import type { DeletionDue } from '../../projections/stored-blobs.ts';
import type { ActorSystem } from '../actors/system.ts';
import type { BlobStore } from '../documents/port.ts';
import { conversionAggregate } from '../domain/conversion.ts';
import type { Clock } from '../time/clock.ts';

export interface ExpiryDependencies {
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/**
 * Deletes what is stored of a conversion that has ended, and records it. Safe to repeat.
 * @param cause the id of the event that it follows from: the conversion's end, unless given
 * @throws {BlobStoreUnavailable}
 */
export async function expireConversion(
  { actors, blobs, clock }: ExpiryDependencies,
  { conversionId, accountId, endedEventId, named }: DeletionDue,
  cause = endedEventId,
): Promise<void> {
  // First the blobs, then the event: a crash between the two only deletes once more.
  await blobs.deleteAll(conversionId, named);
  const at = clock.now();
  await actors.send(
    conversionAggregate,
    conversionId,
    { type: 'ExpireConversion', accountId, conversionId, at },
    {
      commandId: `expire/${conversionId}`,
      metadata: {
        correlationId: conversionId,
        causationId: cause,
        actor: { kind: 'service' },
        time: at,
      },
    },
  );
}
