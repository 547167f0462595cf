/**
 * Objects in the object store of NATS JetStream. An object's name is one opaque word to NATS, so a
 * key-value bucket beside it says which objects there are below a folder: written before the object,
 * deleted after it. Renderers may write to both, so the content's own subjects are listed, too.
 */

import { Readable } from 'node:stream';
import { JetStreamApiCodes } from '@nats-io/jetstream';
import type { ObjectInfo } from '@nats-io/obj';
import { headers, type NatsConnection, nuid } from '@nats-io/transport-node';
import { errorMessage } from '../errors/error-message.ts';
import {
  isCode,
  NatsBuckets,
  type NatsBucketsOptions,
  type OpenedBuckets,
} from './nats-buckets.ts';
import { CHUNK_BYTES, type ChunkPlaces, readChunks, storeChunks } from './nats-chunks.ts';
import {
  type ObjectContent,
  type Objects,
  ObjectsUnavailable,
  type StoredObject,
} from './objects.ts';
import type { BlobRange } from './port.ts';

interface Upload {
  readonly key: string;
  /** The subject's end of its chunks. */
  readonly upload: string;
  readonly content: ObjectContent;
  /** The revision of the description that it replaces; 0: there is none. */
  readonly revision: number;
}

export class NatsObjects implements Objects {
  readonly #bucket: string;
  readonly #buckets: NatsBuckets;

  constructor(connection: NatsConnection, options: Partial<NatsBucketsOptions> = {}) {
    const { bucket = 'pressledger-blobs', replicas = 1, timeoutMs = 5000 } = options;
    const { ifUp = (work) => work() } = options;
    this.#bucket = bucket;
    this.#buckets = new NatsBuckets(connection, { bucket, replicas, timeoutMs, ifUp });
  }

  /** Makes the buckets if there are none. @throws {Error} one line: why they cannot be used */
  async checkUsable(): Promise<void> {
    try {
      const { objects } = await this.#buckets.open();
      await objects.status();
    } catch (error) {
      throw new Error(
        `BLOB_STORE_URL: the NATS object store ${this.#bucket} cannot be used: ${errorMessage(error)}.`,
        { cause: error },
      );
    }
  }

