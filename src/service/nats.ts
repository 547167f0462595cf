/**
 * The parts that nodes share over NATS: the render queue, the lease of its leader, and rate limits; and who leads and
 * renders, as a process sees it from outside, also without NATS.
 */

import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import type { EventStore } from '../event-store/port.ts';
import { isFileLeaseHeld } from '../leader/file-lease.ts';
import type { Lease } from '../leader/port.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';
import { inboxOf, nameIn, parseNatsUrl } from '../nats/address.ts';
import type { Bucket } from '../nats/bucket.ts';
import type { NatsLink } from '../nats/connection.ts';
import { createLogger, type Logger } from '../observe/log.ts';
import type { NatsQueueSide } from '../render-queue/nats/queue.ts';
import type { RendererWatch, RenderQueue } from '../render-queue/port.ts';
import type { Clock } from '../time/clock.ts';

/** Each side has an inbox of its own at the server, or its permissions could not be told apart. */
export type NatsSide = 'api' | 'renderer';

/** The bucket that names the event log of a namespace. */
export const LOG_BUCKET = 'LOG';
const ORIGIN_KEY = 'origin';
const ANSWER_MS = 3000;
const PROBE_MS = 1000;

/** The connection that the adapters of a process share; undefined where no server is named. */
export async function connect(
  { natsUrl }: Config,
  logger: Logger,
  side: NatsSide,
): Promise<NatsLink | undefined> {
  if (natsUrl === undefined) return undefined;
  const { connectToNats } = await import('../nats/connection.ts');
  const inboxPrefix = inboxOf(parseNatsUrl(natsUrl).namespace, side);
  return await connectToNats(natsUrl, { name: `pressledger ${side}`, inboxPrefix, logger });
}

/** Warns of a renderer that may do what an API node may: a page that breaks out of Chrome could do it, too. */
export async function warnOfApiRights(link: NatsLink, url: string, logger: Logger): Promise<void> {
  const { connectToNats } = await import('../nats/connection.ts');
  const silent = logger.child({}, { level: 'silent' });
  // A connection of its own: the server's refusal, which is as it should be, would be logged as an error.
  const { inboxPrefix, namespace } = link;
  const probe = await connectToNats(url, { name: 'rights', inboxPrefix, logger: silent });
  try {
    const subject = `$JS.API.STREAM.INFO.KV_${nameIn(namespace, LOG_BUCKET)}`;
    await probe.connection.request(subject, '', { timeout: PROBE_MS });
    logger.warn(
      "this renderer's NATS user may do what an API node may: give renderers a user of their own, as in " +
        'deploy/nats-accounts.conf',
    );
  } catch {
    // It may not ask.
  } finally {
    await probe.close();
  }
}

/** Warns of streams that are not available without one server of a cluster, or have fewer replicas than NATS_URL asks for. */
async function warnOfFewReplicas(link: NatsLink, logger: Logger): Promise<void> {
  if (link.connection.info?.cluster === undefined) return;
  const prefixes = ['', 'KV_', 'OBJ_'].flatMap((kind) => [
    `${kind}${nameIn(link.namespace, '')}`,
    `${kind}${link.namespace}-`,
  ]);
  const { jetstreamManager } = await import('@nats-io/jetstream');
  try {
    const manager = await jetstreamManager(link.connection, { checkAPI: false });
    const few: string[] = [];
    for await (const { config } of manager.streams.list()) {
      const isOurs = prefixes.some((prefix) => config.name.startsWith(prefix));
      if (isOurs && config.num_replicas < Math.max(link.replicas, 2)) few.push(config.name);
    }
    if (few.length === 0) return;
    const wanted = Math.max(link.replicas, 3);
    logger.warn(
      { streams: few },
      'NATS is a cluster, but these streams have too few replicas to stay available when one server fails: run ' +
        `nats stream edit NAME --replicas ${wanted} for each, and add replicas=${wanted} to NATS_URL`,
    );
  } catch (error) {
    logger.warn({ err: error }, 'the replicas of the streams at NATS are not known');
  }
}

/**
 * Keeps two event logs out of one namespace: the leader offers jobs from its own log alone, so nobody would
 * render what a node of another log accepts. An entry at the server names the log's origin.
 */
class LogClaim {
  readonly #bucket: Bucket;
  readonly #logger: Logger;
  readonly #refusal: string;

  constructor(bucket: Bucket, namespace: string, logger: Logger) {
    this.#bucket = bucket;
    this.#logger = logger;
    this.#refusal =
      `The namespace ${namespace} of NATS_URL belongs to another event log, and nobody would render what ` +
      'this node accepts: give this deployment a namespace of its own, NATS_URL=nats://host?namespace=NAME, ' +
      'the same on all its nodes. If its log took the place of the other one, begun again, stop all nodes and ' +
      `delete the entry that names the old one: nats kv del ${bucket.name} ${ORIGIN_KEY}.`;
  }

