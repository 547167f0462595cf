/** A failed conversion's credit goes back, once: the account's state knows how far refunds have got. */
import { refundsDueQueries } from '../../projections/refunds-due.ts';
import type { ActorSystem } from '../actors/system.ts';
import { accountActor } from '../application/kinds.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { ReadModel } from '../read-model/read-model.ts';
import { startWakefulLoop } from './wakeful-loop.ts';

const PAGE = 200;

export function startRefunds(deps: {
  readonly actors: ActorSystem;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
}): { stop(): Promise<void> } {
  const { actors, clock, logger, readModel, runner } = deps;

  const step = async (): Promise<void> => {
    for (;;) {
      // Oldest failure first: the account refuses a refund older than one it has already given.
      const rows = readModel.query(refundsDueQueries).next(PAGE);
      let recorded = 0n;
      for (const { position, conversionId, accountId, failedEventId } of rows) {
        const outcome = await actors.send(
          accountActor,
          accountId,
          { type: 'RefundConversion', accountId, conversionId, failedAt: position },
          {
            commandId: `refund/${conversionId}`,
            metadata: {
              correlationId: conversionId,
              causationId: failedEventId,
              actor: { kind: 'service' },
              time: clock.now(),
            },
          },
        );
        if (outcome.accepted && outcome.position !== undefined) recorded = outcome.position;
      }
      if (rows.length < PAGE) return;
      await runner.waitFor(recorded);
    }
  };

  const loop = startWakefulLoop('refunds', step, logger);
  const unsubscribe = runner.onCommit(() => loop.wake());
  return {
    stop: async () => {
      unsubscribe();
      await loop.stop();
    },
  };
}
