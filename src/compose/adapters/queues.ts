import type { Clock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { RenderQueues } from '../../core.ts';
import { tryAcquireLease } from '../../sqlite/lease.ts';
import type { Logger } from '../../log.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { RateLimiter } from '../../rate-limiter/port.ts';
import { InProcessRenderQueue } from '../../render-queue/in-process.ts';
import type { OpenedBlobs } from './blobs.ts';
import { inDataDir } from './data-dir.ts';
import type { NatsLog } from './nats-log.ts';

export function embeddedQueues(config: Config): RenderQueues {
  return {
    shared: false,
    open: async () => new InProcessRenderQueue(),
    onReturn: () => () => {},
    acquireLead: () => tryAcquireLease(inDataDir(config, 'render.lock')),
  };
}

export interface NatsQueuesOptions {
  readonly link: NatsLink;
  readonly log: NatsLog;
  /** Requests that renderers cannot read for themselves. */
  readonly readRow: OpenedBlobs['readRow'];
  readonly logger: Logger;
}

export async function natsQueues({
  link,
  log,
  readRow,
  logger,
}: NatsQueuesOptions): Promise<RenderQueues> {
  const [{ NatsLease }, { NatsRenderQueue }] = await Promise.all([
    import('../../nats/lease.ts'),
    import('../../render-queue/nats/queue.ts'),
  ]);
  const lead = new NatsLease({ link, logger, name: 'LEAD' });
  return {
    shared: true,
    onReturn: (listener) => link.onReconnect(listener),
    open: (side) =>
      NatsRenderQueue.open({ link, logger, side, ...(readRow && { carry: readRow }) }),
    acquireLead: () => log.acquire(lead),
  };
}

export async function natsRateLimiter(
  link: NatsLink,
  logger: Logger,
  clock: Clock,
): Promise<RateLimiter> {
  const { NatsKvRateLimiter } = await import('../../rate-limiter/nats-kv.ts');
  return await NatsKvRateLimiter.open({ link, logger, clock });
}
