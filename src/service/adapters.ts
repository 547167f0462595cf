/** Picks the adapters that serve the ports, by the settings. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { BlobStore } from '../documents/port.ts';
import type { EventStore } from '../event-store/port.ts';
import { FileLease } from '../leader/file-lease.ts';
import type { BoundCheck } from '../limits/bounds.ts';
import { MemoryRateLimiter } from '../limits/rate-limiter/memory.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';
import type { Attestors } from '../log/attestation/port.ts';
import { createTimestampAuthority } from '../log/attestation/timestamp-client.ts';
import { createWitness } from '../log/attestation/witness-client.ts';
import type { Logger } from '../observe/log.ts';
import { InProcessRenderQueue } from '../render-queue/in-process.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { Clock } from '../time/clock.ts';
import { needed, openBlobs } from './blobs.ts';
import { openDirectory } from './directories.ts';
import { openEventStore } from './event-store.ts';
import { type OpenedKeyring, openKeyring } from './keyring.ts';
import { refuseEmptied } from './log.ts';
import {
  openNatsQueues,
  openNatsRateLimiter,
  type RenderQueues,
  warnOfApiRights,
  watchHere,
} from './nats.ts';
import {
  type Observers,
  observedBlobStore,
  observedEventStore,
  observedNats,
  observedQueue,
} from './observe.ts';
import { open } from './open.ts';

interface Opened {
  readonly blobs: BlobStore;
  /** Bounds that what was opened knows of. */
  readonly bounds: readonly BoundCheck[];
  /** Reasons why something of it does not work right now, for the operator; else empty. */
  unhealthyReasons(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface Adapters extends Opened, OpenedKeyring {
  readonly store: EventStore;
  readonly queues: RenderQueues;
  readonly openRateLimiter: (clock: Clock) => Promise<RateLimiter>;
}

export interface RendererAdapters extends Opened {
  readonly queue: RenderQueue;
}

/**
 * Opens the adapters that an API node, or a command on its store, works with.
 * @param options `create`: makes an empty store where there is none, instead of refusing
 * @throws {Error} one line that names the file, server or setting and the remedy
 */
export function openAdapters(
  config: Config,
  logger: Logger,
  options: Observers & { readonly create: boolean },
): Promise<Adapters> {
  return open(config, logger, 'api', async (opened) => {
    const { openings } = opened;
    const nats = opened.nats && observedNats(opened.nats, options);
    const around = { ...opened, nats };
    const { store: unobserved, database } = await openEventStore(around, {
      ...(options.create && { create: true }),
      write: true,
      serve: true,
    });
    if ((await unobserved.head()) === 0n) refuseEmptied(config, logger);
    const store = observedEventStore(unobserved, options);
    const queues = nats ? await openNatsQueues(nats, store, logger) : embeddedQueues(config);
    // This comes before documents have a place: a node that is not this log's leaves nothing behind.
    const keyring = await openKeyring(around, store);
    const blobs = observedBlobStore(await openBlobs(around, 'api', database), options);
    return {
      store,
      blobs,
      ...keyring,
      queues: { ...queues, open: async (side) => observedQueue(await queues.open(side), options) },
      openRateLimiter: async (clock) =>
        nats ? await openNatsRateLimiter(nats, logger, clock) : new MemoryRateLimiter(clock),
      bounds: openings.bounds,
      unhealthyReasons: () => openings.unhealthyReasons(),
    };
  });
}

function embeddedQueues(config: Config): RenderQueues {
  const lease = new FileLease(join(config.dataDir, 'render.lock'));
  return {
    open: async () => new InProcessRenderQueue(),
    watch: async () => watchHere(config),
    onReturn: () => () => {},
    claim: async () => {},
    lease: () => lease,
  };
}

/**
 * Opens the adapters that a renderer node works with: neither the event store nor the keyring.
 * @throws {Error} one line that names the server or setting and the remedy
 */
export function openRendererAdapters(
  config: Config,
  logger: Logger,
  observers: Observers,
): Promise<RendererAdapters> {
  return open(config, logger, 'renderer', async ({ openings, nats: link }) => {
    const nats = observedNats(needed('NATS_URL', link), observers);
    openDirectory('DATA_DIR', config.dataDir);
    const opened = await openBlobs({ config, logger, openings, nats }, 'renderer');
    const blobs = observedBlobStore(opened, observers);
    await warnOfApiRights(nats, config.natsUrl ?? '', logger);
    const { NatsRenderQueue } = await import('../render-queue/nats/queue.ts');
    const queue = await NatsRenderQueue.open({ link: nats, logger, side: 'renderer' });
    openings.add({ close: () => queue.close() });
    return {
      queue: observedQueue(queue, observers),
      blobs,
      bounds: openings.bounds,
      unhealthyReasons: () => openings.unhealthyReasons(),
    };
  });
}

/** The parties that vouch for checkpoints. */
export function createAttestors({ witnesses, tsaUrl }: Config): Attestors {
  return {
    witnesses: witnesses.map((witness) => createWitness(witness)),
    ...(tsaUrl !== undefined && { timestampAuthority: createTimestampAuthority(tsaUrl) }),
  };
}

/** The way to the mail server of the settings; undefined: there is none. */
export async function createMailer({ smtpUrl: server, mailFrom: from }: Config) {
  if (server === undefined || from === undefined) return undefined;
  const { createSmtpMailer } = await import('../mail/smtp.ts');
  return createSmtpMailer({ server, from });
}
