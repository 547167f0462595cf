/** Picks one of several nodes for what only one may do: the one that holds the lease. */
import { setTimeout as pause } from 'node:timers/promises';
import { createInbox } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { Bucket, bucketPermissions } from './bucket.ts';
import type { NatsLink } from './connection.ts';

/** Held by at most one node at a time. */
export interface Lease {
  /** Resolves when it is no longer held: before any other node can get it, or at its release. */
  readonly lost: Promise<void>;
  /** Gives it up, so that a node that waits can have it at once. */
  release(): Promise<void>;
}

export interface NatsLeaseOptions {
  readonly link: NatsLink;
  readonly logger: Logger;
  /** The purpose of the lease: letters, digits and dashes. */
  readonly name: string;
  /** The time that the server keeps a lease that is not renewed. */
  readonly keepMs?: number;
}

const KEEP_MS = 10_000;
const bucketName = (name: string): string => `LEASE_${name}`;
const KEY = 'holder';

/** The subjects that a node that may hold it must be allowed to publish to. */
export const leasePermissions = (namespace: string, name: string): string[] =>
  bucketPermissions(namespace, bucketName(name));

export class NatsLease {
  readonly #options: NatsLeaseOptions;
  readonly #keepMs: number;
  readonly #bucket: Bucket;
  /** Tells this node's entry from another's. */
  readonly #holder = createInbox('h').slice(2);
  #held = false;

  constructor(options: NatsLeaseOptions) {
    const { link, name, keepMs = KEEP_MS } = options;
    this.#options = options;
    this.#keepMs = keepMs;
    // An answer that comes later than a third of the time would leave too little of it.
    const answerMs = Math.min(keepMs / 3, 3000);
    this.#bucket = new Bucket(link, {
      name: bucketName(name),
      maxAgeMs: keepMs,
      // A server that restarts must not give it to another while its holder believes to have it.
      storage: 'file',
      answerMs,
    });
  }

  /** @returns nothing while it is held, by another node or this one, or the server is away */
  async acquire(): Promise<Lease | undefined> {
    if (this.#held) return undefined;
    try {
      const entry = await this.#bucket.get(KEY);
      if (entry && entry.value !== '' && entry.value !== this.#holder) return undefined;
      // The server counts from when it wrote, which is never before it was asked.
      const askedAt = performance.now();
      const revision = await this.#bucket.set(KEY, this.#holder, entry?.revision ?? 0);
      return revision === undefined ? undefined : this.#hold(revision, askedAt);
    } catch (error) {
      this.#options.logger.debug({ err: error }, 'the lease cannot be asked for');
      return undefined;
    }
  }

  #hold(first: number, askedAt: number): Lease {
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
    // A server that comes back without its data gives it to whoever asks first. This node may, too.
    const forget = this.#options.link.onDisconnect(end);
    this.#held = true;

    const renew = async (): Promise<void> => {
      const sentAt = performance.now();
      const next = await this.#bucket.set(KEY, this.#holder, revision);
      if (ended.signal.aborted) return;
      // Another holds it, or the server lost it: either way it is no longer this node's.
      if (next === undefined) return end();
      revision = next;
      clearTimeout(expiry);
      expiry = setTimeout(end, sentAt + safeMs - performance.now());
    };
    const keep = async (): Promise<void> => {
      while (!ended.signal.aborted) {
        await pause(this.#keepMs / 3, undefined, { signal: ended.signal }).catch(() => {});
        if (ended.signal.aborted) return;
        // A renewal that fails is tried again while the lease holds.
        await renew().catch((error: unknown) => {
          this.#options.logger.warn({ err: error }, 'the lease could not be renewed');
        });
      }
    };
    void keep();

    return {
      lost,
      release: async () => {
        if (ended.signal.aborted) return;
        end();
        await this.#bucket.set(KEY, '', revision).catch(() => {});
      },
    };
  }
}
