/** Content on its way into and out of its sealed form, frame by frame. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  BlobCipher,
  FRAME_BYTES,
  HEADER_BYTES,
  newHeader,
  SEALED_FRAME_BYTES,
  sealedBytes,
} from './cipher.ts';
import { bufferContent, type ObjectContent } from './objects.ts';
import { pieces } from './pieces.ts';

/** What is sealed is kept up to here; what is longer is sealed again each time it is sent. */
const LARGEST_KEPT_BYTES = 8 * 1024 * 1024;

/**
 * The sealed form of `content`, the same bytes at each opening. Reads the content once to hash it.
 * @throws {RangeError} the content does not have its length @throws {Error} nor its hash
 */
export async function sealContent(
  storeKey: Buffer,
  name: string,
  content: ObjectContent,
): Promise<ObjectContent> {
  const header = newHeader();
  const cipher = new BlobCipher(storeKey, name, content.bytes, header);
  const tags: Buffer[] = [];
  const open = (): Readable =>
    Readable.from(sealed(cipher, header, content, tags), { objectMode: false });
  const bytes = sealedBytes(content.bytes);
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  for await (const chunk of open()) {
    hash.update(chunk as Buffer);
    if (bytes <= LARGEST_KEPT_BYTES) kept.push(chunk as Buffer);
  }
  const sha256 = hash.digest('hex');
  return bytes <= LARGEST_KEPT_BYTES
    ? bufferContent(Buffer.concat(kept, bytes), sha256)
    : { bytes, sha256, open };
}

/** @param tags of the frames sealed so far: one nonce must never seal two contents */
async function* sealed(
  cipher: BlobCipher,
  header: Buffer,
  content: ObjectContent,
  tags: Buffer[],
): AsyncGenerator<Buffer> {
  yield header;
  const hash = createHash('sha256');
  let index = 0;
  let bytes = 0;
  for await (const frame of framesOf(content.open())) {
    hash.update(frame);
    bytes += frame.length;
    if (bytes >= content.bytes && hash.copy().digest('hex') !== content.sha256) {
      throw new Error('The content does not have its hash.');
    }
    const stored = cipher.seal(index, frame);
    const tag = stored.subarray(frame.length);
    const before = (tags[index] ??= Buffer.from(tag));
    if (!before.equals(tag)) throw new Error('The content changed while it was stored.');
    yield stored;
    index += 1;
  }
  if (bytes !== content.bytes) {
    throw new RangeError(`There are ${bytes} bytes, not ${content.bytes}.`);
  }
}

/** Nothing at all is one empty frame. */
async function* framesOf(source: Readable): AsyncGenerator<Buffer> {
  let empty = true;
  for await (const frame of pieces(source, FRAME_BYTES)) {
    empty = false;
    yield frame;
  }
  if (empty) yield Buffer.alloc(0);
}

/** A part of a blob: which stored bytes hold it, and what of their content it is. */
export interface SealedPart {
  readonly firstFrame: number;
  /** Inclusive bounds within the sealed form. */
  readonly stored: { readonly start: number; readonly end: number };
  readonly skip: number;
  readonly length: number;
}

/** Where the content's bytes `start` to `end`, inclusive, lie. */
export function sealedPart(bytes: number, start: number, end: number): SealedPart {
  const firstFrame = Math.floor(start / FRAME_BYTES);
  const lastFrame = Math.floor(end / FRAME_BYTES);
  return {
    firstFrame,
    stored: {
      start: HEADER_BYTES + firstFrame * SEALED_FRAME_BYTES,
      end: Math.min(HEADER_BYTES + (lastFrame + 1) * SEALED_FRAME_BYTES, sealedBytes(bytes)) - 1,
    },
    skip: start - firstFrame * FRAME_BYTES,
    length: end - start + 1,
  };
}

/** The content of a whole sealed blob. */
export async function* openSealed(
  storeKey: Buffer,
  name: string,
  bytes: number,
  stored: Readable,
): AsyncGenerator<Buffer> {
  let cipher: BlobCipher | undefined;
  let index = 0;
  for await (const piece of pieces(stored, SEALED_FRAME_BYTES, HEADER_BYTES)) {
    if (cipher === undefined) {
      cipher = new BlobCipher(storeKey, name, bytes, piece);
    } else {
      yield cipher.open(index, piece);
      index += 1;
    }
  }
  // A stream that ends early, between two frames, gave no last one.
  if (HEADER_BYTES + index * SEALED_FRAME_BYTES < sealedBytes(bytes)) {
    throw new Error(`${name} ends before its last frame.`);
  }
}

/** The content of a part, of the frames that hold it. */
export async function* openSealedPart(
  cipher: BlobCipher,
  part: SealedPart,
  stored: Readable,
): AsyncGenerator<Buffer> {
  let index = part.firstFrame;
  let skip = part.skip;
  let left = part.length;
  for await (const piece of pieces(stored, SEALED_FRAME_BYTES)) {
    const content = cipher.open(index, piece).subarray(skip, skip + left);
    index += 1;
    skip = 0;
    left -= content.length;
    yield content;
  }
  if (left > 0) throw new Error(`${left} bytes are missing at the end.`);
}
