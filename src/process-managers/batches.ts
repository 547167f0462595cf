/** Ends each batch once all its conversions have ended. */
import { type BatchToEnd, batchQueries } from '../../projections/batches.ts';
import { drainList } from '../async/drain-list.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { batchAggregate } from '../domain/batch.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

export function startBatches({
  actors,
  clock,
  logger,
  readModel,
  runner,
  store,
}: Log & { readonly logger: Logger }): Stoppable {
  const end = async (due: BatchToEnd): Promise<void> => {
    const { id: batchId, accountId, total, completed, failed, lastEventId } = due;
    const at = clock.now();
    await actors.send(
      batchAggregate,
      batchId,
      { type: 'EndBatch', accountId, batchId, total, completed, failed, at },
      {
        commandId: `end/${batchId}`,
        metadata: {
          correlationId: batchId,
          causationId: lastEventId,
          actor: { kind: 'service' },
          time: at,
        },
      },
    );
  };
  const due = (limit: number) => readModel.query(batchQueries).toEnd(limit);
  const caughtUp = async () => runner.waitFor(await store.head());
  const round = (stopping: AbortSignal) => drainList(due, end, stopping, caughtUp);
  return startBackgroundLoop('batches', round, logger, {
    after: { runner, types: ['ConversionCompleted', 'ConversionFailed'] },
  });
}
