/**
 * The format of an encrypted blob: AES-256-GCM in frames, after the STREAM construction (Hoang,
 * Reyhanitabar, Rogaway, Vizár, CRYPTO 2015). A header (magic, random salt) is followed by frames of
 * 64 KiB, each with its tag. The blob's own key is derived from the content key of its conversion, the
 * salt, the blob's name and its length. The nonce of a frame is its index and whether it is the last. So
 * a frame opens in its own place of its own blob only, and a part of a blob is read without the rest.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { BlobStoreUnavailable } from './port.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const SALT_BYTES = 32;
const VERSION = 1;
const MAGIC = Buffer.from([...Buffer.from('PLblob\0', 'latin1'), VERSION]);
const VERSION_AT = MAGIC.length - 1;

export const TAG_BYTES = 16;
export const FRAME_BYTES = 64 * 1024;
export const ENCRYPTED_FRAME_BYTES = FRAME_BYTES + TAG_BYTES;
export const HEADER_BYTES = MAGIC.length + SALT_BYTES;

/** An empty blob has one frame too: that it is empty is as authentic as any content. */
function frameCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / FRAME_BYTES));
}

/** The length of the encrypted form of `bytes`. */
export function encryptedBytes(bytes: number): number {
  return HEADER_BYTES + bytes + frameCount(bytes) * TAG_BYTES;
}

/** The length of the content whose encrypted form has that length; undefined where none has. */
export function contentBytes(encrypted: number): number | undefined {
  const frames = Math.ceil((encrypted - HEADER_BYTES) / ENCRYPTED_FRAME_BYTES);
  const bytes = encrypted - HEADER_BYTES - frames * TAG_BYTES;
  return bytes >= 0 && encryptedBytes(bytes) === encrypted ? bytes : undefined;
}

/**
 * The key of one blob, which opens nothing else.
 * @param contentKey 32 bytes
 * @param name binds the frames to this blob
 * @param bytes the length of the content
 * @throws {BlobStoreUnavailable} the header is of a newer release
 * @throws {Error} not a header
 */
export function blobKey(contentKey: Buffer, name: string, bytes: number, header: Buffer): Buffer {
  const version = header[VERSION_AT] ?? 0;
  if (header.subarray(0, VERSION_AT).equals(MAGIC.subarray(0, VERSION_AT)) && version > VERSION) {
    throw new BlobStoreUnavailable(
      `${name} was stored by a newer release (form ${version}, this one knows ${VERSION}); install that release.`,
    );
  }
  if (header.length !== HEADER_BYTES || !header.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new Error(`${name} does not begin like an encrypted blob.`);
  }
  const salt = header.subarray(MAGIC.length);
  return deriveKey(contentKey, salt, `pressledger blob 1 ${bytes} ${name}`);
}

/** Encrypts and decrypts the frames of one blob. */
export class BlobCipher {
  /** Stored before the first frame. */
  readonly header: Buffer;
  readonly #key: KeyObject;
  readonly #frames: number;
  readonly #bytes: number;

  /** @param header of a blob that is to be decrypted; a new one by default. The rest is as for `blobKey`. */
  constructor(contentKey: Buffer, name: string, bytes: number, header = newHeader()) {
    this.#key = createSecretKey(blobKey(contentKey, name, bytes, header));
    this.#frames = frameCount(bytes);
    this.#bytes = bytes;
    this.header = header;
  }

  /**
   * Encrypts the frames that lie in `room` one after another, each in its place.
   * @param room frames of content, each followed by room for its tag, as in the encrypted form
   * @param first the index of the first of them
   */
  encryptInPlace(room: Buffer, first: number): void {
    for (let index = first, at = 0; at < room.length; index += 1, at += ENCRYPTED_FRAME_BYTES) {
      const end = at + this.#length(index);
      const frame = room.subarray(at, end);
      const options = { authTagLength: TAG_BYTES };
      const cipher = createCipheriv(CIPHER, this.#key, this.#nonce(index), options);
      cipher.update(frame).copy(frame);
      cipher.final();
      cipher.getAuthTag().copy(room, end);
    }
  }

  /** @throws {Error} not this blob's frame of this index, or altered since */
  decrypt(index: number, stored: Buffer): Buffer {
    const length = stored.length - TAG_BYTES;
    if (index >= this.#frames || length !== this.#length(index)) {
      throw new RangeError(`Frame ${index} of ${this.#frames} cannot have ${length} bytes.`);
    }
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(CIPHER, this.#key, this.#nonce(index), options);
    decipher.setAuthTag(stored.subarray(length));
    const content = decipher.update(stored.subarray(0, length));
    decipher.final();
    return content;
  }

  #length(index: number): number {
    return index < this.#frames - 1 ? FRAME_BYTES : this.#bytes - index * FRAME_BYTES;
  }

  #nonce(index: number): Buffer {
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(index, 7);
    nonce[11] = index === this.#frames - 1 ? 1 : 0;
    return nonce;
  }
}

/** HKDF-SHA-256. From a key object it takes half as long as from its bytes. */
export function deriveKey(key: Buffer, salt: Buffer, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', createSecretKey(key), salt, info, KEY_BYTES));
}

function newHeader(): Buffer {
  return Buffer.concat([MAGIC, randomBytes(SALT_BYTES)]);
}
