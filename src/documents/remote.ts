/** The blob store over a network: each blob an object of a driver. See docs/decisions/0016-remote-blobs.md. */
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type BlobAddress, type BlobKind, parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import {
  addressOf,
  blobRef,
  checkConversionId,
  checkLength,
  checkRange,
  parseKey,
  refOf,
  verified,
} from './address.ts';
import {
  bufferContent,
  fileContent,
  type ObjectContent,
  type Objects,
  type StoredObject,
} from './objects.ts';
import {
  BlobNotFound,
  type BlobRange,
  type BlobStore,
  BlobStoreUnavailable,
  StagedBlob,
} from './port.ts';
import { StoreHealth, type StoreHealthOptions } from './store-health.ts';

type File = { readonly path: string; readonly sha256: string; readonly bytes: number };

/** Names the log whose blobs these are. */
const LOG_MARK = 'check/log';

export class ObjectBlobStore implements BlobStore {
  readonly #objects: Objects;
  readonly #health: StoreHealth;

  constructor(objects: Objects, options: StoreHealthOptions = {}) {
    this.#objects = objects;
    this.#health = new StoreHealth(objects, options);
  }

  stage(conversionId: string, kind: BlobKind, content: Buffer): StagedBlob {
    const ref = refOf(conversionId, kind, content);
    return new StagedBlob(ref, () => this.#put(ref, bufferContent(content, ref.sha256)));
  }

  async adopt(conversionId: string, kind: BlobKind, file: File): Promise<BlobRef> {
    const ref = blobRef(conversionId, kind, file.sha256, file.bytes);
    const size = await attempt(`adopt ${file.path}`, async () => (await stat(file.path)).size);
    if (size !== file.bytes) {
      throw new BlobStoreUnavailable(`${file.path} has ${size} bytes, not ${file.bytes}.`);
    }
    await this.#put(ref, fileContent(file));
    await rm(file.path, { force: true });
    return ref;
  }

  async read(ref: BlobRef): Promise<Buffer> {
    parseKey(ref);
    return attempt(`read ${ref.key}`, async () =>
      verified(ref, await buffer((await this.#get(ref)).content)),
    );
  }

  async open(ref: BlobRef, range?: BlobRange): Promise<Readable> {
    parseKey(ref);
    const part = range && checkRange(ref, range);
    return attempt(`open ${ref.key}`, async () => {
      const { content } = await this.#get(ref, part);
      const stream = Readable.from(readable(ref, content), { objectMode: false });
      return stream.once('close', () => content.destroy());
    });
  }

  async exists(ref: BlobRef): Promise<boolean> {
    parseKey(ref);
    return attempt(`look for ${ref.key}`, async () => {
      const bytes = await this.#objects.size(ref.key);
      if (bytes !== undefined) checkLength(ref, bytes);
      return bytes !== undefined;
    });
  }

  /** Why the store cannot be used right now, in the operator's words; nothing when it can. */
  failure(): Promise<string | undefined> {
    return this.#health.failure();
  }

  /** The same, where a write has failed and none has worked since; else it asks nothing. */
  knownFailure(): Promise<string | undefined> {
    return this.#health.knownFailure();
  }

  async deleteAll(conversionId: string, named: readonly string[] = []): Promise<void> {
    const folder = `${checkConversionId(conversionId)}/`;
    await attempt(`delete the blobs of ${conversionId}`, async () => {
      const keys = new Set(named);
      for await (const key of this.#objects.list(folder)) keys.add(key);
      for (const key of keys) await this.#objects.delete(key);
    });
  }

  async delete(key: string): Promise<void> {
    addressOf(key);
    await attempt(`delete ${key}`, () => this.#objects.delete(key));
  }

  async *list(): AsyncGenerator<BlobAddress> {
    try {
      for await (const key of this.#objects.list('')) {
        const address = parseBlobKey(key);
        if (address !== undefined) yield address;
      }
    } catch (error) {
      throw new BlobStoreUnavailable('Could not list the blobs.', { cause: error });
    }
  }

  claim(log: string): Promise<boolean> {
    return attempt('claim the blob store', async () => {
      const mark = Buffer.from(log);
      const stored = await this.#objects.get(LOG_MARK);
      if (stored === undefined) {
        await this.#objects.put(LOG_MARK, bufferContent(mark));
        return true;
      }
      // A renderer may have made it as large as it liked: no more is read than ours would be.
      if (stored.bytes === mark.length) return mark.equals(await buffer(stored.content));
      stored.content.destroy();
      return false;
    });
  }

  #put(ref: BlobRef, content: ObjectContent): Promise<void> {
    return attempt(`store ${ref.key}`, () => this.#health.put(ref.key, content));
  }

  async #get(ref: BlobRef, range?: BlobRange): Promise<StoredObject> {
    const stored = await this.#objects.get(ref.key, range);
    if (stored === undefined) throw new BlobNotFound(`There is no blob ${ref.key}.`);
    try {
      checkLength(ref, stored.bytes);
    } catch (error) {
      // A stream that nobody will read must not hold its connection.
      stored.content.destroy();
      throw error;
    }
    return stored;
  }
}

async function* readable(ref: BlobRef, source: Readable): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    throw new BlobStoreUnavailable(`Could not read ${ref.key}.`, { cause: error });
  }
}

/** Turns a failure into `BlobStoreUnavailable`. The port's own errors stay as they are. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobNotFound || error instanceof BlobStoreUnavailable) throw error;
    throw new BlobStoreUnavailable(`Could not ${what}.`, { cause: error });
  }
}
