/** A blob's address: which keys there are, and what content must be to belong to one. */
import { hash } from 'node:crypto';
import { type BlobAddress, type BlobKind, blobKey, parseBlobKey } from '../domain/blob-key.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import { CONVERSION_ID } from '../domain/ids.ts';
import { BlobDamaged, type BlobRange } from './port.ts';

const ID = new RegExp(`^${CONVERSION_ID}$`);
const SHA256 = /^[0-9a-f]{64}$/;

/** @throws {TypeError} not an id: nothing else may ever become a part of a path */
export function checkConversionId(conversionId: string): string {
  if (!ID.test(conversionId)) {
    throw new TypeError(`${JSON.stringify(conversionId)} is not the id of a conversion.`);
  }
  return conversionId;
}

/** @throws {TypeError} the key is not one of ours */
export function addressOf(key: string): BlobAddress {
  const address = parseBlobKey(key);
  if (address === undefined)
    throw new TypeError(`${JSON.stringify(key)} is not the key of a blob.`);
  return address;
}

/** @throws {TypeError} the key is not one of ours, or not that of the hash */
export function parseKey({ key, sha256 }: BlobRef): BlobAddress {
  const address = addressOf(key);
  if (address.sha256 !== sha256) {
    throw new TypeError(`${JSON.stringify(key)} is not the key of a blob with hash ${sha256}.`);
  }
  return address;
}

/** @throws {TypeError} the id or the hash is not of its form */
export function blobRef(
  conversionId: string,
  kind: BlobKind,
  sha256: string,
  bytes: number,
): BlobRef {
  if (!SHA256.test(sha256)) throw new TypeError(`${JSON.stringify(sha256)} is not a SHA-256.`);
  return { key: blobKey(checkConversionId(conversionId), kind, sha256), sha256, bytes };
}

export function refOf(conversionId: string, kind: BlobKind, content: Buffer): BlobRef {
  return blobRef(conversionId, kind, hash('sha256', content, 'hex'), content.length);
}

/** @throws {BlobDamaged} what is stored is not what was stored */
export function verified(ref: BlobRef, content: Buffer): Buffer {
  if (content.length !== ref.bytes || hash('sha256', content, 'hex') !== ref.sha256) {
    throw new BlobDamaged(`${ref.key} is damaged: it does not have its length and hash.`);
  }
  return content;
}

/** @throws {BlobDamaged} what is stored is of another length */
export function checkLength(ref: BlobRef, bytes: number): void {
  if (bytes === ref.bytes) return;
  throw new BlobDamaged(`${ref.key} is damaged: ${bytes} bytes, not ${ref.bytes}.`);
}

/** @throws {RangeError} the range does not lie within the blob */
export function checkRange(ref: BlobRef, range: BlobRange): BlobRange {
  const { start, end } = range;
  const whole = Number.isInteger(start) && Number.isInteger(end);
  if (!whole || start < 0 || end < start || end >= ref.bytes) {
    throw new RangeError(`Bytes ${start}-${end} do not lie within the ${ref.bytes} of ${ref.key}.`);
  }
  return range;
}
