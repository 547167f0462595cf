/** A remote place for whole objects under keys: what a blob store over a network needs of its driver. */
import { hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { BlobRange } from './port.ts';

/** Bytes to store. Their length and hash are known before the first is sent. */
export interface ObjectContent {
  readonly bytes: number;
  /** SHA-256, hex. */
  readonly sha256: string;
  /** Opens the content from its start each time: a try that failed is repeated with the same bytes. */
  readonly open: () => Readable;
}

export interface StoredObject {
  /** The length of the whole object, also when only a part of it was asked for. */
  readonly bytes: number;
  /** Fails with `ObjectsUnavailable` when it breaks off or stalls. To be read or destroyed. */
  readonly content: Readable;
}

/** Every call ends within a bounded time. @throws {ObjectsUnavailable} the server cannot do it now */
export interface Objects {
  /** Whole and verified under its key when this resolves; when it rejects, nothing reads as whole. */
  put(key: string, content: ObjectContent): Promise<void>;
  /** @param range inclusive; it may end beyond the object */
  get(key: string, range?: BlobRange): Promise<StoredObject | undefined>;
  /** The object's length in bytes, if it is there. */
  size(key: string): Promise<number | undefined>;
  delete(key: string): Promise<void>;
  /**
   * The keys below a folder, which ends in `/`, or all where it is empty; read little by little.
   * @throws {ObjectsUnavailable} by its iterator
   */
  list(folder: string): AsyncIterable<string>;
}

/** The server is away, refuses, or breaks off. */
export class ObjectsUnavailable extends Error {
  override readonly name = 'ObjectsUnavailable';
}

/** @param sha256 hex, where it is known already */
export function bufferContent(
  content: Buffer,
  sha256 = hash('sha256', content, 'hex'),
): ObjectContent {
  return {
    bytes: content.length,
    sha256,
    open: () => Readable.from(content.length === 0 ? [] : [content], { objectMode: false }),
  };
}

/** A file whose writer measured it: its driver finds out when it holds something else. */
export function fileContent(file: {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}): ObjectContent {
  const { path, sha256, bytes } = file;
  return { bytes, sha256, open: () => createReadStream(path) };
}

/** Passes a stream on and fails where the next bytes take longer than `idleMs`; slow readers may. */
export function withIdleLimit(source: Readable, idleMs: number, what: string): Readable {
  const limited = Readable.from(withinIdle(source, idleMs, what), { objectMode: false });
  // A reader that leaves while the next bytes are awaited must not hold the connection.
  return limited.once('close', () => source.destroy());
}

async function* withinIdle(source: Readable, idleMs: number, what: string) {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await nextWithin(chunks, source, idleMs, what);
    if (next.done === true) return;
    yield next.value;
  }
}

async function nextWithin(
  chunks: AsyncIterator<Buffer>,
  source: Readable,
  idleMs: number,
  what: string,
): Promise<IteratorResult<Buffer>> {
  const stalled = new ObjectsUnavailable(`${what} stalled for ${idleMs} ms.`);
  const timer = setTimeout(() => source.destroy(stalled), idleMs);
  try {
    return await chunks.next();
  } catch (error) {
    if (error instanceof ObjectsUnavailable) throw error;
    throw new ObjectsUnavailable(`${what} broke off.`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
