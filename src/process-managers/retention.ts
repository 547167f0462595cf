/** What clients sent and the PDFs made of it are deleted when their retention ends, and an event says so. */
import { type ExpirationDue, expirationsDueQueries } from '../../projections/expirations-due.ts';
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import { type BlobStore, BlobStoreUnavailable } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { ReadModel } from '../read-model/database.ts';
import { startWakefulLoop } from './wakeful-loop.ts';
import { workOff } from './work-off.ts';

const LONGEST_PAUSE_MS = 60_000;
/** More that cannot be deleted than this, and the blob store itself is away. */
const MOST_LEFT = 50;

export function startRetention(deps: {
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly retentionSeconds: number;
}): { wake(): void; stop(): Promise<void> } {
  const { actors, blobs, clock, logger, readModel, runner } = deps;
  const retentionMs = deps.retentionSeconds * 1000;

  /** What could not be deleted in this round: it must not keep the others from their end. */
  const left = new Set<string>();

  const expire = async (due: ExpirationDue): Promise<bigint | undefined> => {
    try {
      return await deleteAndRecord(due);
    } catch (error) {
      if (!(error instanceof BlobStoreUnavailable) || left.size >= MOST_LEFT) throw error;
      const { conversionId } = due;
      logger.error({ err: error, conversionId }, 'blobs are not deleted and will be tried again');
      left.add(conversionId);
      return undefined;
    }
  };

  const deleteAndRecord = async ({ conversionId, accountId, endedEventId }: ExpirationDue) => {
    // First the blobs, then the event: a crash between the two only deletes once more.
    await blobs.deleteAll(conversionId);
    const at = clock.now();
    const outcome = await actors.send(
      conversionActor,
      conversionId,
      { type: 'ExpireConversion', accountId, conversionId, at },
      {
        commandId: `expire/${conversionId}`,
        metadata: {
          correlationId: conversionId,
          causationId: endedEventId,
          actor: { kind: 'service' },
          time: at,
        },
      },
    );
    return outcome.accepted ? outcome.position : undefined;
  };
  const oldest = (limit: number) =>
    readModel
      .query(expirationsDueQueries)
      .next(clock.now() - retentionMs, limit + left.size)
      .filter(({ conversionId }) => !left.has(conversionId))
      .slice(0, limit);

  const round = (stopping: AbortSignal): Promise<void> => {
    left.clear();
    return workOff(runner, oldest, expire, stopping);
  };
  const loop = startWakefulLoop('retention', round, logger);
  const timer = setInterval(() => loop.wake(), Math.min(retentionMs, LONGEST_PAUSE_MS));
  return {
    wake: () => loop.wake(),
    stop: async () => {
      clearInterval(timer);
      await loop.stop();
    },
  };
}
