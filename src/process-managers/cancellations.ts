/**
 * Takes out of the queue what was ended without its renderer: a conversion that its account cancelled. So its slot is
 * free at once. What is missed here, the sweeps of `dispatch.ts` find.
 */
import { failureQueries } from '../../projections/failures.ts';
import type { Stoppable } from '../async/stoppable.ts';
import type { Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import { startBackgroundLoop } from './background-loop.ts';

const PAGE = 500;

export function startCancellations({
  logger,
  queue,
  readModel,
  runner,
}: Pick<Log, 'readModel' | 'runner'> & {
  readonly logger: Logger;
  readonly queue: Pick<RenderQueue, 'discard'>;
}): Stoppable {
  // What ended before is not offered, and the first sweep takes it out.
  let last = readModel.query(failureQueries).last();
  const step = async (stopping: AbortSignal): Promise<void> => {
    for (;;) {
      const rows = readModel.query(failureQueries).after(last, PAGE);
      const ended = rows.filter(({ renderer }) => renderer === 'service');
      if (ended.length > 0) {
        await queue.discard(new Set(ended.map(({ conversionId }) => conversionId)));
      }
      last = rows.at(-1)?.number ?? last;
      if (rows.length < PAGE || stopping.aborted) return;
    }
  };
  return startBackgroundLoop('cancellations', step, logger, {
    after: { runner, types: ['ConversionFailed'] },
  });
}
