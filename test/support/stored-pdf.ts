import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BlobOwner, encryptFile } from '../../src/documents/encryption.ts';
import type { BlobStore } from '../../src/documents/port.ts';
import type { BlobRef, PdfDigest } from '../../src/domain/event-fields.ts';

/** Stores a PDF as a renderer would. */
export async function storePdf(
  blobs: Pick<BlobStore, 'adopt'>,
  owner: BlobOwner,
  content: Buffer,
  directory: string,
): Promise<{ readonly document: BlobRef; readonly pdf: PdfDigest }> {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${owner.conversionId}.pdf`);
  writeFileSync(path, content);
  const pdf = { sha256: createHash('sha256').update(content).digest('hex'), bytes: content.length };
  const encrypted = await encryptFile(owner, 'document', { path, ...pdf }, `${path}.encrypted`);
  return { document: await blobs.adopt(owner.conversionId, 'document', encrypted), pdf };
}
