import { setTimeout as pause } from 'node:timers/promises';
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { createInbox } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { nameIn } from '../nats/address.ts';
import { Bucket } from '../nats/bucket.ts';
import type { NatsLink } from '../nats/connection.ts';
import type { HeldLease, Lease } from './port.ts';

export interface NatsLeaseOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  /** The time that the server keeps a lease that is not renewed. */
  readonly keepMs?: number;
}

const KEEP_MS = 10_000;
const BUCKET = 'LEASE_LEAD';
const KEY = 'holder';

/** A lease that nodes on one NATS share: an entry that its holder renews, or else the server forgets it. */
export class NatsLease implements Lease {
  readonly #link: NatsLink;
  readonly #logger: Logger;
  readonly #keepMs: number;
  readonly #bucket: Bucket;
  /** Tells this node's entry from another's. */
  readonly #holder = createInbox('h').slice(2);
  #held = false;

  constructor({ link, logger, keepMs = KEEP_MS }: NatsLeaseOptions) {
    this.#link = link;
    this.#logger = logger;
    this.#keepMs = keepMs;
    this.#bucket = new Bucket(link, {
      name: BUCKET,
      maxAgeMs: keepMs,
      // A server that restarts must not give it to another while its holder believes to have it.
      storage: 'file',
      // An answer that comes later than a third of the time would leave too little of it.
      answerMs: Math.min(keepMs / 3, 3000),
    });
  }

  async acquire(): Promise<HeldLease | undefined> {
    if (this.#held) return undefined;
    try {
      const entry = await this.#bucket.get(KEY);
      if (entry && entry.value !== '' && entry.value !== this.#holder) return undefined;
      // The server counts from when it wrote, which is never before it was asked.
      const askedAt = performance.now();
      const revision = await this.#bucket.set(KEY, this.#holder, entry?.revision ?? 0);
      return revision === undefined ? undefined : this.#hold(revision, askedAt);
    } catch (error) {
      this.#logger.debug({ err: error }, 'the lease cannot be asked for');
      return undefined;
    }
  }

  #hold(first: number, askedAt: number): HeldLease {
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    const ended = new AbortController();
    let revision = first;
    // Before the server forgets it: two clocks may run apart by a little.
    const safeMs = this.#keepMs * 0.8;
    const end = (): void => {
      if (ended.signal.aborted) return;
      clearTimeout(expiry);
      forget();
      this.#held = false;
      ended.abort();
      lose();
    };
    let expiry = setTimeout(end, askedAt + safeMs - performance.now());
    // A server that comes back without its data gives it to the first that asks, which may be this node.
    const forget = this.#link.onDisconnect(end);
    this.#held = true;

    const renew = async (): Promise<void> => {
      const sentAt = performance.now();
      const next = await this.#bucket.set(KEY, this.#holder, revision);
      if (next !== undefined) revision = next;
      if (ended.signal.aborted) return;
      // Another holds it, or the server lost it: either way it is not this node's any more.
      if (next === undefined) return end();
      clearTimeout(expiry);
      expiry = setTimeout(end, sentAt + safeMs - performance.now());
    };
    let renewing = Promise.resolve();
    const keep = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await pause(this.#keepMs / 3, undefined, { signal: ended.signal }).catch(() => {});
        if (ended.signal.aborted) return;
        // A renewal that fails is tried again while the lease holds.
        renewing = renew().catch((error: unknown) => {
          this.#logger.warn({ err: error }, 'the lease could not be renewed');
        });
        await renewing;
      }
    };
    void keep();

    return {
      lost,
      release: async () => {
        if (ended.signal.aborted) return;
        end();
        // A renewal under way counts the revision up, and the server takes a release of the latest one only.
        await renewing;
        await this.#bucket.set(KEY, '', revision).catch(() => {});
      },
    };
  }
}

/** Tells whether a node holds the lease; undefined while the server does not say. Makes no bucket. */
export async function isNatsLeaseHeld(link: NatsLink): Promise<boolean | undefined> {
  const bucket = nameIn(link.namespace, BUCKET);
  try {
    const manager = await jetstreamManager(link.connection, { checkAPI: false });
    const query = { last_by_subj: `$KV.${bucket}.${KEY}` };
    const message = await manager.streams.getMessage(`KV_${bucket}`, query);
    return message !== null && message.string() !== '';
  } catch (error) {
    return error instanceof JetStreamApiError ? false : undefined;
  }
}
