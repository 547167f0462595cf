/**
 * The blob store over a network: each blob an object of a driver, encrypted where a key is given.
 * See docs/decisions/0016-remote-blobs.md.
 */
import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type BlobAddress, parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/events.ts';
import {
  addressOf,
  blobRef,
  checkConversionId,
  checkRange,
  parseKey,
  refOf,
  verified,
} from './address.ts';
import { BlobCipher, HEADER_BYTES, sealedBytes } from './cipher.ts';
import {
  bufferContent,
  fileContent,
  type ObjectContent,
  type Objects,
  type StoredObject,
} from './objects.ts';
import {
  type BlobKind,
  BlobNotFound,
  type BlobRange,
  type BlobStore,
  BlobStoreUnavailable,
  StagedBlob,
} from './port.ts';
import { openSealed, openSealedPart, sealContent, sealedPart } from './sealed-content.ts';
import { StoreHealth, type StoreHealthOptions } from './store-health.ts';

type File = { readonly path: string; readonly sha256: string; readonly bytes: number };

/** Names the log whose blobs these are. */
const LOG_MARK = 'check/log';

export class ObjectBlobStore implements BlobStore {
  readonly #objects: Objects;
  readonly #key: Buffer | undefined;
  readonly #health: StoreHealth;

  /** @param key 32 bytes that encrypt what is stored from now on; what was stored without stays readable */
  constructor(objects: Objects, key?: Buffer, options: StoreHealthOptions = {}) {
    this.#objects = objects;
    this.#key = key;
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
      verified(ref, await buffer(this.#whole(ref, await this.#get(ref)))),
    );
  }

  /** Fails before its last bytes where what is stored is not what was stored. */
  async open(ref: BlobRef, range?: BlobRange): Promise<Readable> {
    parseKey(ref);
    const part = range && checkRange(ref, range);
    return attempt(`open ${ref.key}`, async () => {
      if (part !== undefined) return this.#part(ref, part);
      const stored = await this.#get(ref);
      const content = Readable.from(checked(ref, this.#whole(ref, stored)), { objectMode: false });
      return content.once('close', () => stored.content.destroy());
    });
  }

  async exists(ref: BlobRef): Promise<boolean> {
    parseKey(ref);
    return attempt(`look for ${ref.key}`, async () => {
      const bytes = await this.#objects.size(ref.key);
      if (bytes === undefined) return false;
      this.#isSealed(ref, bytes);
      return true;
    });
  }

  /** Why the store cannot be used right now, in the operator's words; nothing when it can. */
  failure(): Promise<string | undefined> {
    return this.#health.failure();
  }

  async deleteAll(conversionId: string): Promise<void> {
    const folder = `${checkConversionId(conversionId)}/`;
    await attempt(`delete the blobs of ${conversionId}`, async () => {
      for await (const key of this.#objects.list(folder)) await this.#objects.delete(key);
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
    return attempt(`store ${ref.key}`, async () => {
      const key = this.#key;
      const stored = key === undefined ? content : await sealContent(key, ref.key, content);
      await this.#health.put(ref.key, stored);
    });
  }

  async #get(ref: BlobRef, range?: BlobRange): Promise<StoredObject> {
    const stored = await this.#objects.get(ref.key, range);
    if (stored === undefined) throw new BlobNotFound(`There is no blob ${ref.key}.`);
    return stored;
  }

  #whole(ref: BlobRef, { bytes, content }: StoredObject): AsyncIterable<Buffer> {
    const key = orDestroy(content, () => this.#keyOf(ref, bytes));
    return key === undefined ? content : openSealed(key, ref.key, ref.bytes, content);
  }

  async #part(ref: BlobRef, { start, end }: BlobRange): Promise<Readable> {
    if (this.#key === undefined) {
      const { bytes, content } = await this.#get(ref, { start, end });
      orDestroy(content, () => this.#keyOf(ref, bytes));
      return streamOf(ref, content, content);
    }
    const first = await this.#get(ref, { start: 0, end: HEADER_BYTES - 1 });
    const key = orDestroy(first.content, () => this.#keyOf(ref, first.bytes));
    const header = await buffer(first.content);
    if (key === undefined) {
      // Stored before there was a key: only the whole can show that it is what was stored.
      const whole = verified(ref, await buffer((await this.#get(ref)).content));
      return Readable.from([whole.subarray(start, end + 1)], { objectMode: false });
    }
    const cipher = new BlobCipher(key, ref.key, ref.bytes, header);
    const part = sealedPart(ref.bytes, start, end);
    const { content } = await this.#get(ref, part.stored);
    const opened = openSealedPart(cipher, part, content);
    return streamOf(ref, opened, content);
  }

  #keyOf(ref: BlobRef, bytes: number): Buffer | undefined {
    return this.#isSealed(ref, bytes) ? this.#key : undefined;
  }

  /** The length tells: the sealed form is always longer. */
  #isSealed(ref: BlobRef, bytes: number): boolean {
    if (bytes === ref.bytes) return false;
    if (bytes !== sealedBytes(ref.bytes)) {
      throw new BlobStoreUnavailable(`${ref.key} is damaged: ${bytes} bytes, not ${ref.bytes}.`);
    }
    if (this.#key === undefined) {
      throw new BlobStoreUnavailable(`${ref.key} is encrypted, and BLOB_KEY is not set.`);
    }
    return true;
  }
}

/** Holds the last bytes back until all of them are known to be right. */
async function* checked(ref: BlobRef, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of readable(ref, source)) {
    hash.update(chunk);
    if (held !== undefined) yield held;
    held = chunk;
  }
  if (hash.digest('hex') !== ref.sha256) {
    throw new BlobStoreUnavailable(`${ref.key} is damaged: it does not have its hash.`);
  }
  if (held !== undefined) yield held;
}

/** @param source what is stored, of which `content` is read */
function streamOf(ref: BlobRef, content: AsyncIterable<Buffer>, source: Readable): Readable {
  const stream = Readable.from(readable(ref, content), { objectMode: false });
  return stream.once('close', () => source.destroy());
}

async function* readable(ref: BlobRef, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    throw new BlobStoreUnavailable(`Could not read ${ref.key}.`, { cause: error });
  }
}

/** A stream that nobody will read must not hold its connection. */
function orDestroy<T>(content: Readable, work: () => T): T {
  try {
    return work();
  } catch (error) {
    content.destroy();
    throw error;
  }
}

/** What fails becomes the port's error; the port's own stay as they are. */
async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobNotFound || error instanceof BlobStoreUnavailable) throw error;
    throw new BlobStoreUnavailable(`Could not ${what}.`, { cause: error });
  }
}
