/**
 * A small key-value bucket on which nodes agree by comparing and setting, and the limits of all buckets and streams, set
 * when they are made: nothing fills a server's disk or memory without end.
 */
import { JetStreamApiCodes, JetStreamApiError, jetstream } from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { withTimeout } from '../async/with-timeout.ts';
import { nameIn } from './address.ts';
import type { NatsLink } from './connection.ts';

export interface BucketOptions {
  /** Its name in the namespace of the connection. */
  readonly name: string;
  /** An entry that was not written for so long is gone; 0: it stays. */
  readonly maxAgeMs: number;
  /** `memory`: forgotten when the server restarts. */
  readonly storage: 'memory' | 'file';
  /** Its limit, where this node makes it; that of a few entries unless given. */
  readonly maxBytes?: number;
  /** The longest time that the server may take for an answer. */
  readonly answerMs: number;
}

export interface BucketEntry {
  readonly value: string;
  readonly revision: number;
}

/** The limits here decide: the client's own would count what keeps this process busy. */
const CLIENT_MS = 10_000;
const SET_UP_MS = 5000;

/** A bucket that is made again, empty, whenever it is missing. */
export class Bucket {
  readonly #link: NatsLink;
  readonly #options: BucketOptions;
  #opened: Promise<KV> | undefined;

  /** Its whole name at the server. */
  get name(): string {
    return nameIn(this.#link.namespace, this.#options.name);
  }

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
      const options = { previousSeq: revision, timeout: CLIENT_MS };
      return await this.#use((kv) => kv.put(key, value, options));
    } catch (error) {
      if (isWrongRevision(error)) return undefined;
      throw error;
    }
  }

  /** Opens the bucket, or makes it. @throws when the server does not answer, or refuses */
  async ensure(): Promise<void> {
    await withTimeout(SET_UP_MS, this.#open(), noAnswer);
  }

  async #use<T>(work: (kv: KV) => Promise<T>): Promise<T> {
    if (!this.#link.isUp()) throw new Error('NATS is away.');
    const { answerMs } = this.#options;
    const opened = this.#open();
    try {
      const kv = await withTimeout(2 * answerMs, opened, noAnswer);
      return await withTimeout(answerMs, work(kv), noAnswer);
    } catch (error) {
      // A server that restarted has no such bucket any more: the next use makes it.
      if (!isWrongRevision(error) && this.#opened === opened) this.#opened = undefined;
      throw error;
    }
  }

  #open(): Promise<KV> {
    const { maxAgeMs, storage, maxBytes = MAX_BYTES.small } = this.#options;
    const manager = new Kvm(jetstream(this.#link.connection, { timeout: CLIENT_MS }));
    this.#opened ??= withinStorage(maxBytes, (max_bytes) =>
      manager.create(this.name, {
        ttl: maxAgeMs,
        storage,
        max_bytes,
        history: 1,
        replicas: this.#link.replicas,
        // Only the stream's leader knows the last write for certain.
        allow_direct: false,
        timeout: CLIENT_MS,
      }),
    );
    const opened = this.#opened;
    opened.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }
}

const noAnswer = (): Error => new Error('NATS does not answer in time.');

function isWrongRevision(error: unknown): boolean {
  return (
    error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence
  );
}

const MiB = 2 ** 20;
const GiB = 2 ** 30;

/** Bytes of each, by what it holds. Full, it refuses what is new. An operator's own limits are left as they are. */
export const MAX_BYTES = {
  /** Waiting jobs are few at a time: the rest waits in the log. */
  jobs: 256 * MiB,
  /** Documents and manifests. */
  blobs: 32 * GiB,
  /** The names of those. */
  blobIndex: GiB,
  /** Some 300 bytes an account. */
  keys: GiB,
  /** A lease, or the name of a log. */
  small: MiB,
  /** Counts of requests, in memory: full, each node counts for itself. */
  rates: 64 * MiB,
} as const;

export const MAX_JOBS = 100_000;

/** The server reserves what a stream may take, and has not so much: storage, memory, or an account's share. */
const TOO_MUCH: ReadonlySet<number> = new Set([10_002, 10_023, 10_028, 10_047]);
const LEAST = MiB;

/**
 * Makes a stream with that limit, or with a quarter of it, and so on, where the server cannot reserve as much:
 * others must find room, too.
 */
export async function withinStorage<T>(
  maxBytes: number,
  make: (maxBytes: number) => Promise<T>,
): Promise<T> {
  for (let bytes = maxBytes; ; bytes /= 4) {
    try {
      return await make(Math.max(bytes, LEAST));
    } catch (error) {
      const mayFit = error instanceof JetStreamApiError && TOO_MUCH.has(error.code);
      if (!mayFit || bytes <= LEAST) throw error;
    }
  }
}
