/** Works on PDFs of strangers, in a thread that may be ended at any time: it has no network, and little memory. */
import { randomBytes } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import type { Encryption } from '../domain/request-document.ts';
import { refuseAbsurdRows } from './absurd-rows.ts';
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
import { changed, countOf, MAX_PAGES, pagesAt, pagesIn, tooManyPages } from './chosen-pages.ts';
import { dropSignatures } from './drop-signatures.ts';
import { carryLayers, settleLayers } from './layers.ts';
import { pagesOf, rotate } from './page-tree.ts';
import { PdfObjects, PdfTooComplex } from './pdf-objects.ts';
import { AS_WRITTEN, hasLineBeforeEnd, type Job, Jobs, PLAIN, SAME_ID } from './qpdf.ts';
import { layWatermark, stampPages } from './stamps.ts';
import { MalformedPdf } from './values.ts';
import {
  type Work,
  type WorkAnswer,
  WorkFailure,
  type WorkResult,
  type WorkSource,
  type WorkStep,
} from './work-plan.ts';

export interface WorkTask {
  readonly work: Work;
  readonly folder: string;
  /** Runs qpdf in that folder, and prints stamps. */
  readonly port: MessagePort;
  /** The name and version of qpdf. */
  readonly program: string;
}

const COMPACT = {
  objectStreams: 'generate',
  compressStreams: 'y',
  removeUnreferencedResources: 'auto',
} as const;

const isSame = (pages: readonly number[], count: number): boolean =>
  pages.length === count && pages.every((page, n) => page === n);

class Workshop {
  readonly #jobs: Jobs;

  constructor(jobs: Jobs) {
    this.#jobs = jobs;
  }

  /** Runs a job whose output is a PDF. */
  async #made(job: Job, ...files: readonly string[]): Promise<Buffer> {
    return (await this.#jobs.made(job, files)).content;
  }

  async do({
    sources,
    steps,
    areFinished,
    encrypt,
    optimize,
  }: Work): Promise<Omit<WorkResult, 'program'>> {
    const repaired: number[] = [];
    const signed: number[] = [];
    const plain: Buffer[] = [];
    for (const [n, source] of sources.entries()) {
      const what = sources.length === 1 ? 'The file' : `Source ${n + 1}`;
      const { content, isRepaired } = await this.#opened(source, what);
      if (isRepaired) repaired.push(n + 1);
      const objects = new PdfObjects(content);
      refuseAbsurdRows(objects, what);
      const wasSigned = areFinished === true && dropSignatures(objects);
      if (wasSigned) signed.push(n + 1);
      plain.push(wasSigned ? objects.save() : content);
    }
    let content = plain[0] ?? Buffer.alloc(0);
    if (plain.length > 1) content = await this.#joined(plain);
    for (const step of steps) content = await this.#step(content, step);
    const objects = new PdfObjects(content);
    const pages = countOf(objects);
    const title = titleOf(objects);
    if (areFinished === true) {
      // Nobody checks again what it claims.
      dropClaims(objects);
      content = objects.save();
    }
    // What nothing refers to any more is left out, such as metadata that were replaced.
    if (encrypt !== undefined || optimize === true || areFinished === true)
      content = await this.#written(content, encrypt, optimize);
    return { content, pages, title, repaired, signed };
  }

