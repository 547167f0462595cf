/** Rebuilds of this process's read models, one at a time, in a thread of their own. */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { errorMessage } from '../errors/error-message.ts';
import type { RebuildState, Rebuilds } from '../http/dependencies.ts';
import type { RebuildProgress, RebuildResult } from '../read-model/rebuild.ts';
import type { Core } from './core.ts';

/** Messages of the thread: how far it is, and at last what it has done. */
export type RebuildNotice = Pick<RebuildProgress, 'position' | 'end'> | RebuildResult;

/** The thread's file, of the kind of this one: TypeScript in a clone, JavaScript in an installed package. */
const THREAD = join(import.meta.dirname, `rebuild-worker${extname(import.meta.filename)}`);

export interface StoppableRebuilds extends Rebuilds {
  /** Cuts off a rebuild that is under way: the read models in use stay. */
  stop(): Promise<void>;
}

export function createRebuilds({
  config: { dataDir, eventStoreUrl },
  clock,
  logger,
}: Pick<Core, 'config' | 'clock' | 'logger'>): StoppableRebuilds {
  let state: RebuildState = { underWay: undefined, last: undefined };
  let worker: Worker | undefined;

  function begin(): void {
    let failure: unknown = new Error('The rebuild was cut off.');
    const thread = new Worker(THREAD, { workerData: { dataDir, eventStoreUrl } });
    worker = thread;
    state = { ...state, underWay: { position: 0n, end: 0n } };
    thread.on('message', (notice: RebuildNotice) => {
      if ('position' in notice) state = { ...state, underWay: notice };
      else {
        failure = undefined;
        logger.info(notice, 'the read models were rebuilt');
      }
    });
    thread.on('error', (error) => {
      failure = error;
    });
    thread.on('exit', () => {
      worker = undefined;
      if (failure) logger.error({ err: failure }, 'the read models could not be rebuilt');
      const error = failure ? errorMessage(failure) : undefined;
      state = { underWay: undefined, last: { endedAt: clock.now(), error } };
    });
  }

  return {
    state: () => state,
    start: () => {
      if (worker === undefined) begin();
    },
    stop: async () => void (await worker?.terminate()),
  };
}
