/** A blob's key. It names the conversion too, so that deleting one conversion's blob never deletes another's. */
import { CONVERSION_ID } from './ids.ts';

/** `picture`: of the page of a conversion that failed. */
export const BLOB_KINDS = ['request', 'document', 'manifest', 'picture'] as const;
export type BlobKind = (typeof BLOB_KINDS)[number];

export interface BlobAddress {
  readonly key: string;
  readonly conversionId: string;
  readonly kind: BlobKind;
  /** The key's last part: kind and hash. */
  readonly name: string;
  readonly sha256: string;
}

const KEY = new RegExp(`^(${CONVERSION_ID})/((${BLOB_KINDS.join('|')})-([0-9a-f]{64}))$`);

export const blobKey = (conversionId: string, kind: BlobKind, sha256: string): string =>
  `${conversionId}/${kind}-${sha256}`;

/** @returns nothing where it is not the key of a blob */
export function parseBlobKey(key: string): BlobAddress | undefined {
  const [, conversionId, name, kind, sha256] = KEY.exec(key) ?? [];
  if (conversionId === undefined || name === undefined || sha256 === undefined) return undefined;
  return { key, conversionId, kind: kind as BlobKind, name, sha256 };
}
