/** The PDF on its way to the disk, and what must be read from it or added to it there. */
import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import type { RequestDocument } from '../domain/request-document.ts';
import { FixedMarks } from './fixed-marks.ts';
import { LinkRemover } from './links.ts';
import { appendInfo, blankNames, FontNames } from './objects.ts';
import { PdfReader, pageCount, reference } from './reader.ts';

/** Nobody reads a larger document. A page that grows without end is stopped here. */
const MAX_PDF_BYTES = 128 * 1024 * 1024;
const MAX_PAGES = 10_000;
const READ_BYTES = 1024 * 1024;

export interface PdfFile {
  readonly path: string;
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
  readonly pages: number;
  /** Names of the fonts in it. */
  readonly fonts: readonly string[];
}

export interface SaveOptions {
  readonly path: string;
  readonly metadata: RequestDocument['metadata'];
  /**
   * The title of the page, if Chrome may have written something else: a full Chrome names a page without a title by its
   * address, which can be secret.
   */
  readonly pageTitle?: string | undefined;
  readonly syntheticOrigin: string | undefined;
  /** Milliseconds since the epoch: the PDF is dated to this, and names nothing that is of its process alone. */
  readonly fixedTime?: number | undefined;
}

/** The message is for people. */
export class PdfTooLarge extends Error {
  override readonly name = 'PdfTooLarge';
}

/**
 * Writes a PDF as Chrome makes it to a new file, without links that lead nowhere good and with its
 * metadata. It is not synced: only what is made of it is kept.
 * @throws {PdfTooLarge}
 */
export async function savePdf(
  parts: AsyncIterable<Buffer>,
  options: SaveOptions,
): Promise<PdfFile> {
  const file = openSync(options.path, 'wx+', 0o600);
  try {
    let hash = createHash('sha256');
    let bytes = 0;
    // A render thread has nothing else to do meanwhile, and each call in the background costs more than the call.
    const write = (content: Buffer): void => {
      hash.update(content);
      // Content may be written in parts.
      for (let done = 0; done < content.length; ) done += writeSync(file, content, done);
      bytes += content.length;
    };
    const fixer = options.fixedTime === undefined ? undefined : new FixedMarks(options.fixedTime);
    const fixed = (content: Buffer, isLast = false): Buffer =>
      fixer?.push(content, isLast) ?? content;
    const links = new LinkRemover(options.syntheticOrigin);
    const fonts = new FontNames();
    const { pageTitle } = options;
    let received = 0;
    for await (const content of parts) {
      if (pageTitle !== undefined && received === 0) blankNames(content);
      received += content.length;
      fonts.push(content);
      write(fixed(links.push(content)));
      if (received > MAX_PDF_BYTES) {
        throw new PdfTooLarge(`The PDF is larger than ${MAX_PDF_BYTES / 1024 / 1024} MiB.`);
      }
    }
    write(fixed(links.end(), true));
    const reader = PdfReader.open(file, bytes);
    const pages = pageCount(reader);
    if (pages > MAX_PAGES)
      throw new PdfTooLarge(`The document has ${pages} pages, of at most ${MAX_PAGES}.`);
    const named = pageTitle === undefined || pageTitle === '' ? {} : { title: pageTitle };
    const replacing = appendInfo(reader, { ...named, ...options.metadata });
    if (replacing.length > 0) {
      write(replacing);
      eraseInfo(file, reader);
      hash = hashOf(file, bytes);
    }
    return { path: options.path, sha256: hash.digest('hex'), bytes, pages, fonts: fonts.names };
  } finally {
    closeSync(file);
  }
}

/** Writes over what Chrome said of the document: nobody finds in the bytes what was replaced. */
function eraseInfo(file: number, reader: PdfReader): void {
  const { text, at } = reader.placed(reference(reader.trailer, 'Info'));
  const empty = Buffer.alloc(text.length, ' ');
  empty.write('<<>>');
  writeSync(file, empty, 0, empty.length, at);
}

function hashOf(file: number, bytes: number): Hash {
  const hash = createHash('sha256');
  const part = Buffer.alloc(READ_BYTES);
  for (let at = 0; at < bytes; ) {
    const read = readSync(file, part, 0, part.length, at);
    hash.update(part.subarray(0, read));
    at += read;
  }
  return hash;
}
