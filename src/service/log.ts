/** The log as commands read it without changing anything, and what lies beside it in the data directory. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { allProjections } from '../../projections/all.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import type { Config } from '../config/config.ts';
import {
  readIfThere,
  removeTemporary,
  temporaryName,
  writeDurably,
} from '../documents/durable-file.ts';
import { isAbandoned } from '../documents/writer.ts';
import type { CopyableEventStore } from '../event-store/port.ts';
import { hiddenFault } from '../event-store/sqlite/read.ts';
import type { Suspect } from '../log/compared-store.ts';
import { type LastCheckpoint, LogGuard } from '../log/log-guard.ts';
import type { StoredLog } from '../log/verify-log.ts';
import type { Logger } from '../observe/log.ts';
import type { ReadModelOptions } from '../read-model/database.ts';
import { currentGeneration, generationPath } from '../read-model/generations.ts';
import { FORMAT, formatOf, lastEventOf } from '../read-model/schema.ts';
import { openReadOnly, type ReadOnlyDatabase } from '../sqlite/read-only.ts';
import { openBlobs } from './blobs.ts';
import { makeDirectory } from './directories.ts';
import { openEventStore } from './event-store.ts';
import { open } from './open.ts';
import { refuseForeignSchema, schemaFault } from './store-schema.ts';

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
  return open(config, logger, documents ? 'documents' : undefined, async (around) => {
    const { dataDir, retentionSeconds } = config;
    // The file before the log: what it was written for is in the log by then.
    const file = lastCheckpointPath(dataDir);
    const last = readIfThere(file);
    const readModel = readModelOf(config, logger);
    const { store, database } = await openEventStore(around, {});
    const barrier = await store.barrier().catch((error: unknown) => {
      // A foreign table of that name cannot be read.
      if (database !== undefined) refuseForeignSchema(database.db);
      throw error;
    });
    /** The tree of the read models, which is a help and no proof: where it cannot be read, it is left out. */
    const openTree = () => {
      try {
        const opened = openReadModelOf(config, logger);
        if (opened === undefined) return undefined;
        around.openings.add({ close: async () => opened.close() });
        return logTreeQueries(opened.db);
      } catch (error) {
        const path = readModel.directory;
        logger.warn({ err: error, path }, 'the read models cannot be read, and are left out');
        return undefined;
      }
    };
    return {
      dataDir,
      store,
      movedTo: barrier?.kind === 'moved' ? barrier.subject : undefined,
      readModel,
      ...(last !== undefined && { lastCheckpoint: { at: { file }, note: last } }),
      openTree,
      ...(database && {
        hiddenFault: () => schemaFault(database.db) ?? hiddenFault(database.db),
      }),
      ...(documents && { blobs: await openBlobs(around, 'reader', database) }),
      retentionMs: retentionSeconds * 1000,
    };
  });
}

/** The event store of the settings alone, made where there is none. */
export const openCopyTarget = (config: Config, logger: Logger) =>
  open(config, logger, undefined, async (around) => ({
    store: (await openEventStore(around, { create: true, write: true })).store,
  }));

/**
 * The read models of the data directory.
 * @param guard holds them against what is known of the log; by default, against the last checkpoint in the directory
 */
export const readModelOf = (
  { dataDir }: Pick<Config, 'dataDir'>,
  logger: Logger,
  guard = new LogGuard(lastCheckpointOf(dataDir)),
): ReadModelOptions => ({
  directory: join(dataDir, 'read-model'),
  projections: allProjections,
  guardOf: guard.ofTables,
  logger,
});

/** The generation of them that is in use, for reading alone; undefined before the first start. */
export function openReadModelOf(config: Config, logger: Logger): ReadOnlyDatabase | undefined {
  const { directory } = readModelOf(config, logger);
  const path = generationPath(directory, currentGeneration(directory));
  return existsSync(path) ? openReadOnly(path) : undefined;
}

/**
 * A log that is lost must not begin anew: nobody could tell the two from each other.
 * @throws {Error} one line: the data directory is of a log with events, and this one is empty
 */
export function refuseEmptied(config: Config, logger: Logger): void {
  const known = traceOfLog(config, logger);
  if (known === undefined) return;
  throw new Error(
    `The event log is empty, and ${known} was made of one with events. Nothing was changed: set EVENT_STORE_URL and DATA_DIR ` +
      'to that log, or restore it from a backup; to begin another, set DATA_DIR to a new directory.',
  );
}

function traceOfLog(config: Config, logger: Logger): string | undefined {
  const checkpoint = lastCheckpointPath(config.dataDir);
  if (existsSync(checkpoint)) return checkpoint;
  const tables = openReadModelOf(config, logger);
  try {
    const holdsEvents = tables && formatOf(tables.db) === FORMAT && lastEventOf(tables.db);
    return holdsEvents ? tables.db.name : undefined;
  } finally {
    tables?.close();
  }
}

export const lastCheckpointPath = (dataDir: string): string =>
  join(dataDir, 'transparency-log', 'last-checkpoint');

/** The checkpoint that this node signed or saw last. It does not belong to the log, nor to copies of it. */
export function openLastCheckpoint(dataDir: string): LastCheckpoint {
  const last = lastCheckpointOf(dataDir);
  makeDirectory(dirname(last.path));
  removeTemporary(last.path, isAbandoned);
  return last;
}

/** The event of the log that differed last, beside the last checkpoint. */
export function openSuspect(dataDir: string): Suspect {
  const path = join(dirname(lastCheckpointPath(dataDir)), 'suspect');
  return {
    read() {
      const text = readIfThere(path);
      return text === undefined ? undefined : (JSON.parse(text) as ReturnType<Suspect['read']>);
    },
    keep({ stream, revision }) {
      const draft = `${path}.new`;
      writeFileSync(draft, JSON.stringify({ stream, revision }), { flush: true });
      renameSync(draft, path);
    },
    forget: () => rmSync(path, { force: true }),
  };
}

function lastCheckpointOf(dataDir: string): LastCheckpoint {
  const path = lastCheckpointPath(dataDir);
  return {
    path,
    read: () => readIfThere(path),
    write: (note) => writeDurably(path, `${path}.${temporaryName()}.tmp`, Buffer.from(note)),
  };
}
