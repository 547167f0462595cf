/** The way out of encryption: what a blob store gives becomes content again. See `encryption.ts`. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { BlobRef } from '../domain/event-fields.ts';
import { addressOf, checkRange } from './address.ts';
import {
  BlobCipher,
  blobKey,
  contentBytes,
  ENCRYPTED_FRAME_BYTES,
  encryptedBytes,
  FRAME_BYTES,
  HEADER_BYTES,
} from './cipher.ts';
import { pieces } from './pieces.ts';
import { type BlobRange, type BlobStore, BlobStoreUnavailable } from './port.ts';

/**
 * The content of a whole blob, in the memory in which its encrypted form lay.
 * @throws {BlobStoreUnavailable} not encrypted with this key as this blob, or altered since
 */
export function decryptBlob(contentKey: Buffer, ref: BlobRef, stored: Buffer): Buffer {
  return orDamaged(ref, () => {
    const bytes = lengthOf(ref);
    const header = Buffer.from(stored.subarray(0, HEADER_BYTES));
    const cipher = new BlobCipher(contentKey, nameOfRef(ref), bytes, header);
    let end = 0;
    for (let at = HEADER_BYTES, index = 0; at < ref.bytes; index += 1) {
      const frame = stored.subarray(at, at + ENCRYPTED_FRAME_BYTES);
      end += cipher.decrypt(index, frame).copy(stored, end);
      at += ENCRYPTED_FRAME_BYTES;
    }
    return stored.subarray(0, bytes);
  });
}

/**
 * The header of a stored blob and its key. With both, anyone can encrypt its content again and compare the
 * result with the hash that the log names. They open no other blob.
 * @throws {BlobStoreUnavailable} it does not begin like a blob
 */
export function openingOf(
  contentKey: Buffer,
  ref: BlobRef,
  stored: Buffer,
): { readonly header: Buffer; readonly key: Buffer } {
  const header = Buffer.from(stored.subarray(0, HEADER_BYTES));
  const key = orDamaged(ref, () => blobKey(contentKey, nameOfRef(ref), lengthOf(ref), header));
  return { header, key };
}

/** The content of a whole blob. @throws {BlobNotFound} @throws {BlobStoreUnavailable} */
export async function readContent(
  blobs: Pick<BlobStore, 'read'>,
  contentKey: Buffer,
  ref: BlobRef,
): Promise<Buffer> {
  return decryptBlob(contentKey, ref, await blobs.read(ref));
}

/**
 * The content of a blob, or a part of it, as a stream. The whole fails before its last bytes where what is
 * stored is not what the log names; a part fails where one of its frames does not open.
 * @param range of the content
 * @throws {BlobNotFound} @throws {BlobStoreUnavailable} before the first byte
 */
export async function openContent(
  blobs: Pick<BlobStore, 'open'>,
  contentKey: Buffer,
  ref: BlobRef,
  range?: BlobRange,
): Promise<Readable> {
  const bytes = lengthOf(ref);
  const cipherOf = (header: Buffer): BlobCipher =>
    new BlobCipher(contentKey, nameOfRef(ref), bytes, header);
  if (range === undefined) {
    const stored = await blobs.open(ref);
    return await streamOf(ref, wholeOf(cipherOf, checked(ref, stored)), stored);
  }
  const { start, end } = checkRange({ ...ref, bytes }, range);
  const header = await buffer(await blobs.open(ref, { start: 0, end: HEADER_BYTES - 1 }));
  const cipher = orDamaged(ref, () => cipherOf(header));
  const [first, last] = [Math.floor(start / FRAME_BYTES), Math.floor(end / FRAME_BYTES)];
  const stored = await blobs.open(ref, {
    start: HEADER_BYTES + first * ENCRYPTED_FRAME_BYTES,
    end: Math.min(HEADER_BYTES + (last + 1) * ENCRYPTED_FRAME_BYTES, ref.bytes) - 1,
  });
  const skip = start - first * FRAME_BYTES;
  return await streamOf(ref, partOf(cipher, first, skip, end - start + 1, stored), stored);
}

async function* wholeOf(
  cipherOf: (header: Buffer) => BlobCipher,
  stored: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  let cipher: BlobCipher | undefined;
  let index = 0;
  for await (const piece of pieces(stored, ENCRYPTED_FRAME_BYTES, HEADER_BYTES)) {
    if (cipher === undefined) {
      cipher = cipherOf(piece);
    } else {
      yield cipher.decrypt(index, piece);
      index += 1;
    }
  }
}

/** @param skip bytes of the first frame that do not belong to the part */
async function* partOf(
  cipher: BlobCipher,
  firstFrame: number,
  skip: number,
  length: number,
  stored: Readable,
): AsyncGenerator<Buffer> {
  let index = firstFrame;
  let left = length;
  for await (const piece of pieces(stored, ENCRYPTED_FRAME_BYTES)) {
    const from = index === firstFrame ? skip : 0;
    const content = cipher.decrypt(index, piece).subarray(from, from + left);
    index += 1;
    left -= content.length;
    yield content;
  }
  if (left > 0) throw new Error(`${left} bytes are missing at the end.`);
}

/** Holds the last bytes back until all of them are known to be those that the log names. */
async function* checked(ref: BlobRef, stored: Readable): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  for await (const chunk of stored) {
    hash.update(chunk as Buffer);
    if (held !== undefined) yield held;
    held = chunk as Buffer;
  }
  if (hash.digest('hex') !== ref.sha256) throw new Error('It does not have its hash.');
  if (held !== undefined) yield held;
}

/** Resolves once the first bytes are there, so that what does not open at all is said in time. */
async function streamOf(
  ref: BlobRef,
  content: AsyncGenerator<Buffer>,
  stored: Readable,
): Promise<Readable> {
  try {
    const first = await content.next();
    async function* all(): AsyncGenerator<Buffer> {
      try {
        if (first.done !== true) yield first.value;
        yield* content;
      } catch (error) {
        throw damaged(ref, error);
      }
    }
    const stream = Readable.from(all(), { objectMode: false });
    // A reader that leaves while the next bytes are awaited must not hold what they come from.
    return stream.once('close', () => stored.destroy());
  } catch (error) {
    throw damaged(ref, error);
  }
}

/** Tells by the length of what is stored, which says how long its content is. */
export function hasContentOfLength(ref: BlobRef, bytes: number): boolean {
  return ref.bytes === encryptedBytes(bytes);
}

/** @throws {BlobStoreUnavailable} no encrypted blob has that length */
function lengthOf(ref: BlobRef): number {
  const bytes = contentBytes(ref.bytes);
  if (bytes === undefined) throw damaged(ref, new Error(`It cannot have ${ref.bytes} bytes.`));
  return bytes;
}

/** The same name as where it was encrypted. */
function nameOfRef(ref: BlobRef): string {
  const { key, sha256 } = addressOf(ref.key);
  return key.slice(0, -`-${sha256}`.length);
}

function orDamaged<T>(ref: BlobRef, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw damaged(ref, error);
  }
}

function damaged(ref: BlobRef, cause: unknown): Error {
  if (cause instanceof BlobStoreUnavailable) return cause;
  return new BlobStoreUnavailable(`${ref.key} is damaged: it does not open with its key.`, {
    cause,
  });
}
