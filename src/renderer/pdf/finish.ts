/** The PDF on its way to the disk, and what must be read from it or added to it there. */
import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { RequestDocument } from '../../domain/request-document.ts';
import { PageFailure } from '../chrome/failure.ts';
import { FontNames } from './objects.ts';
import { appendInfo } from './objects.ts';
import { LinkCleaner } from './objects.ts';
import { PdfReader, pageCount } from './reader.ts';
import type { Tab } from '../chrome/tab.ts';

/** Few round trips: base64 of this is a message of some megabytes. */
const READ_BYTES = 4 * 1024 * 1024;
/** Beyond these nobody reads a document; a page that grows without end is stopped. */
const MAX_PDF_BYTES = 128 * 1024 * 1024;
const MAX_PAGES = 10_000;

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
  readonly syntheticOrigin: string | undefined;
}

class HashedFile {
  readonly file: FileHandle;
  readonly #hash: Hash = createHash('sha256');
  bytes = 0;

  constructor(file: FileHandle) {
    this.file = file;
  }

  async write(content: Buffer): Promise<void> {
    this.#hash.update(content);
    // Content may be written in parts; the loop inside `writeFile` would truncate first.
    for (let done = 0; done < content.length; ) {
      const { bytesWritten } = await this.file.write(content, done);
      done += bytesWritten;
    }
    this.bytes += content.length;
  }

  sha256(): string {
    return this.#hash.digest('hex');
  }
}

const tooLarge = (message: string): PageFailure => new PageFailure('too_large', message);

/**
 * Reads Chrome's stream to the end into a new file, durable when it resolves.
 * @throws {PageFailure} `too_large`
 */
export async function savePdf(
  tab: Pick<Tab, 'send'>,
  handle: string,
  options: SaveOptions,
): Promise<PdfFile> {
  const file = await open(options.path, 'wx+', 0o600);
  try {
    const out = new HashedFile(file);
    const links = new LinkCleaner(options.syntheticOrigin);
    const fonts = new FontNames();
    for (let last = false; !last; ) {
      const part = await tab.send('IO.read', { handle, size: READ_BYTES });
      const content = Buffer.from(part.data, part.base64Encoded === true ? 'base64' : 'utf8');
      fonts.push(content);
      await out.write(links.push(content));
      if (out.bytes > MAX_PDF_BYTES) {
        throw tooLarge(`The PDF is larger than ${MAX_PDF_BYTES / 1024 / 1024} MiB.`);
      }
      last = part.eof;
    }
    await out.write(links.end());
    const reader = await PdfReader.open(file, out.bytes);
    const pages = await pageCount(reader);
    if (pages > MAX_PAGES)
      throw tooLarge(`The document has ${pages} pages, of at most ${MAX_PAGES}.`);
    if (options.metadata !== undefined) {
      await out.write(await appendInfo(reader, options.metadata));
    }
    await file.sync();
    const { path } = options;
    return { path, sha256: out.sha256(), bytes: out.bytes, pages, fonts: fonts.names };
  } finally {
    await file.close();
  }
}
