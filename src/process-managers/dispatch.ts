/** What is accepted and unfinished goes to the render queue: from the log, in order, again after a loss. */
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import type { EventStore } from '../event-store/port.ts';
import type { Logger } from '../log.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import type { ReadModel } from '../read-model/read-model.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import { startWakefulLoop } from './wakeful-loop.ts';

/** Jobs kept waiting in the queue; the rest wait in the log. */
const MAX_WAITING = 20_000;
const PAGE = 500;
/** How often everything unfinished is offered again, in case the queue lost it. */
const SWEEP_MS = 30_000;

export interface DispatchDependencies {
  readonly logger: Logger;
  readonly queue: RenderQueue;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly store: EventStore;
}

export function startDispatch(deps: DispatchDependencies): { stop(): Promise<void> } {
  const { logger, queue, readModel, runner, store } = deps;
  let cursor = 0n;

  const step = async (): Promise<void> => {
    while (queue.waiting() < MAX_WAITING) {
      const rows = readModel.query(unfinishedQueries).after(cursor, PAGE);
      for (const row of rows) {
        const { conversionId, accountId, request, options, attempts } = row;
        await queue.offer({ conversionId, accountId, request, options, attempt: attempts + 1 });
        cursor = row.position;
      }
      if (rows.length < PAGE) return;
    }
  };

  const loop = startWakefulLoop('dispatch', step, logger);
  const unsubscribe = runner.onCommit(() => loop.wake());
  const sweep = async (): Promise<void> => {
    // Rows of conversions that have just ended must be gone before the rest is offered again.
    await runner.waitFor(await store.head());
    cursor = 0n;
    loop.wake();
  };
  const timer = setInterval(() => {
    sweep().catch((error: unknown) => logger.warn({ err: error }, 'the sweep was put off'));
  }, SWEEP_MS);
  return {
    stop: async () => {
      unsubscribe();
      clearInterval(timer);
      await loop.stop();
    },
  };
}
