/** Rebuilds of this process's read models, one at a time, in a thread of their own. */
import { MessageChannel } from 'node:worker_threads';
import { threadFile, Threads, ThreadsClosed } from '../async/threads.ts';
import { errorMessage } from '../errors/error-message.ts';
import { LogDiffers } from '../event-store/port.ts';
import type { RebuildState, Rebuilds } from '../http/dependencies.ts';
import type { Core } from './core.ts';
import type { Rebuilt, RebuildTask } from './rebuild-worker.ts';

export interface StoppableRebuilds extends Rebuilds {
  /** Cuts off a rebuild that is under way: the read models in use stay. */
  stop(): Promise<void>;
}

export function createRebuilds({
  config: { dataDir, eventStoreUrl },
  clock,
  guard,
  logger,
}: Pick<Core, 'config' | 'clock' | 'guard' | 'logger'>): StoppableRebuilds {
  let state: RebuildState = { underWay: undefined, last: undefined };
  const threads = new Threads<RebuildTask, Rebuilt>(threadFile(import.meta, 'rebuild-worker'), {
    maxThreads: 1,
    idleTimeout: 0,
  });

  async function rebuild(): Promise<void> {
    state = { ...state, underWay: { position: 0n, end: 0n } };
    const { port1, port2: progress } = new MessageChannel();
    port1.on('message', (underWay: RebuildState['underWay']) => {
      state = { ...state, underWay };
    });
    const task = { config: { dataDir, eventStoreUrl }, progress };
    let error: string | undefined;
    try {
      const result = await threads.run(task, { transferList: [progress] });
      if ('differs' in result) {
        const difference = new LogDiffers(result.differs);
        error = difference.message;
        guard.report(difference);
      } else logger.info(result, 'the read models were rebuilt');
    } catch (err) {
      error = err instanceof ThreadsClosed ? 'The rebuild was cut off.' : errorMessage(err);
      logger.error({ err }, 'the read models could not be rebuilt');
    } finally {
      port1.close();
      state = { underWay: undefined, last: { endedAt: clock.now(), error } };
    }
  }

  return {
    state: () => state,
    start: () => {
      if (state.underWay === undefined) void rebuild();
    },
    stop: () => threads.close(),
  };
}
