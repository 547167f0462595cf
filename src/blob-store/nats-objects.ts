/**
 * Objects in the object store of NATS JetStream. An object's name is one opaque word to NATS, so a
 * key-value bucket beside it says which objects there are below a folder: written before the object,
 * deleted after it, so that it never says too little.
 */
import {
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamManager,
  jetstream,
} from '@nats-io/jetstream';
import { type KV, Kvm } from '@nats-io/kv';
import { type ObjectStore, Objm, StorageType } from '@nats-io/obj';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { Readable } from 'node:stream';
import {
  type ObjectContent,
  type Objects,
  ObjectsUnavailable,
  type StoredObject,
  withIdleLimit,
} from './objects.ts';
import type { BlobRange } from './port.ts';

export interface NatsObjectsOptions {
  /** The object store; the key-value bucket is named after it, with `-index`. */
  readonly bucket?: string;
  /** Servers that hold each object; more than one needs a cluster. */
  readonly replicas?: number;
  /** The longest wait for one answer of the server, and for the next bytes of an object. */
  readonly timeoutMs?: number;
}

interface Buckets {
  readonly objects: ObjectStore;
  readonly index: KV;
  readonly manager: JetStreamManager;
}

export class NatsObjects implements Objects {
  readonly #connection: NatsConnection;
  readonly #bucket: string;
  readonly #replicas: number;
  readonly #timeoutMs: number;
  #buckets: Promise<Buckets> | undefined;

  constructor(connection: NatsConnection, options: NatsObjectsOptions = {}) {
    this.#connection = connection;
    this.#bucket = options.bucket ?? 'pressledger-blobs';
    this.#replicas = options.replicas ?? 1;
    this.#timeoutMs = options.timeoutMs ?? 5000;
  }

  /** Makes the buckets where there are none. @throws {Error} one line: why they cannot be used */
  async checkUsable(): Promise<void> {
    try {
      const { objects } = await this.#open();
      await objects.status();
    } catch (error) {
      throw new Error(
        `BLOB_STORE_URL: the NATS object store ${this.#bucket} cannot be used: ${reasonOf(error)}.`,
        { cause: error },
      );
    }
  }

  async put(key: string, content: ObjectContent): Promise<void> {
    await this.#attempt(`store ${key}`, async ({ objects, index }) => {
      const known = await objects.info(key);
      // Content never changes under its key, and replacing it would cut off whoever reads it now.
      if (known !== null && !known.deleted && known.size === content.bytes) return;
      await index.put(indexKey(key), '');
      const source = content.open();
      try {
        const stored = await objects.put({ name: key }, webStream(source), {
          timeout: this.#timeoutMs,
        });
        if (stored.size === content.bytes && hexDigest(stored.digest) === content.sha256) return;
        await objects.delete(key);
      } finally {
        source.destroy();
      }
      throw new TypeError(`${key} does not have the length and hash that were measured.`);
    });
  }

  get(key: string, range?: BlobRange): Promise<StoredObject | undefined> {
    return this.#attempt(`get ${key}`, async ({ objects }) => {
      const found = await objects.get(key);
      if (found === null) return undefined;
      // What its error says, the stream says too.
      found.error.catch(() => {});
      const bytes = found.info.size;
      const whole = withIdleLimit(
        Readable.fromWeb(found.data),
        this.#timeoutMs,
        `The object ${key}`,
      );
      if (range === undefined) return { bytes, content: whole };
      const part = Readable.from(partOf(whole, range), { objectMode: false });
      return { bytes, content: part.once('close', () => whole.destroy()) };
    });
  }

  size(key: string): Promise<number | undefined> {
    return this.#attempt(`look for ${key}`, async ({ objects }) => {
      const info = await objects.info(key);
      return info === null || info.deleted ? undefined : info.size;
    });
  }

  async delete(key: string): Promise<void> {
    await this.#attempt(`delete ${key}`, async ({ objects, manager }) => {
      await objects.delete(key);
      // Each would leave a marker of the deletion behind, for ever.
      const word = Buffer.from(key).toString('base64').replaceAll('+', '-').replaceAll('/', '_');
      await manager.streams.purge(`OBJ_${this.#bucket}`, {
        filter: `$O.${this.#bucket}.M.${word}`,
      });
      const index = `${this.#bucket}-index`;
      await manager.streams.purge(`KV_${index}`, { filter: `$KV.${index}.${indexKey(key)}` });
    });
  }

  list(folder: string): Promise<readonly string[]> {
    return this.#attempt(`list ${folder}`, async ({ index }) => {
      const keys: string[] = [];
      for await (const key of await index.keys(indexKey(`${folder}*`))) {
        keys.push(key.replace('.', '/'));
      }
      return keys;
    });
  }

  #open(): Promise<Buckets> {
    this.#buckets ??= this.#make().catch((error: unknown) => {
      this.#buckets = undefined;
      throw error;
    });
    return this.#buckets;
  }

  async #make(): Promise<Buckets> {
    const stream = jetstream(this.#connection, { timeout: this.#timeoutMs });
    const kept = { storage: StorageType.File, replicas: this.#replicas };
    const objects = await new Objm(stream).create(this.#bucket, kept);
    const index = await new Kvm(stream).create(`${this.#bucket}-index`, { ...kept, history: 1 });
    return { objects, index, manager: await stream.jetstreamManager() };
  }

  /** Makes the buckets again, once, where their server has lost them. */
  async #attempt<T>(what: string, work: (buckets: Buckets) => Promise<T>): Promise<T> {
    try {
      try {
        return await work(await this.#open());
      } catch (error) {
        if (!isBucketLost(error)) throw error;
        this.#buckets = undefined;
        return await work(await this.#open());
      }
    } catch (error) {
      if (error instanceof ObjectsUnavailable) throw error;
      throw new ObjectsUnavailable(`Could not ${what}: ${reasonOf(error)}.`, { cause: error });
    }
  }
}

/** Keys are two parts; a dot between them lets NATS find all that begin with the first. */
function indexKey(key: string): string {
  return key.replace('/', '.');
}

function hexDigest(digest: string): string {
  return Buffer.from(digest.slice('SHA-256='.length), 'base64url').toString('hex');
}

function webStream(source: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(source) as ReadableStream<Uint8Array>;
}

async function* partOf(whole: Readable, { start, end }: BlobRange): AsyncGenerator<Buffer> {
  let at = 0;
  for await (const chunk of whole) {
    const bytes = chunk as Buffer;
    const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
    at += bytes.length;
    if (part.length > 0) yield part;
    if (at > end) return;
  }
}

function isBucketLost(error: unknown): boolean {
  if (error instanceof JetStreamApiError) return error.code === JetStreamApiCodes.StreamNotFound;
  return error instanceof errors.RequestError && error.isNoResponders();
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
