/** The object store and its index at a server of NATS: made where they are missing. */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { MAX_BYTES, withinStorage } from '../nats/bucket.ts';
import type { IfUp } from '../nats/connection.ts';

export interface NatsBucketsOptions {
  /** The object store; the key-value bucket is named after it, with `-index`. */
  readonly bucket: string;
  /** Servers that hold each object; more than one needs a cluster. */
  readonly replicas: number;
  /** The longest wait for one answer of the server, and for the next bytes of an object. */
  readonly timeoutMs: number;
  /** Tells at once that the connection is down. */
  readonly ifUp: IfUp;
}

export interface OpenedBuckets {
  readonly objects: ObjectStore;
  readonly index: KV;
  readonly stream: JetStreamClient;
  readonly manager: JetStreamManager;
}

export class NatsBuckets {
  readonly #connection: NatsConnection;
  readonly #options: NatsBucketsOptions;
  #opened: Promise<OpenedBuckets> | undefined;

  constructor(connection: NatsConnection, options: NatsBucketsOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** The stream that the object store lies in. */
  get objectStream(): string {
    return `OBJ_${this.#options.bucket}`;
  }

  /** The stream that the index lies in. */
  get indexStream(): string {
    return `KV_${this.#options.bucket}-index`;
  }

  open(): Promise<OpenedBuckets> {
    this.#opened ??= this.#make().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  /** Makes the buckets again, once, where their server has lost them. */
  async use<T>(work: (buckets: OpenedBuckets) => Promise<T>): Promise<T> {
    const opened = async (): Promise<T> => await work(await this.open());
    try {
      return await this.#options.ifUp(opened);
    } catch (error) {
      if (!isBucketLost(error)) throw error;
      this.#opened = undefined;
      return await this.#options.ifUp(opened);
    }
  }

  async #make(): Promise<OpenedBuckets> {
    const { bucket, replicas, timeoutMs } = this.#options;
    const stream = jetstream(this.#connection, { timeout: timeoutMs });
    const manager = await stream.jetstreamManager();
    const kept = { storage: StorageType.File, replicas };
    try {
      // The smaller one first: the larger one takes less where the server has less.
      const index = await withinStorage(MAX_BYTES.blobIndex, (max_bytes) =>
        new Kvm(stream).create(`${bucket}-index`, { ...kept, history: 1, max_bytes }),
      );
      const objects = await withinStorage(MAX_BYTES.blobs, (max_bytes) =>
        new Objm(stream).create(bucket, { ...kept, max_bytes }),
      );
      return { objects, index, stream, manager };
    } catch (error) {
      // Without the right to make them, no answer comes that says so.
      const missing = await isMissing(manager, [this.objectStream, this.indexStream]);
      if (error instanceof JetStreamApiError || !missing) throw error;
      throw new Error(
        'it is not there yet, and this node may not make it; start an api node first',
        { cause: error },
      );
    }
  }
}

export function isCode(error: unknown, code: number): boolean {
  return error instanceof JetStreamApiError && error.code === code;
}

async function isMissing(manager: JetStreamManager, streams: readonly string[]): Promise<boolean> {
  for (const stream of streams) {
    try {
      await manager.streams.info(stream);
    } catch (error) {
      return isCode(error, JetStreamApiCodes.StreamNotFound);
    }
  }
  return false;
}

function isBucketLost(error: unknown): boolean {
  if (isCode(error, JetStreamApiCodes.StreamNotFound)) return true;
  return error instanceof errors.RequestError && error.isNoResponders();
}
