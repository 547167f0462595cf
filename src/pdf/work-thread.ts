/** Works on PDFs of strangers, in a thread that may be ended at any time: it has no network, and little memory. */
import { randomBytes } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import type { Encryption } from '../domain/request-document.ts';
import { attach } from './attachments.ts';
import {
  type Bookmark,
  movedBookmarks,
  readBookmarks,
  resolveLinks,
  saveCatalog,
  writeBookmarks,
} from './bookmarks.ts';
import { dropClaims, keepDescription, setMetadata, titleOf } from './description.ts';
import { dropSignatures } from './drop-signatures.ts';
import { pageNumbers, pagesOf, rotate } from './page-tree.ts';
import { PdfObjects, PdfTooComplex } from './pdf-objects.ts';
import { restoreContents } from './overlay.ts';
import { hasLineBeforeEnd, Qpdf, type QpdfProgram, WorkFailure } from './qpdf.ts';
import { MalformedPdf, type Ref } from './values.ts';
import type { Work, WorkAnswer, WorkResult, WorkStep } from './work-plan.ts';

/** More than a PDF of ours may have. */
const MAX_PAGES = 10_000;

interface ThreadData {
  readonly program: QpdfProgram;
  readonly work: Work;
}

/** Without it the file would have another identifier each time. */
const SAME_ID = { deterministicId: '' } as const;
/** PDF/A wants the end of each stream in a line of its own. */
const AS_WRITTEN = { newlineBeforeEndstream: '' } as const;
/** A PDF with plain tables, as our own reader wants it. */
const PLAIN = { objectStreams: 'disable', ...SAME_ID, ...AS_WRITTEN } as const;

const COMPACT = {
  objectStreams: 'generate',
  compressStreams: 'y',
  removeUnreferencedResources: 'auto',
} as const;

const isSame = (pages: readonly number[], count: number): boolean =>
  pages.length === count && pages.every((page, n) => page === n);

class Workshop {
  readonly #qpdf: Qpdf;
  #files = 0;

  constructor(qpdf: Qpdf) {
    this.#qpdf = qpdf;
  }

