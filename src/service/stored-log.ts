/** The log as the commands read it that compare it with something: nothing on this machine is made, changed or followed. */
import { existsSync } from 'node:fs';
import { logTreeQueries } from '../../projections/log-tree.ts';
import type { Config } from '../config/config.ts';
import { readIfThere } from '../documents/durable-file.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import { hiddenFault } from '../event-store/sqlite/read.ts';
import type { StoredLog } from '../log/verify-log.ts';
import type { Logger } from '../observe/log.ts';
import type { ReadModelOptions } from '../read-model/database.ts';
import { currentGeneration, generationPath } from '../read-model/generations.ts';
import { openReadOnly } from '../sqlite/read-only.ts';
import { openEventStore } from './event-stores.ts';
import { connect } from './nats.ts';
import { Openings } from './openings.ts';
import { refuseForeignSchema, schemaFault } from './store-schema.ts';
import { lastCheckpointPath, openBlobs, readModelOf } from './stores.ts';

/** The log as it is stored, and the place of the read models in use. Nothing of it is changed. */
export interface OpenedStoredLog extends StoredLog {
  /** An absolute path. */
  readonly dataDir: string;
  readonly store: CopyableEventStore;
  /** The place where the log goes on, where it was moved: this one is an old copy. */
  readonly movedTo: string | undefined;
  readonly readModel: ReadModelOptions;
  close(): Promise<void>;
}

/**
 * @param options `documents`: opens the blob store too
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export function openStoredLog(
  config: Config,
  logger: Logger,
  { documents }: { readonly documents: boolean },
): Promise<OpenedStoredLog> {
  return Openings.all(async (openings) => {
    const { dataDir, blobStoreUrl, retentionSeconds } = config;
    const usesNats = documents && blobStoreUrl?.kind === 'nats';
    const nats = usesNats ? await connect(config, logger, openings, 'api') : undefined;
    const around = { config, logger, openings, nats };
    // The file before the log: what it was written for is in the log by then.
    const file = lastCheckpointPath(dataDir);
    const last = readIfThere(file);
    const readModel = readModelOf(config, logger);
    const { store, database } = await openEventStore(around, 'read');
    const barrier = await store.barrier().catch((error: unknown) => {
      // A foreign table of that name cannot be read.
      if (database !== undefined) refuseForeignSchema(database.db);
      throw error;
    });
    return {
      dataDir,
      store,
      movedTo: barrier?.kind === 'moved' ? barrier.subject : undefined,
      readModel,
      ...(last !== undefined && { lastCheckpoint: { at: { file }, note: last } }),
      openTree: () => openTree(readModel.directory, logger, openings),
      ...(database && {
        hiddenFault: () => schemaFault(database.db) ?? hiddenFault(database.db),
      }),
      ...(documents && { blobs: await openBlobs(around, 'reader', database) }),
      retentionMs: retentionSeconds * 1000,
      close: () => openings.close(),
    };
  });
}

/** The event store of the settings alone, made where there is none. */
export function openCopyTarget(config: Config, logger: Logger) {
  return Openings.all(async (openings) => {
    const around = { config, logger, openings, nats: undefined };
    const { store } = await openEventStore(around, 'copy');
    return { store, close: () => openings.close() };
  });
}

/** The tree of the read models, which is a help and no proof: where it cannot be read, it is left out. */
function openTree(directory: string, logger: Logger, openings: Openings) {
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
