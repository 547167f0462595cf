/** A thread of its own: rebuilds the read models from the log, while the API goes on answering. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../config/config.ts';
import { createLogger } from '../observe/log.ts';
import { rebuildReadModel } from '../read-model/rebuild.ts';
import { openEventStore } from './event-store.ts';
import { readModelOf } from './log.ts';
import { Openings } from './open.ts';
import type { RebuildNotice } from './rebuilds.ts';

const config = workerData as Pick<Config, 'dataDir' | 'eventStoreUrl'>;
const logger = createLogger('silent');
const notify = (notice: RebuildNotice): void => parentPort?.postMessage(notice, []);

const openings = new Openings();
try {
  const { store } = await openEventStore({ config, logger, openings }, {});
  const result = await rebuildReadModel({
    readModel: readModelOf(config, logger),
    store,
    onProgress: ({ position, end }) => notify({ position, end }),
  });
  notify(result);
} finally {
  await openings.close();
}
