/** A file that a person has chosen: what it is by its first bytes, and its hash. It is read here alone. */
import { hexSha256 } from '../../../../verifier/verify-evidence.mjs';
import { assertCanHash } from '../../proof/browser.ts';

export type FileKind = 'pdf' | 'bundle' | 'other' | 'empty';

export interface ChosenFile {
  readonly file: File;
  readonly kind: FileKind;
  /** Hex digits. */
  readonly sha256: string;
}

/** Readers of PDFs look for the mark in the first kilobyte. */
const PDF_MARK_WITHIN = 1024;

function kindOf(content: Uint8Array): FileKind {
  if (content.length === 0) return 'empty';
  const beginning = new TextDecoder('latin1').decode(content.subarray(0, PDF_MARK_WITHIN));
  if (beginning.startsWith('PK\x03\x04')) return 'bundle';
  return beginning.includes('%PDF-') ? 'pdf' : 'other';
}

export async function contentOf(file: File): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(
      `The browser cannot read ${file.name}. It may have been moved or changed since it was chosen, or be too large. Choose it again.`,
    );
  }
}

/** @throws {Error} the browser cannot read the file, or cannot compute hashes on this page */
export async function readFile(file: File): Promise<ChosenFile> {
  assertCanHash();
  const content = await contentOf(file);
  return { file, kind: kindOf(content), sha256: await hexSha256(content) };
}
