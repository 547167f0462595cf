/** What clients sent and the PDFs made of it are deleted when their retention ends, and an event says so. */
import { expirationsDueQueries } from '../../projections/expirations-due.ts';
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { ReadModel } from '../read-model/read-model.ts';
import { startWakefulLoop } from './wakeful-loop.ts';

const PAGE = 200;
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

  const step = async (): Promise<void> => {
    for (;;) {
      const now = clock.now();
      const rows = readModel.query(expirationsDueQueries).next(now - retentionMs, PAGE);
      let recorded = 0n;
      for (const { conversionId, accountId, endedEventId } of rows) {
        // First the blobs, then the event: a crash between the two only deletes once more.
        await blobs.deleteAll(conversionId);
        const outcome = await actors.send(
          conversionActor,
          conversionId,
          { type: 'ExpireConversion', accountId, conversionId, at: now },
          {
            commandId: `expire/${conversionId}`,
            metadata: {
              correlationId: conversionId,
              causationId: endedEventId,
              actor: { kind: 'service' },
              time: now,
            },
          },
        );
        if (outcome.accepted && outcome.position !== undefined) recorded = outcome.position;
      }
      if (rows.length < PAGE) return;
      await runner.waitFor(recorded);
    }
  };

  const loop = startWakefulLoop('retention', step, logger);
  const timer = setInterval(() => loop.wake(), Math.min(retentionMs, LONGEST_PAUSE_MS));
  return {
    wake: () => loop.wake(),
    stop: async () => {
      clearInterval(timer);
      await loop.stop();
    },
  };
}
