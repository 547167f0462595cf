/** Copies documents from one blob store to another, as they are encrypted, and as their events say. */
import { Semaphore } from '../async/semaphore.ts';
import { BlobDamaged, BlobNotFound, type BlobStore } from '../blob-store/port.ts';
import { parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/events.ts';

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
  readonly #large = new Semaphore(1);

  constructor(from: Pick<BlobStore, 'read'>, to: BlobStore) {
    this.#from = from;
    this.#to = to;
  }

  /** @throws {BlobDamaged} it is not as it was stored @throws {BlobStoreUnavailable} */
  async copy(ref: BlobRef): Promise<'copied' | 'was there' | 'missing'> {
    if (await this.#isThere(ref)) return 'was there';
    const { conversionId, kind } = parseBlobKey(ref.key) ?? {};
    if (conversionId === undefined || kind === undefined) return 'missing';
    const release = ref.bytes > LARGE_BYTES ? await this.#large.acquire() : undefined;
    try {
      const content = await this.#from.read(ref);
      await this.#to.stage(conversionId, kind, content).store();
      return 'copied';
    } catch (error) {
      if (error instanceof BlobNotFound) return 'missing';
      throw error;
    } finally {
      release?.();
    }
  }

  async #isThere(ref: BlobRef): Promise<boolean> {
    try {
      return await this.#to.exists(ref);
    } catch (error) {
      if (!(error instanceof BlobDamaged)) throw error;
      // It is of another length: it is written again.
      await this.#to.delete(ref.key);
      return false;
    }
  }
}
