/** Copies documents from one blob store to another, as they are encrypted, and as their events say. */
import { Semaphore } from '../async/semaphore.ts';
import { BlobDamaged, BlobNotFound, type BlobStore } from '../documents/port.ts';
import { parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import { contentIn } from '../log/verify-log/documents.ts';

/** Each is in memory while it is copied. */
const AT_ONCE = 4;
/** Larger ones are copied one at a time: a PDF may have 128 MiB. */
const LARGE_BYTES = 8 * 1024 * 1024;

/** Calls `work` with each, some at a time. */
export async function each<T>(
  all: Iterable<T>,
  work: (one: T) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const next = [...all].values();
  const workSome = async (): Promise<void> => {
    for (const one of next) await work(one);
  };
  await Promise.all(Array.from({ length: atOnce }, workSome));
}

export class DocumentCopies {
  readonly #from: Pick<BlobStore, 'read'>;
  readonly #to: BlobStore;
  readonly #readsBack: boolean;
  readonly #large = new Semaphore(1);

  /** @param options `readsBack`: also reads what is there already, and what was copied */
  constructor(from: Pick<BlobStore, 'read'>, to: BlobStore, { readsBack = false } = {}) {
    this.#from = from;
    this.#to = to;
    this.#readsBack = readsBack;
  }

  /** @throws {BlobDamaged} it is not as it was stored @throws {BlobStoreUnavailable} */
  async copy(ref: BlobRef): Promise<'copied' | 'was there' | 'missing'> {
    const fault = await this.#faultThere(ref);
    if (fault === undefined) return 'was there';
    const { conversionId, kind } = parseBlobKey(ref.key) ?? {};
    if (conversionId === undefined || kind === undefined) return 'missing';
    const release = ref.bytes > LARGE_BYTES ? await this.#large.acquire() : undefined;
    try {
      const content = await this.#from.read(ref);
      // What is damaged there stays until the content was read: both places may be one folder.
      if (fault !== 'missing') await this.#to.delete(ref.key);
      await this.#to.stage(conversionId, kind, content).store();
    } catch (error) {
      if (error instanceof BlobNotFound) return 'missing';
      throw error;
    } finally {
      release?.();
    }
    if (!this.#readsBack || (await this.#faultThere(ref)) === undefined) return 'copied';
    throw new Error(
      `${ref.key} does not read as it was written: the new place for documents cannot be used.`,
    );
  }

  /** As `copy`, for a source that may have lost what its log names. @throws {BlobStoreUnavailable} */
  async attempt(ref: BlobRef): Promise<'copied' | 'was there' | 'missing' | 'damaged'> {
    try {
      return await this.copy(ref);
    } catch (error) {
      if (error instanceof BlobDamaged) return 'damaged';
      throw error;
    }
  }

  async #faultThere(ref: BlobRef): Promise<string | undefined> {
    if (this.#readsBack) return await faultOf(ref, this.#to);
    try {
      return (await this.#to.exists(ref)) ? undefined : 'missing';
    } catch (error) {
      if (!(error instanceof BlobDamaged)) throw error;
      return 'not of its length';
    }
  }
}

/** Reads it. @returns what is wrong with it, in words; undefined where it is as its event says */
export async function faultOf(
  ref: BlobRef,
  blobs: Pick<BlobStore, 'open'>,
): Promise<string | undefined> {
  try {
    const { sha256 } = await contentIn(blobs, ref);
    return sha256 === ref.sha256 ? undefined : `its SHA-256 is ${sha256}`;
  } catch (error) {
    if (error instanceof BlobNotFound) return 'missing';
    if (error instanceof BlobDamaged) return 'not of its length';
    throw error;
  }
}
