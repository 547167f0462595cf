/** Picks the adapters that serve the ports, by the settings. `adapters/` alone names concrete ones. */
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import { type Config, ConfigError } from '../config.ts';
import type { RenderQueues } from '../core.ts';
import type { EventStore } from '../event-store/port.ts';
import type { Keyring } from '../keyring/port.ts';
import type { Logger } from '../log.ts';
import { MemoryRateLimiter } from '../rate-limiter/memory.ts';
import type { RateLimiter } from '../rate-limiter/port.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import { openBlobs } from './adapters/blobs.ts';
import { openDataDir } from './adapters/data-dir.ts';
import { openStore } from './adapters/event-store.ts';
import { openKeyring } from './adapters/keyring.ts';
import { connect, openNatsLog } from './adapters/nats.ts';
import { embeddedQueues, natsQueues, natsRateLimiter } from './adapters/queues.ts';
import { Openings } from './openings.ts';

export interface Adapters {
  readonly store: EventStore;
  readonly blobs: BlobStore;
  readonly keyring: Keyring;
  readonly masterKey: Buffer;
  readonly queues: RenderQueues;
  readonly openRateLimiter: (clock: Clock) => Promise<RateLimiter>;
  /** Why something of it does not work right now, for the operator; else empty. */
  missing(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface RendererAdapters {
  readonly queue: RenderQueue;
  readonly blobs: BlobStore;
  missing(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * Opens the adapters that an API node, or a command on its store, works with.
 * @param options `create`: makes an empty store where there is none, instead of refusing
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export function openAdapters(
  config: Config,
  logger: Logger,
  { create }: { readonly create: boolean },
): Promise<Adapters> {
  return Openings.all(async (openings) => {
    const nats = await connect(config, logger, openings, 'api');
    const { store, database } = await openStore(config, logger, openings, create);
    const log = nats && (await openNatsLog(nats, store, logger, openings));
    const { blobs, readRow } = await openBlobs(config, openings, nats, database, 'api');
    const keys = await openKeyring(config, openings, nats, store);
    return {
      store,
      blobs,
      ...keys,
      queues:
        nats && log
          ? await natsQueues({ link: nats, log, readRow, logger })
          : embeddedQueues(config),
      openRateLimiter: async (clock) =>
        nats === undefined
          ? new MemoryRateLimiter(clock)
          : await natsRateLimiter(nats, logger, clock),
      missing: () => openings.missing(),
      close: () => openings.close(),
    };
  });
}

/**
 * Opens the adapters that a renderer node works with: neither the event store nor the keyring.
 * @throws {Error} one line that names the server or setting and the remedy
 */
export function openRendererAdapters(config: Config, logger: Logger): Promise<RendererAdapters> {
  return Openings.all(async (openings) => {
    const nats = await connect(config, logger, openings, 'renderer');
    if (nats === undefined) throw new ConfigError('NATS_URL is needed.');
    openDataDir(config);
    const { blobs } = await openBlobs(config, openings, nats, undefined, 'renderer');
    const { NatsRenderQueue } = await import('../render-queue/nats.ts');
    const queue = await NatsRenderQueue.open({ link: nats, logger, side: 'renderer' });
    openings.add({ close: () => queue.close() });
    return {
      queue,
      blobs,
      missing: () => openings.missing(),
      close: () => openings.close(),
    };
  });
}
