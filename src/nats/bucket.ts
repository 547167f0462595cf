/** A small key-value bucket on which nodes agree by comparing and setting. */
import { JetStreamApiCodes, JetStreamApiError, jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import type { NatsLink } from './connection.ts';

export interface BucketOptions {
  readonly name: string;
  /** An entry that was not written for so long is gone; 0: it stays. */
  readonly maxAgeMs: number;
  /** `memory`: forgotten when the server restarts. */
  readonly storage: 'memory' | 'file';
  /** How long the server may take for an answer. */
  readonly answerMs: number;
}

export interface BucketEntry {
  readonly value: string;
  readonly revision: number;
}

/** What of the server a user of that bucket needs to publish to. */
export const bucketPermissions = (name: string): string[] => [
  `$JS.API.STREAM.INFO.KV_${name}`,
  `$JS.API.STREAM.CREATE.KV_${name}`,
  `$JS.API.STREAM.MSG.GET.KV_${name}`,
  `$KV.${name}.>`,
];

/** It is made anew, empty, whenever it is missing. */
export class Bucket {
  readonly #link: NatsLink;
  readonly #options: BucketOptions;
  #opened: Promise<KV> | undefined;

  constructor(link: NatsLink, options: BucketOptions) {
    this.#link = link;
    this.#options = options;
  }

  /** @throws when the server does not answer in time */
  async get(key: string): Promise<BucketEntry | undefined> {
    const entry = await this.#use((kv) => kv.get(key));
    if (!entry) return undefined;
    return { value: entry.operation === 'PUT' ? entry.string() : '', revision: entry.revision };
  }

  /**
   * @param revision of the entry that it replaces; 0: there is none
   * @returns the new revision; undefined when another was there first
   * @throws when the server does not answer in time
   */
  async set(key: string, value: string, revision: number): Promise<number | undefined> {
    try {
      const timeout = this.#options.answerMs;
      return await this.#use((kv) => kv.put(key, value, { previousSeq: revision, timeout }));
    } catch (error) {
      if (isWrongRevision(error)) return undefined;
      throw error;
    }
  }

  /** Opens the bucket, or makes it. */
  async ensure(): Promise<void> {
    await this.#open();
  }

  async #use<T>(work: (kv: KV) => Promise<T>): Promise<T> {
    if (!this.#link.isUp()) throw new Error('NATS is away.');
    const opened = this.#open();
    try {
      return await within(2 * this.#options.answerMs, opened.then(work));
    } catch (error) {
      // A server that restarted has no such bucket any more: the next use makes it.
      if (!isWrongRevision(error) && this.#opened === opened) this.#opened = undefined;
      throw error;
    }
  }

  #open(): Promise<KV> {
    const { name, maxAgeMs, storage, answerMs } = this.#options;
    this.#opened ??= new Kvm(jetstream(this.#link.connection, { timeout: answerMs })).create(name, {
      ttl: maxAgeMs,
      storage,
      history: 1,
      // Only the stream's leader knows the last write for certain.
      allow_direct: false,
      timeout: answerMs,
    });
    const opened = this.#opened;
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }
}

function isWrongRevision(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
  );
}

/** The client has its own timeouts, but one answer of several may be the one that it does not bound. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('NATS does not answer in time.')), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
