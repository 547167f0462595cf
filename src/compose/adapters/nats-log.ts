/**
 * Claims a NATS for one event log: the one whose first event is named there. One node at a time feeds the
 * queue, from its own log, so nobody would render what a node of another log accepts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { EventStore, RecordedEvent, Subscription } from '../../event-store/port.ts';
import type { Logger } from '../../log.ts';
import { Bucket, bucketPermissions } from '../../nats/bucket.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { Lease, NatsLease } from '../../nats/lease.ts';

const BUCKET = 'LOG';
const KEY = 'first-event';
const ANSWER_MS = 3000;
const RETRY_MS = 500;

const OF_ANOTHER_LOG =
  'NATS_URL belongs to another event log than this node’s, and nobody would render what it accepts: give it ' +
  'a NATS server or account of its own. If its log took the place of the other one, restored or begun anew, ' +
  `stop all nodes and delete the entry that names the old one: nats kv del PRESSLEDGER_LOG ${KEY}.`;

/** The subjects that an API node must be allowed to publish to for the claim. */
export const logPermissions = (namespace: string): string[] => bucketPermissions(namespace, BUCKET);

export interface NatsLogOptions {
  readonly link: NatsLink;
  readonly store: EventStore;
  readonly logger: Logger;
}

export class NatsLog {
  readonly #link: NatsLink;
  readonly #store: EventStore;
  readonly #logger: Logger;
  readonly #bucket: Bucket;
  readonly #closing = new AbortController();
  /** Resolves when NATS turns out to be another log's. */
  readonly #lost = Promise.withResolvers<void>();
  #isAnothers = false;
  #first: RecordedEvent | undefined;
  #awaiting: Subscription | undefined;
  #claiming: Promise<void> | undefined;
  #endReclaiming: (() => void) | undefined;

  /** @throws {Error} one line: NATS is another log's */
  static async open(options: NatsLogOptions): Promise<NatsLog> {
    const log = new NatsLog(options);
    try {
      await log.#look();
    } catch (error) {
      // A node that feeds the queue looks again.
      options.logger.warn({ err: error }, 'which event log NATS belongs to cannot be seen');
    }
    if (log.#isAnothers) throw new Error(OF_ANOTHER_LOG);
    return log;
  }

  private constructor({ link, store, logger }: NatsLogOptions) {
    this.#link = link;
    this.#store = store;
    this.#logger = logger;
    // File storage outlives a restart of the server. The entry never expires: nobody writes it a second time.
    const kept = { maxAgeMs: 0, storage: 'file', answerMs: ANSWER_MS } as const;
    this.#bucket = new Bucket(link, { name: BUCKET, ...kept });
  }

  /** The right to feed the queue from this log. From the first call on, NATS is claimed for it. */
  async acquire(lead: NatsLease): Promise<Lease | undefined> {
    this.#endReclaiming ??= this.#keepClaimed();
    const lease = this.#isAnothers ? undefined : await lead.acquire();
    return lease && { ...lease, lost: Promise.race([lease.lost, this.#lost.promise]) };
  }

  missing(): string | undefined {
    return this.#isAnothers ? 'NATS belongs to another event log' : undefined;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#endReclaiming?.();
    await this.#awaiting?.stop();
    await this.#claiming;
  }

  /** A server that comes back may have lost what it knew. */
  #keepClaimed(): () => void {
    const claim = (): void => {
      this.#claiming ??= this.#claim().finally(() => {
        this.#claiming = undefined;
      });
    };
    claim();
    return this.#link.onReconnect(claim);
  }

  /** Ends when NATS is this log's, or another's. */
  async #claim(): Promise<void> {
    const { signal } = this.#closing;
    for (let tries = 1; !signal.aborted; tries += 1) {
      try {
        const first = await this.#firstEvent();
        if (signal.aborted || first === undefined) return;
        const entry = await this.#look();
        if (this.#isAnothers) this.#giveUp();
        if (entry.isTaken) return;
        const named = `${first.id} ${first.stream}`;
        if ((await this.#bucket.set(KEY, named, entry.revision)) !== undefined) return;
      } catch (error) {
        if (tries === 1)
          this.#logger.warn({ err: error }, 'NATS cannot be claimed for this log yet');
      }
      await pause(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Gives up NATS for as long as this process lives. The owner of NATS must not change under its work. */
  #giveUp(): void {
    this.#logger.error(OF_ANOTHER_LOG);
    this.#endReclaiming?.();
    this.#lost.resolve();
  }

  /** Sees whose it is. */
  async #look(): Promise<{ readonly isTaken: boolean; readonly revision: number }> {
    const { value = '', revision = 0 } = (await this.#bucket.get(KEY)) ?? {};
    if (value === '') return { isTaken: false, revision };
    const [id, stream = ''] = value.split(' ');
    const [event] = await this.#store.readStream(stream, { limit: 1 });
    this.#isAnothers = event?.id !== id;
    return { isTaken: true, revision };
  }

  /** Waits for the first event while the log is empty. Undefined if this is closed before. */
  async #firstEvent(): Promise<RecordedEvent | undefined> {
    if (this.#first !== undefined) return this.#first;
    const found = Promise.withResolvers<void>();
    this.#awaiting = this.#store.subscribe(0n, ([first]) => {
      this.#first ??= first;
      found.resolve();
    });
    await Promise.race([found.promise, this.#awaiting.ended]);
    await this.#awaiting.stop();
    return this.#first;
  }
}
