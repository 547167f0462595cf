/** The files of a bundle of evidence in one ZIP, and the list of them that the log signs. */
import { createHash } from 'node:crypto';
import { zipSync } from 'fflate';

/** The documents of a conversion, as far as they are there. */
export const DOCUMENTS = ['document.pdf', 'request.json', 'manifest.json'] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

/** The documents that are not there, each with the reason in a sentence. */
export type Absent = ReadonlyMap<DocumentName, string>;

/** Files of a bundle by their names, in their order. */
export type BundleFiles = ReadonlyMap<string, Buffer>;

/**
 * The text of the list, which a note signs. Its second line keeps it from being taken for a checkpoint, where
 * that line is a number. The lines of files are those of sha256sum.
 */
export function contentsText(
  of: { readonly origin: string; readonly conversionId: string },
  absent: Absent,
  files: BundleFiles,
): string {
  const lines = [
    'pressledger-evidence/v1',
    `origin ${of.origin}`,
    `conversion ${of.conversionId}`,
    ...[...absent].map(([name, reason]) => `absent ${name}: ${reason}`),
    ...[...files].map(
      ([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}`,
    ),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The same bytes for the same files: nothing is compressed, and all have one date. The verifier accepts no
 * other form.
 */
export function bundleZip(files: BundleFiles): Buffer {
  // The format has local times, and this is midnight in every zone.
  const mtime = new Date(1980, 0, 1);
  const zip = zipSync(Object.fromEntries(files), { level: 0, mtime });
  return Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
}
