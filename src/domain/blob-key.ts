/** A blob's key. It names the conversion too, so that deleting one conversion's blob never deletes another's. */
import { CONVERSION_ID } from './ids.ts';

export interface BlobAddress {
  readonly key: string;
  readonly conversionId: string;
  readonly kind: 'request' | 'document' | 'manifest';
  /** The key's last part: kind and hash. */
  readonly name: string;
  readonly sha256: string;
}

const KEY = new RegExp(`^(${CONVERSION_ID})/((request|document|manifest)-([0-9a-f]{64}))$`);

export const blobKey = (
  conversionId: string,
  kind: 'request' | 'document' | 'manifest',
  sha256: string,
): string => `${conversionId}/${kind}-${sha256}`;

/** @returns nothing where it is not the key of a blob */
export function parseBlobKey(key: string): BlobAddress | undefined {
  const [, conversionId, name, kind, sha256] = KEY.exec(key) ?? [];
  if (conversionId === undefined || name === undefined || sha256 === undefined) return undefined;
  return { key, conversionId, kind: kind as BlobAddress['kind'], name, sha256 };
}