  async #opened({ content, password }: WorkSource, what: string) {
    const inputFile = this.#jobs.put(content);
    const given = password === undefined ? {} : { password };
    // The tree of its pages is made anew with them: what is wrong with it is seen here.
    const pages = [{ file: '.', range: '1-z', ...given }];
    return await this.#jobs.made(
      { inputFile, ...PLAIN, decrypt: '', ...given, pages },
      [inputFile],
      what,
    );
  }

  async #step(content: Buffer, step: WorkStep): Promise<Buffer> {
    switch (step.type) {
      case 'pages':
        return await this.#chosen(content, step.pages);
      case 'rotate':
        return changed(content, (objects) => {
          rotate(objects, pagesAt(objects, step.pages), step.rotate);
        });
      case 'stamp':
        return await stampPages(this.#jobs, content, step);
      case 'watermark':
        return await layWatermark(this.#jobs, content, step.stamp);
      case 'attach':
        return changed(content, (objects) => {
          attach(objects, step.attachments, undefined);
          saveCatalog(objects);
        });
      case 'metadata':
        return changed(content, (objects) => setMetadata(objects, step.metadata));
    }
  }

  async #joined(sources: readonly Buffer[]): Promise<Buffer> {
    const bookmarks: Bookmark[] = [];
    let count = 0;
    const files = sources.map((source) => {
      const objects = new PdfObjects(source);
      const before = count;
      bookmarks.push(...movedBookmarks(readBookmarks(objects), (page) => before + page));
      resolveLinks(objects);
      carryLayers(objects);
      count += countOf(objects);
      if (count > MAX_PAGES) throw tooManyPages(count);
      return this.#jobs.put(objects.save());
    });
    return await this.#assembled(
      files.map((file) => ({ file, range: '1-z' })),
      { first: sources[0], bookmarks },
    );
  }

  async #chosen(content: Buffer, ranges: string): Promise<Buffer> {
    const objects = new PdfObjects(content);
    const count = countOf(objects);
    const pages = pagesIn(ranges, count);
    if (isSame(pages, count)) return content;
    if (pages.length > MAX_PAGES) throw tooManyPages(pages.length);
    const places = new Map(pages.map((page, n) => [page, n] as const).toReversed());
    const bookmarks = movedBookmarks(readBookmarks(objects), (page) => places.get(page));
    resolveLinks(objects);
    carryLayers(objects);
    const file = this.#jobs.put(objects.save());
    const range = pages.map((page) => page + 1).join(',');
    return await this.#assembled([{ file, range }], { first: content, bookmarks });
  }

  /** A new document of these pages: nothing of others is left in it. */
  async #assembled(
    pages: readonly { readonly file: string; readonly range: string }[],
    {
      first,
      bookmarks,
    }: { readonly first: Buffer | undefined; readonly bookmarks: readonly Bookmark[] },
  ): Promise<Buffer> {
    const copyAttachmentsFrom = pages.map(({ file }, n) => ({
      file,
      ...(pages.length > 1 && { prefix: `${n + 1}/` }),
    }));
    const files = pages.map(({ file }) => file);
    const made = await this.#made({ empty: '', ...PLAIN, pages, copyAttachmentsFrom }, ...files);
    return changed(made, (objects) => {
      writeBookmarks(objects, bookmarks);
      settleLayers(objects);
      if (first !== undefined) keepDescription(objects, new PdfObjects(first));
      for (const page of pagesOf(objects)) {
        // The tags that it belonged to are not there.
        const entries = objects.dictionary(page);
        if (entries.delete('StructParents')) objects.set(page.number, entries);
      }
    });
  }

  async #written(
    content: Buffer,
    encrypt: Encryption | undefined,
    optimize: boolean | undefined,
  ): Promise<Buffer> {
    const inputFile = this.#jobs.put(content);
    const secured = encrypt === undefined ? SAME_ID : { encrypt: encryption(encrypt) };
    const job = { inputFile, ...AS_WRITTEN, ...secured };
    if (optimize !== true) return await this.#made(job);
    const linear = await this.#made({ ...job, ...COMPACT, linearize: '' });
    // Once in some hundred times: a file that is not prepared for the web is better than one that breaks its claims.
    return hasLineBeforeEnd(linear) ? linear : await this.#made({ ...job, ...COMPACT });
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

export default async function answer({
  work,
  folder,
  port,
  program,
}: WorkTask): Promise<WorkAnswer> {
  try {
    const result = await new Workshop(new Jobs(folder, port)).do(work);
    return { kind: 'done', result: { ...result, program } };
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
