/** What clients sent and the PDFs made of it are deleted when their retention ends, and an event says so. */
import { type ExpirationDue, expirationsDueQueries } from '../../projections/expirations-due.ts';
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { ReadModel } from '../read-model/read-model.ts';
import { startWakefulLoop } from './wakeful-loop.ts';
import { workOff } from './work-off.ts';

const LONGEST_PAUSE_MS = 60_000;

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

  const expire = async ({ conversionId, accountId, endedEventId }: ExpirationDue) => {
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
    readModel.query(expirationsDueQueries).next(clock.now() - retentionMs, limit);

  const loop = startWakefulLoop(
    'retention',
    (stopping) => workOff(runner, oldest, expire, stopping),
    logger,
  );
  const timer = setInterval(() => loop.wake(), Math.min(retentionMs, LONGEST_PAUSE_MS));
  return {
    wake: () => loop.wake(),
    stop: async () => {
      clearInterval(timer);
      await loop.stop();
    },
  };
}
