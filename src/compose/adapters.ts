/** Which adapter serves each port, by the settings: the only file that names concrete ones. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedBlobStore } from '../blob-store/embedded.ts';
import { FileBlobStore } from '../blob-store/files.ts';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import type { RenderQueues } from '../core.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../embedded/database.ts';
import { tryAcquireLease } from '../embedded/lease.ts';
import type { EventStore } from '../event-store/port.ts';
import { SqliteEventStore } from '../event-store/sqlite.ts';
import { FileKeyring } from '../keyring/file.ts';
import { loadMasterKey } from '../keyring/master-key.ts';
import type { Keyring } from '../keyring/port.ts';
import type { Logger } from '../log.ts';
import { MemoryRateLimiter } from '../rate-limiter/memory.ts';
import type { RateLimiter } from '../rate-limiter/port.ts';
import { InProcessRenderQueue } from '../render-queue/in-process.ts';
import type { RenderQueue } from '../render-queue/port.ts';

/** What was opened, to be closed last of all. */
interface Closable {
  /** Why it does not work right now, for the operator; else empty. */
  missing(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Adapters extends Closable {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly keyring: Keyring;
  readonly masterKey: Buffer;
  readonly queues: RenderQueues;
  readonly openRateLimiter: (clock: Clock) => Promise<RateLimiter>;
}

const inDataDir = ({ dataDir }: Config, name: string): string => join(dataDir, name);

/** What of a setting is for a later release is said at the start, not ignored. */
function refuseUnsupported(config: Config): void {
  const given = {
    EVENT_STORE_URL: config.eventStoreUrl,
    NATS_URL: config.natsUrl,
    BLOB_STORE_URL: config.blobStoreUrl,
  };
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) {
      throw new ConfigError(`${name} is not supported yet: leave it out to run on embedded parts.`);
    }
  }
}

function openDatabase(config: Config, create: boolean): EmbeddedDatabase {
  const file = inDataDir(config, 'pressledger.db');
  if (!create && !existsSync(file)) {
    throw new Error(
      `There is no store in ${config.dataDir}: set DATA_DIR to the directory of the service, or make ` +
        "one with 'pressledger account create' or 'pressledger start'.",
    );
  }
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  return openEmbeddedDatabase(file);
}

/**
 * What an API node, or a command on its store, works with.
 * @param options `create`: makes an empty store where there is none, instead of refusing
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export async function openAdapters(
  config: Config,
  _logger: Logger,
  { create }: { readonly create: boolean },
): Promise<Adapters> {
  refuseUnsupported(config);
  const database = openDatabase(config, create);
  const masterKey = loadMasterKey(config.dataDir, config.masterKey);
  const store = new SqliteEventStore(database);
  const files = await FileBlobStore.open(inDataDir(config, 'blobs'));
  return {
    store,
    blobs: new EmbeddedBlobStore(database, files),
    keyring: new FileKeyring(inDataDir(config, 'keyring'), masterKey),
    masterKey,
    queues: {
      shared: false,
      open: async () => new InProcessRenderQueue(),
      acquireLead: () => tryAcquireLease(inDataDir(config, 'render.lock')),
    },
    openRateLimiter: async (clock) => new MemoryRateLimiter(clock),
    missing: async () => {
      const failure = database.failure();
      return failure === undefined ? [] : [`the event store takes no writes: ${failure}`];
    },
    close: async () => {
      await store.close();
      database.close();
    },
  };
}

export interface RendererAdapters extends Closable {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
}

/**
 * What a renderer node works with: neither the event store nor the keyring.
 * @throws {Error} one line that names the server or setting and the remedy
 */
export async function openRendererAdapters(
  config: Config,
  _logger: Logger,
): Promise<RendererAdapters> {
  refuseUnsupported(config);
  throw new ConfigError('not yet');
}
