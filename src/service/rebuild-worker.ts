/** A thread of its own: rebuilds the read models from the log, while the API goes on answering. */
import type { MessagePort } from 'node:worker_threads';
import type { Config } from '../config/config.ts';
import { LogDiffers } from '../event-store/port.ts';
import { createLogger } from '../observe/log.ts';
import { type RebuildResult, rebuildReadModel } from '../read-model/rebuild.ts';
import { openEventStore } from './event-store.ts';
import { readModelOf } from './log.ts';
import { Openings } from './open.ts';

/** A task of the thread, which tells by the port how far it is. */
export interface RebuildTask {
  readonly config: Pick<Config, 'dataDir' | 'eventStoreUrl'>;
  readonly progress: MessagePort;
}

/** The class of an error is lost between threads. */
export type Rebuilt = RebuildResult | { readonly differs: LogDiffers['found'] };

export default async function rebuild({ config, progress }: RebuildTask): Promise<Rebuilt> {
  const logger = createLogger('silent');
  const openings = new Openings();
  try {
    const { store } = await openEventStore({ config, logger, openings }, {});
    return await rebuildReadModel({
      readModel: readModelOf(config, logger),
      store,
      onProgress: ({ position, end }) => progress.postMessage({ position, end }, []),
    });
  } catch (error) {
    if (error instanceof LogDiffers) return { differs: error.found };
    throw error;
  } finally {
    await openings.close();
  }
}