  #place(): string {
    this.#files += 1;
    return `/${this.#files}.pdf`;
  }

  #put(content: Uint8Array): string {
    const place = this.#place();
    this.#qpdf.put(place, content);
    return place;
  }

  /** Runs a job whose output is a PDF. */
  #made(job: Readonly<Record<string, unknown>>, what = 'The PDF'): Buffer {
    const outputFile = this.#place();
    this.#qpdf.run({ ...job, outputFile }, what);
    return this.#qpdf.take(outputFile);
  }

  do({ sources, steps, areFinished, encrypt, optimize }: Work): WorkResult {
    const repaired: number[] = [];
    const signed: number[] = [];
    const plain = sources.map(({ content, password }, n) => {
      const inputFile = this.#put(content);
      const outputFile = this.#place();
      const what = sources.length === 1 ? 'The file' : `Source ${n + 1}`;
      const job = { inputFile, outputFile, ...PLAIN, decrypt: '' };
      // The tree of its pages is made anew with them: what is wrong with it is seen here.
      const pages = [{ file: '.', range: '1-z', ...(password !== undefined && { password }) }];
      const opened = password === undefined ? job : { ...job, password };
      if (this.#qpdf.run({ ...opened, pages }, what)) repaired.push(n + 1);
      this.#qpdf.drop(inputFile);
      const made = this.#qpdf.take(outputFile);
      if (areFinished !== true) return made;
      const objects = new PdfObjects(made);
      if (!dropSignatures(objects)) return made;
      signed.push(n + 1);
      return objects.save();
    });
    let content = plain[0] ?? Buffer.alloc(0);
    if (plain.length > 1) content = this.#joined(plain);
    for (const step of steps) content = this.#step(content, step);
    const objects = new PdfObjects(content);
    const pages = countOf(objects);
    const title = titleOf(objects);
    if (encrypt !== undefined || optimize === true)
      content = this.#written(content, encrypt, optimize);
    return { content, pages, title, repaired, signed, program: this.#qpdf.program() };
  }

  #step(content: Buffer, step: WorkStep): Buffer {
    switch (step.type) {
      case 'pages':
        return this.#chosen(content, step.pages);
      case 'rotate':
        return changed(content, (objects) => {
          rotate(objects, pagesAt(objects, step.pages), step.rotate);
        });
      case 'stamp':
        return this.#stamped(content, step);
      case 'watermark':
        return this.#watermarked(content, step.stamp);
      case 'attach':
        return changed(content, (objects) => {
          dropClaims(objects);
          attach(objects, step.attachments, undefined);
          saveCatalog(objects);
        });
      case 'metadata':
        return changed(content, (objects) => setMetadata(objects, step.metadata));
    }
  }

  #joined(sources: readonly Buffer[]): Buffer {
    const bookmarks: Bookmark[] = [];
    let count = 0;
    const files = sources.map((source) => {
      const objects = new PdfObjects(source);
      const before = count;
      bookmarks.push(...movedBookmarks(readBookmarks(objects), (page) => before + page));
      resolveLinks(objects);
      count += countOf(objects);
      if (count > MAX_PAGES) throw tooManyPages(count);
      return this.#put(objects.save());
    });
    return this.#assembled(
      files.map((file) => ({ file, range: '1-z' })),
      { first: sources[0], bookmarks },
    );
  }

  #chosen(content: Buffer, ranges: string): Buffer {
    const objects = new PdfObjects(content);
    const count = countOf(objects);
    const pages = pagesIn(ranges, count);
    if (isSame(pages, count)) return content;
    if (pages.length > MAX_PAGES) throw tooManyPages(pages.length);
    const places = new Map(pages.map((page, n) => [page, n] as const).toReversed());
    const bookmarks = movedBookmarks(readBookmarks(objects), (page) => places.get(page));
    resolveLinks(objects);
    const file = this.#put(objects.save());
    const range = pages.map((page) => page + 1).join(',');
    return this.#assembled([{ file, range }], { first: content, bookmarks });
  }

  /** A new document of these pages: nothing of others is left in it. */
  #assembled(
    pages: readonly { readonly file: string; readonly range: string }[],
    {
      first,
      bookmarks,
    }: { readonly first: Buffer | undefined; readonly bookmarks: readonly Bookmark[] },
  ): Buffer {
    const copyAttachmentsFrom = pages.map(({ file }, n) => ({
      file,
      ...(pages.length > 1 && { prefix: `${n + 1}/` }),
    }));
    const made = this.#made({ empty: '', ...PLAIN, pages, copyAttachmentsFrom });
    for (const { file } of pages) this.#qpdf.drop(file);
    return changed(made, (objects) => {
      writeBookmarks(objects, bookmarks);
      if (first !== undefined) keepDescription(objects, new PdfObjects(first));
      for (const page of pagesOf(objects)) {
        // The tags that it belonged to are not there.
        const entries = objects.dictionary(page);
        if (entries.delete('StructParents')) objects.set(page.number, entries);
      }
    });
  }

  #stamped(content: Buffer, { stamp, pages }: Extract<WorkStep, { type: 'stamp' }>): Buffer {
    const objects = new PdfObjects(content);
    const count = countOf(objects);
    const to =
      pages === undefined
        ? '1-z'
        : pagesIn(pages, count)
            .map((n) => n + 1)
            .join(',');
    const file = this.#put(stamp);
    const inputFile = this.#put(content);
    const overlay = [{ file, from: '', repeat: '1', to }];
    const made = this.#made({ inputFile, ...PLAIN, overlay });
    this.#qpdf.drop(file);
    this.#qpdf.drop(inputFile);
    return changed(made, (each) => {
      dropClaims(each);
      restoreContents(each);
    });
  }

  /** The content of each page becomes an object, whose state ends with it. */
  #watermarked(content: Buffer, stamp: Uint8Array): Buffer {
    const plain = changed(content, (objects) => {
      dropClaims(objects);
      for (const page of pagesOf(objects)) {
        const entries = objects.dictionary(page);
        // What is laid over a page is fitted into its trim box.
        for (const box of ['TrimBox', 'ArtBox', 'BleedBox']) entries.delete(box);
        objects.set(page.number, entries);
      }
    });
    const inputFile = this.#put(plain);
    const flattenAnnotations = 'all';
    const flat = this.#made({ inputFile, ...PLAIN, generateAppearances: '', flattenAnnotations });
    this.#qpdf.drop(inputFile);
    const [below, file] = [this.#put(flat), this.#put(stamp)];
    const overlay = [{ file, from: '', repeat: '1', to: '1-z' }];
    const made = this.#made({ inputFile: below, ...PLAIN, overlay });
    this.#qpdf.drop(below);
    this.#qpdf.drop(file);
    return made;
  }

  #written(
    content: Buffer,
    encrypt: Encryption | undefined,
    optimize: boolean | undefined,
  ): Buffer {
    const inputFile = this.#put(content);
    const secured = encrypt === undefined ? SAME_ID : { encrypt: encryption(encrypt) };
    const job = { inputFile, ...AS_WRITTEN, ...secured };
    if (optimize !== true) return this.#made(job);
    const linear = this.#made({ ...job, ...COMPACT, linearize: '' });
    // Once in some hundred times: a file that is not prepared for the web is better than one that breaks its claims.
    return hasLineBeforeEnd(linear) ? linear : this.#made({ ...job, ...COMPACT });
  }
}

