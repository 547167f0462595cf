/** Files that a person has chosen from this machine. */
import { base64 } from '../../../verifier/verify-evidence.mjs';
import { t } from '../words/words.ts';

export type FileKind = 'pdf' | 'bundle' | 'other' | 'empty';

/** Readers of PDFs look for the mark in the first kilobyte. */
export const PDF_MARK_WITHIN = 1024;

/** @param content all of it, or its first kilobyte */
export function kindOf(content: Uint8Array): FileKind {
  if (content.length === 0) return 'empty';
  const beginning = new TextDecoder('latin1').decode(content.subarray(0, PDF_MARK_WITHIN));
  if (beginning.startsWith('PK\x03\x04')) return 'bundle';
  return beginning.includes('%PDF-') ? 'pdf' : 'other';
}

/** @throws {Error} the browser cannot read the file */
export async function contentOf(file: File, bytes = file.size): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.slice(0, bytes).arrayBuffer());
  } catch {
    throw new Error(
      t(
        'The browser cannot read “{name}”. It may have been moved or changed since it was chosen, or be too large. Choose it again.',
        { name: file.name },
      ),
    );
  }
}

/** @throws {Error} the browser cannot read the file */
export const base64Of = async (file: File): Promise<string> => base64(await contentOf(file));
