/**
 * Encryption of blobs, a layer above every blob store: a store holds ciphertext alone. Each conversion has
 * a content key, which its account's data key yields (`Vault.contentKey`). What is encrypted with it opens
 * as this kind of blob of this conversion only. See docs/decisions/0024-encryption-by-account.md.
 */
import { createHash, createHmac } from 'node:crypto';
import { closeSync, fstatSync, openSync, readvSync, unlinkSync, writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import type { BlobKind } from '../domain/blob-key.ts';
import {
  BlobCipher,
  deriveKey,
  ENCRYPTED_FRAME_BYTES,
  encryptedBytes,
  FRAME_BYTES,
  HEADER_BYTES,
  TAG_BYTES,
} from './cipher.ts';
import type { BlobStore, StagedBlob } from './port.ts';

/** Whose blob of which kind, and the key of its conversion. */
export interface BlobOwner {
  readonly conversionId: string;
  /** 32 bytes. */
  readonly contentKey: Buffer;
}

/** Read from a file, encrypted and written at a time: whole frames. */
const BATCH_BYTES = 16 * ENCRYPTED_FRAME_BYTES;
const NO_BYTES = Buffer.alloc(0);

/** Binds what is encrypted to its conversion and kind. */
const nameOf = (conversionId: string, kind: BlobKind): string => `${conversionId}/${kind}`;

/** The key of `UnencryptedText.hmac`. Its holder can check a text, and open nothing with it. */
export const hmacKey = (contentKey: Buffer): Buffer =>
  deriveKey(contentKey, NO_BYTES, 'pressledger content hmac');

/**
 * Text that is to be stored, in UTF-8, or a picture, with room for what encryption adds. It is encrypted where it lies:
 * a large request is never held twice.
 */
export class UnencryptedText {
  readonly bytes: number;
  #room: Buffer | undefined;

  constructor(content: string | Uint8Array) {
    this.bytes = Buffer.byteLength(content);
    this.#room = Buffer.allocUnsafe(encryptedBytes(this.bytes));
    if (typeof content === 'string') this.#room.write(content, HEADER_BYTES);
    else this.#room.set(content, HEADER_BYTES);
  }

  /**
   * HMAC-SHA-256 of the text in hex, with a key of its conversion alone: it shows later what was sent, and
   * nobody without the key can test a guess against it.
   */
  hmac(contentKey: Buffer): string {
    const key = hmacKey(contentKey);
    const text = this.#held().subarray(HEADER_BYTES, HEADER_BYTES + this.bytes);
    return createHmac('sha256', key).update(text).digest('hex');
  }

  /** Names the address of its encrypted form, which is then all that is left of it. */
  stage(
    blobs: Pick<BlobStore, 'stage'>,
    { conversionId, contentKey }: BlobOwner,
    kind: BlobKind,
  ): StagedBlob {
    const room = this.#held();
    this.#room = undefined;
    const cipher = new BlobCipher(contentKey, nameOf(conversionId, kind), this.bytes);
    // The last frame moves first: each frame moves over what has moved already.
    for (let at = lastFrameAt(this.bytes); at > 0; at -= FRAME_BYTES) {
      const to = HEADER_BYTES + (at / FRAME_BYTES) * ENCRYPTED_FRAME_BYTES;
      const from = HEADER_BYTES + at;
      room.copyWithin(to, from, Math.min(from + FRAME_BYTES, HEADER_BYTES + this.bytes));
    }
    cipher.header.copy(room);
    cipher.encryptInPlace(room.subarray(HEADER_BYTES), 0);
    return blobs.stage(conversionId, kind, room);
  }

  #held(): Buffer {
    if (this.#room === undefined) throw new Error('The text has been encrypted.');
    return this.#room;
  }
}

function lastFrameAt(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / FRAME_BYTES) - 1) * FRAME_BYTES;
}

/**
 * Replaces a file by its encrypted form, which the blob store can adopt. A file of one batch keeps its place:
 * to make and to remove a file are the dearest calls of all.
 * @param file the content; nothing of it stays readable once this resolves, else the caller removes it
 * @param path for the encrypted form of a longer one
 * @throws {Error} the file does not have its length, or cannot be read or written
 */
export async function encryptFile(
  { conversionId, contentKey }: BlobOwner,
  kind: BlobKind,
  file: { readonly path: string; readonly bytes: number },
  path: string,
): Promise<{ readonly path: string; readonly sha256: string; readonly bytes: number }> {
  const cipher = new BlobCipher(contentKey, nameOf(conversionId, kind), file.bytes);
  const bytes = encryptedBytes(file.bytes);
  // Files of this machine: each call in the background would cost ten times the call.
  const source = openSync(file.path, 'r+');
  try {
    const { size } = fstatSync(source);
    if (size !== file.bytes) {
      throw new Error(`${file.path} has ${size} bytes, not ${file.bytes}.`);
    }
    const hash = createHash('sha256');
    const isShort = bytes <= BATCH_BYTES;
    const target = isShort ? source : openSync(path, 'wx', 0o600);
    try {
      let written = 0;
      for (const part of encryptedParts(cipher, source, file.bytes)) {
        hash.update(part);
        const end = written + part.length;
        while (written < end) {
          written += writeSync(target, part, part.length - (end - written), null, written);
        }
        // A long file must not keep the event loop from everyone else.
        if (!isShort) await turn();
      }
    } finally {
      if (!isShort) closeSync(target);
    }
    if (!isShort) unlinkSync(file.path);
    return { path: isShort ? file.path : path, sha256: hash.digest('hex'), bytes };
  } finally {
    closeSync(source);
  }
}

function* encryptedParts(cipher: BlobCipher, source: number, bytes: number): Generator<Buffer> {
  const end = encryptedBytes(bytes);
  for (let at = 0; at < end; ) {
    const header = at === 0 ? cipher.header : NO_BYTES;
    const room = Buffer.allocUnsafe(Math.min(header.length + BATCH_BYTES, end - at));
    header.copy(room);
    const frames = room.subarray(header.length);
    readFrames(source, frames);
    cipher.encryptInPlace(frames, (at + header.length - HEADER_BYTES) / ENCRYPTED_FRAME_BYTES);
    yield room;
    at += room.length;
  }
}

/** Reads on, into the places of the frames' contents. */
function readFrames(source: number, frames: Buffer): void {
  const places: Buffer[] = [];
  for (let at = 0; at < frames.length; at += ENCRYPTED_FRAME_BYTES) {
    places.push(frames.subarray(at, Math.min(at + FRAME_BYTES, frames.length - TAG_BYTES)));
  }
  const wanted = places.reduce((sum, { length }) => sum + length, 0);
  const bytesRead = readvSync(source, places);
  if (bytesRead !== wanted) throw new Error(`Only ${bytesRead} of ${wanted} bytes could be read.`);
}