  async put(key: string, content: ObjectContent): Promise<void> {
    await this.#attempt(`store ${key}`, async (buckets) => {
      const { objects, index, manager } = buckets;
      const known = await objects.info(key);
      // Content never changes under its key, and replacing it would cut off its readers.
      if (isThere(key, known) && known.size === content.bytes) return;
      await index.put(indexKey(key), '');
      // Below the key: what an upload leaves behind that its node does not survive goes with the key.
      const upload = `${indexKey(key)}.${nuid.next()}`;
      try {
        await this.#upload(buckets, { key, upload, content, revision: known?.revision ?? 0 });
      } catch (error) {
        // Renderers may not. What stays is found by deleting the key.
        await manager.streams
          .purge(this.#buckets.objectStream, { filter: this.#chunks(upload) })
          .catch(() => {});
        if (isCode(error, JetStreamApiCodes.StreamWrongLastSequence)) {
          // Another node stored it meanwhile.
          if ((await objects.info(key))?.size === content.bytes) return;
        }
        throw error;
      }
    });
  }

  get(key: string, range?: BlobRange): Promise<StoredObject | undefined> {
    return this.#attempt(`get ${key}`, async ({ objects, manager }) => {
      const info = await objects.info(key);
      if (!isThere(key, info)) return undefined;
      const chunks = readChunks(manager, this.#placesOf(info), range);
      return { bytes: info.size, content: Readable.from(chunks, { objectMode: false }) };
    });
  }

  size(key: string): Promise<number | undefined> {
    return this.#attempt(`look for ${key}`, async ({ objects }) => {
      const info = await objects.info(key);
      return isThere(key, info) ? info.size : undefined;
    });
  }

  async delete(key: string): Promise<void> {
    await this.#attempt(`delete ${key}`, async ({ manager }) => {
      await manager.streams.purge(this.#buckets.objectStream, { filter: this.#description(key) });
      await manager.streams.purge(this.#buckets.objectStream, {
        filter: this.#chunks(`${indexKey(key)}.*`),
      });
      const filter = `$KV.${this.#bucket}-index.${indexKey(key)}`;
      await manager.streams.purge(this.#buckets.indexStream, { filter });
    });
  }

  /**
   * Collects the keys first: ones that go while they are read would hold up the server's answer. The content
   * counts beside the index, which a renderer could empty.
   */
  async *list(folder: string): AsyncGenerator<string> {
    const filter = folder === '' ? '>' : indexKey(`${folder}*`);
    yield* await this.#attempt(`list ${folder}`, async ({ index, manager }) => {
      const keys = new Set<string>();
      for await (const key of await index.keys(filter)) keys.add(key.replace('.', '/'));
      const chunks = folder === '' ? '>' : indexKey(`${folder}>`);
      const { state } = await manager.streams.info(this.#buckets.objectStream, {
        subjects_filter: this.#chunks(chunks),
      });
      for (const subject of Object.keys(state.subjects ?? {})) {
        const [first, second, ...upload] = subject.slice(this.#chunks('').length).split('.');
        if (second !== undefined && upload.length === 1) keys.add(`${first}/${second}`);
      }
      return keys;
    });
  }

  /** @throws {JetStreamApiError} another object came under the key @throws {TypeError} other content */
  async #upload(
    { stream }: OpenedBuckets,
    { key, upload, content, revision }: Upload,
  ): Promise<void> {
    const source = content.open();
    const chunks = await storeChunks(stream, this.#chunks(upload), source).finally(() =>
      source.destroy(),
    );
    const { bytes, sha256, sequences } = chunks;
    if (bytes !== content.bytes || sha256.toString('hex') !== content.sha256) {
      throw new TypeError(`${key} does not have the length and hash that were measured.`);
    }
    // The form that the object stores of all clients have (NATS ADR-20).
    const description = {
      name: key,
      bucket: this.#bucket,
      nuid: upload,
      size: bytes,
      chunks: sequences.length,
      digest: `SHA-256=${urlSafe(sha256)}`,
      options: { max_chunk_size: CHUNK_BYTES },
      metadata: { sequences: sequences.join(',') },
    };
    const replace = headers();
    replace.set('Nats-Rollup', 'sub');
    await stream.publish(this.#description(key), JSON.stringify(description), {
      headers: replace,
      expect: { lastSubjectSequence: revision },
    });
  }

  #placesOf({ nuid: upload, size, metadata = {} }: ObjectInfo): ChunkPlaces {
    const { sequences = '' } = metadata;
    return {
      stream: this.#buckets.objectStream,
      subject: this.#chunks(upload),
      bytes: size,
      sequences: sequences === '' ? [] : sequences.split(',').map(Number),
    };
  }

  #chunks(upload: string): string {
    return `$O.${this.#bucket}.C.${upload}`;
  }

  #description(key: string): string {
    return `$O.${this.#bucket}.M.${urlSafe(Buffer.from(key))}`;
  }

  async #attempt<T>(what: string, work: (buckets: OpenedBuckets) => Promise<T>): Promise<T> {
    try {
      return await this.#buckets.use(work);
    } catch (error) {
      if (error instanceof ObjectsUnavailable) throw error;
      throw new ObjectsUnavailable(`Could not ${what}: ${errorMessage(error)}.`, { cause: error });
    }
  }
}

/** Keys are two parts; a dot between them lets NATS find all that begin with the first. */
function indexKey(key: string): string {
  return key.replace('/', '.');
}

/**
 * An operator's tool may have deleted it, which leaves a description that says so. Content that does not lie
 * below its key is none: it would not go with the key.
 */
function isThere(key: string, info: ObjectInfo | null): info is ObjectInfo {
  return info !== null && !info.deleted && info.nuid.startsWith(`${indexKey(key)}.`);
}

/** base64url with its padding, as the object store has it in names and digests. */
function urlSafe(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_');
}