  /** Finds a namespace that was forgotten before anything is made there. @throws {Error} one line */
  async refuseNewLog(store: Pick<EventStore, 'head'>): Promise<void> {
    // The order matters: a log is on disk before it is named here.
    const owner = await this.#answer(async () => (await this.#bucket.get(ORIGIN_KEY))?.value);
    if (owner && (await store.head()) === 0n) {
      throw new Error(`The event log is empty: if it should not be, restore it. ${this.#refusal}`);
    }
  }

  /**
   * Claims the namespace for the log of this origin, again where NATS has lost its data.
   * @returns false while NATS does not say whose it is
   * @throws {Error} one line: it is another log's
   */
  async take(origin: string): Promise<boolean> {
    const owner = await this.#answer(() => this.#ownerAfterClaim(origin));
    if (owner !== undefined && owner !== origin) throw new Error(this.#refusal);
    return owner !== undefined;
  }

  async #ownerAfterClaim(origin: string): Promise<string> {
    for (;;) {
      const { value = '', revision = 0 } = (await this.#bucket.get(ORIGIN_KEY)) ?? {};
      if (value !== '') return value;
      // The server takes one of two that claim it at once.
      if ((await this.#bucket.set(ORIGIN_KEY, origin, revision)) !== undefined) return origin;
    }
  }

  async #answer(ask: () => Promise<string | undefined>): Promise<string | undefined> {
    try {
      return await ask();
    } catch (error) {
      this.#logger.debug({ err: error }, 'NATS does not say which event log it belongs to');
      return undefined;
    }
  }
}

/** Access to the render queue, and to the right to feed it. */
export interface RenderQueues {
  /**
   * The queue as one part of this process uses it; closing it leaves other parts' alone.
   * @param side `api` offers jobs, `recorder` records reports, `renderer` takes jobs and reports, `both` does all of it
   */
  open(side: NatsQueueSide): Promise<RenderQueue>;
  /** Calls back when a server that was away is back, and may have lost jobs; returns how to end that. */
  onReturn(listener: () => void): () => void;
  /** Reserves a shared queue for the log of this origin. @throws {Error} one line: it is another log's */
  claim(logOrigin: string): Promise<void>;
  /** Sees the renderers, and whether somebody feeds them. */
  watch(): Promise<RendererWatch>;
  /** The right to offer the log's jobs. */
  lease(logOrigin: string): Lease;
}

/** @throws {Error} one line: the namespace belongs to another event log */
export async function openNatsQueues(
  link: NatsLink,
  store: Pick<EventStore, 'head'>,
  logger: Logger,
): Promise<RenderQueues> {
  const [{ Bucket: NatsBucket }, { NatsLease }, { NatsRenderQueue }] = await Promise.all([
    import('../nats/bucket.ts'),
    import('../leader/nats-lease.ts'),
    import('../render-queue/nats/queue.ts'),
  ]);
  // File storage outlives a restart of the server. The entry never expires.
  const kept = { maxAgeMs: 0, storage: 'file', answerMs: ANSWER_MS } as const;
  const bucket = new NatsBucket(link, { name: LOG_BUCKET, ...kept });
  const claim = new LogClaim(bucket, link.namespace, logger);
  await claim.refuseNewLog(store);
  const lease = new NatsLease({ link, logger });
  return {
    onReturn: (listener) => link.onReconnect(listener),
    open: async (side) => {
      const queue = await NatsRenderQueue.open({ link, logger, side });
      if (side !== 'recorder') await warnOfFewReplicas(link, logger);
      return queue;
    },
    watch: () => watchOverNats(link),
    claim: async (logOrigin) => void (await claim.take(logOrigin)),
    lease: (logOrigin) => ({
      acquire: async () => ((await claim.take(logOrigin)) ? await lease.acquire() : undefined),
    }),
  };
}

export async function openNatsRateLimiter(
  link: NatsLink,
  logger: Logger,
  clock: Clock,
): Promise<RateLimiter> {
  const { NatsKvRateLimiter } = await import('../limits/rate-limiter/nats-kv.ts');
  return await NatsKvRateLimiter.open({ link, logger, clock });
}

/** The process that leads renders as well, where there is no NATS. */
export function watchHere({ dataDir, renderConcurrency }: Config): RendererWatch {
  return {
    look: async () => {
      const isLed = await isFileLeaseHeld(join(dataDir, 'render.lock'));
      return { isLed, renderers: isLed ? [{ id: 'here', slots: renderConcurrency }] : [] };
    },
    close: () => {},
  };
}

/** Knows each renderer a second after it was opened. */
export async function watchOverNats(link: NatsLink): Promise<RendererWatch> {
  const [{ SlotCounter }, { isNatsLeaseHeld }] = await Promise.all([
    import('../render-queue/nats/slots.ts'),
    import('../leader/nats-lease.ts'),
  ]);
  // The leader logs who comes and goes.
  const slots = new SlotCounter(link, createLogger('silent'), () => {});
  return {
    look: async () => ({ isLed: await isNatsLeaseHeld(link), renderers: slots.renderers() }),
    close: () => slots.close(),
  };
}
