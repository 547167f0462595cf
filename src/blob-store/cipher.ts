/**
 * Encryption of blobs at rest: AES-256-GCM in frames, after the STREAM construction (Hoang,
 * Reyhanitabar, Rogaway, Vizár, CRYPTO 2015). A sealed blob is a header (magic, salt), then frames of
 * 64 KiB, each with its tag. The blob's own key comes of the store's key, the salt and the blob's name;
 * a frame's nonce is its index and whether it is the last. So a frame opens in its own place of its own
 * blob only, and a part of a blob is read without the rest.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const SALT_BYTES = 32;
const TAG_BYTES = 16;
const MAGIC = Buffer.from('PLblob\0\x01', 'latin1');

export const FRAME_BYTES = 64 * 1024;
export const SEALED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES;
export const HEADER_BYTES = MAGIC.length + SALT_BYTES;

/** An empty blob has one frame too: that it is empty is as authentic as any content. */
export function frameCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / FRAME_BYTES));
}

/** How long the sealed form of `bytes` is; never `bytes` itself, so a length tells the two apart. */
export function sealedBytes(bytes: number): number {
  return HEADER_BYTES + bytes + frameCount(bytes) * TAG_BYTES;
}

export function newHeader(): Buffer {
  return Buffer.concat([MAGIC, randomBytes(SALT_BYTES)]);
}

/** Seals and opens the frames of one blob. */
export class BlobCipher {
  readonly #key: Buffer;
  readonly #frames: number;
  readonly #bytes: number;

  /**
   * @param storeKey 32 bytes
   * @param name binds the frames to this blob
   * @param bytes the blob's length
   * @throws {Error} not a header
   */
  constructor(storeKey: Buffer, name: string, bytes: number, header: Buffer) {
    if (header.length !== HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
      throw new Error(`${name} does not begin like an encrypted blob.`);
    }
    const salt = header.subarray(MAGIC.length);
    const info = `pressledger blob 1 ${bytes} ${name}`;
    this.#key = Buffer.from(hkdfSync('sha256', storeKey, salt, info, KEY_BYTES));
    this.#frames = frameCount(bytes);
    this.#bytes = bytes;
  }

  /** @throws {RangeError} the frame does not have the length that its index says */
  seal(index: number, content: Buffer): Buffer {
    if (content.length !== this.#length(index)) throw this.#misfit(index, content.length);
    const cipher = createCipheriv(CIPHER, this.#key, this.#nonce(index), {
      authTagLength: TAG_BYTES,
    });
    return Buffer.concat([cipher.update(content), cipher.final(), cipher.getAuthTag()]);
  }

  /** @throws {Error} not this blob's frame of this index, or altered since */
  open(index: number, sealed: Buffer): Buffer {
    const length = sealed.length - TAG_BYTES;
    if (length !== this.#length(index)) throw this.#misfit(index, length);
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonce(index), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(sealed.subarray(length));
    return Buffer.concat([decipher.update(sealed.subarray(0, length)), decipher.final()]);
  }

  #length(index: number): number {
    if (index < 0 || index >= this.#frames) return Number.NaN;
    return index < this.#frames - 1 ? FRAME_BYTES : this.#bytes - index * FRAME_BYTES;
  }

  #nonce(index: number): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(index, 7);
    nonce[11] = index === this.#frames - 1 ? 1 : 0;
    return nonce;
  }

  #misfit(index: number, length: number): RangeError {
    return new RangeError(`Frame ${index} of ${this.#frames} cannot have ${length} bytes.`);
  }
}
