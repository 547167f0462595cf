/** The log as `verify` reads it: nothing on this machine is made, changed or followed. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { hasCode } from '../blob-store/durable-file.ts';
import type { Config } from '../config.ts';
import { errorMessage } from '../error-message.ts';
import { hiddenFault } from '../event-store/sqlite/read.ts';
import type { Logger } from '../log.ts';
import { currentGeneration, generationPath } from '../read-model/generations.ts';
import { openReadOnly } from '../sqlite/read-only.ts';
import type { StoredLog } from '../use-cases/verify-log.ts';
import { connect } from './nats.ts';
import { Openings } from './openings.ts';
import { openBlobs, openEventStore } from './stores.ts';

/** Where a node keeps the checkpoint that it signed or saw last, in its data directory. */
const LAST_CHECKPOINT = join('transparency-log', 'last-checkpoint');

/**
 * @param options `documents`: opens the blob store too
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export function openStoredLog(
  config: Config,
  logger: Logger,
  { documents }: { readonly documents: boolean },
): Promise<StoredLog & { close(): Promise<void> }> {
  return Openings.all(async (openings) => {
    const { dataDir, blobStoreUrl, retentionSeconds } = config;
    const usesNats = documents && blobStoreUrl?.kind === 'nats';
    const nats = usesNats ? await connect(config, logger, openings, 'api') : undefined;
    const around = { config, logger, openings, nats };
    // The file before the log: what it was written for is in the log by then.
    const lastCheckpoint = await readLastCheckpoint(join(dataDir, LAST_CHECKPOINT));
    const tree = openTree(join(dataDir, 'read-model'), logger, openings);
    const { store, database } = await openEventStore(around, 'read');
    return {
      store,
      ...(lastCheckpoint && { lastCheckpoint }),
      ...(tree && { tree }),
      ...(database && { hiddenFault: () => hiddenFault(database.db) }),
      ...(documents && { blobs: await openBlobs(around, 'reader', database) }),
      retentionMs: retentionSeconds * 1000,
      close: () => openings.close(),
    };
  });
}

async function readLastCheckpoint(path: string): Promise<StoredLog['lastCheckpoint']> {
  try {
    return { at: { file: path }, note: await readFile(path, 'utf8') };
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw new Error(`${path} cannot be read: ${errorMessage(error)}.`, { cause: error });
  }
}

/** The tree of the read models, which is a help and no proof: where it cannot be read, it is left out. */
function openTree(directory: string, logger: Logger, openings: Openings): StoredLog['tree'] {
  const path = generationPath(directory, currentGeneration(directory));
  if (!existsSync(path)) return undefined;
  try {
    const { db, close } = openReadOnly(path);
    openings.add({ close: async () => close() });
    return logTreeQueries(db);
  } catch (error) {
    logger.warn({ err: error, path }, 'the read models cannot be read, and are left out');
    return undefined;
  }
}