const yes = (allowed = true): 'y' | 'n' => (allowed ? 'y' : 'n');

/** AES with 256 bits. Without a password for its owner, nobody has one. */
function encryption({ user_password, owner_password, permissions = {} }: Encryption) {
  const { print = true, copy, modify, annotate, fill_forms, assemble } = permissions;
  return {
    userPassword: user_password ?? '',
    ownerPassword: owner_password ?? randomBytes(32).toString('base64url'),
    '256bit': {
      print: print ? 'full' : 'none',
      extract: yes(copy),
      modifyOther: yes(modify),
      annotate: yes(annotate),
      form: yes(fill_forms),
      assemble: yes(assemble),
    },
  };
}

function changed(content: Buffer, change: (objects: PdfObjects) => void): Buffer {
  const objects = new PdfObjects(content);
  change(objects);
  return objects.save();
}

function countOf(objects: PdfObjects): number {
  const { length } = pagesOf(objects);
  if (length > MAX_PAGES) throw tooManyPages(length);
  if (length === 0) throw new WorkFailure('unreadable_pdf', 'The PDF has no pages.');
  return length;
}

const tooManyPages = (count: number): WorkFailure =>
  new WorkFailure('too_large', `The document has ${count} pages, of at most ${MAX_PAGES}.`);

function pagesIn(ranges: string, count: number): readonly number[] {
  const pages = pageNumbers(ranges, count);
  if (pages !== undefined) return pages;
  const has = count === 1 ? 'one page' : `${count} pages`;
  throw new WorkFailure(
    'page_range',
    `The page range ${ranges} is not in the document: it has ${has}.`,
  );
}

function pagesAt(objects: PdfObjects, ranges: string | undefined): readonly Ref[] {
  const all = pagesOf(objects);
  if (ranges === undefined) return all;
  const chosen = new Set(pagesIn(ranges, all.length));
  return all.filter((_, n) => chosen.has(n));
}

async function answer(): Promise<WorkAnswer> {
  const { program, work } = workerData as ThreadData;
  try {
    return { kind: 'done', result: new Workshop(await Qpdf.start(program)).do(work) };
  } catch (error) {
    if (error instanceof WorkFailure) {
      return { kind: 'failed', fault: error.fault, message: error.message };
    }
    if (error instanceof PdfTooComplex) {
      return { kind: 'failed', fault: 'too_large', message: error.message };
    }
    if (error instanceof RangeError) {
      // Too deep for the stack, or too long for an array.
      const message = 'The PDF is too complex to be worked on.';
      return { kind: 'failed', fault: 'too_large', message };
    }
    if (error instanceof MalformedPdf) {
      const message = 'The PDF is damaged in a way that cannot be repaired.';
      return { kind: 'failed', fault: 'unreadable_pdf', message };
    }
    throw error;
  }
}

const told = await answer();
parentPort?.postMessage(told, []);
