/** Ends each batch once all its conversions have ended, and cancels what is unfinished of one that was cancelled. */
import { type BatchToCancel, type BatchToEnd, batchQueries } from '../../projections/batches.ts';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { atMost } from '../async/at-most.ts';
import { drainList } from '../async/drain-list.ts';
import type { Stoppable } from '../async/stoppable.ts';
import { batchAggregate } from '../domain/batch.ts';
import { conversionAggregate } from '../domain/conversion.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** Conversions that are cancelled at a time: their appends share a sync. */
const CANCELLED_AT_ONCE = 64;

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
  const cancel = async ({ id, accountId, cancelledEventId, message }: BatchToCancel) => {
    const unfinished = readModel.query(unfinishedQueries);
    const ids = readModel.query(batchQueries).conversionsOf(id);
    const open = ids.filter((each) => unfinished.has(each));
    const at = clock.now();
    await atMost(CANCELLED_AT_ONCE, open, (conversionId) =>
      actors.send(
        conversionAggregate,
        conversionId,
        { type: 'AbandonConversion', code: 'cancelled', message, accountId, conversionId, at },
        {
          commandId: `cancel/${conversionId}`,
          metadata: {
            correlationId: conversionId,
            causationId: cancelledEventId,
            actor: { kind: 'service' },
            time: at,
          },
        },
      ),
    );
  };
  const cancelled = (limit: number) => readModel.query(batchQueries).toCancel(limit);
  const due = (limit: number) => readModel.query(batchQueries).toEnd(limit);
  const caughtUp = async () => runner.waitFor(await store.head());
  const round = async (stopping: AbortSignal): Promise<void> => {
    await drainList(cancelled, cancel, stopping, caughtUp);
    await drainList(due, end, stopping, caughtUp);
  };
  return startBackgroundLoop('batches', round, logger, {
    after: { runner, types: ['ConversionCompleted', 'ConversionFailed', 'BatchCancelled'] },
  });
}
