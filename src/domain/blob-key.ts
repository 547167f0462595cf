/** A blob's key. It names the conversion too, so that deleting one conversion's blob never deletes another's. */
export const blobKey = (
  conversionId: string,
  kind: 'request' | 'document' | 'manifest',
  sha256: string,
): string => `${conversionId}/${kind}-${sha256}`;
