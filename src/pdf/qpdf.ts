/** qpdf as WebAssembly: it sees the files that it is given and nothing else, and has a fixed part of memory. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { withMemoryOf } from '../limits/wasm-memory.ts';
import type { WorkFault } from './work-plan.ts';

const PACKAGE = '@neslinesli93/qpdf-wasm';
/** Of the memory that qpdf itself takes. 64 KiB each. */
const MAX_MEMORY_PAGES = 8 * 1024;
/** All that it may write, in all jobs of one thread. */
const MAX_WRITTEN_BYTES = 512 * 1024 * 1024;
/** Lines that it says which are kept. */
const MAX_LINES = 20;

/** What is compiled of the program; threads share it. */
export type QpdfProgram = object;

/** The types of Node leave it out. */
const { compile, instantiate } = Reflect.get(globalThis, 'WebAssembly') as {
  readonly compile: (bytes: Uint8Array) => Promise<QpdfProgram>;
  readonly instantiate: (program: QpdfProgram, imports: object) => Promise<object>;
};

/** The part of the package's module that is used. Its own types leave most of it out. */
interface QpdfModule {
  callMain(args: readonly string[]): number;
  readonly FS: {
    write(
      stream: unknown,
      buffer: unknown,
      offset: number,
      length: number,
      ...more: unknown[]
    ): number;
    writeFile(path: string, content: Uint8Array | string): void;
    readFile(path: string): Uint8Array;
    unlink(path: string): void;
  };
}

/** The work cannot be done: the text is for the client. */
export class WorkFailure extends Error {
  override readonly name = 'WorkFailure';
  readonly fault: WorkFault;

  constructor(fault: WorkFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** Reads the package's program, so that all threads can share what is compiled of it. */
export async function compileQpdf(): Promise<QpdfProgram> {
  const place = createRequire(import.meta.url).resolve(`${PACKAGE}/dist/qpdf.wasm`);
  return await compile(withMemoryOf(readFileSync(place), MAX_MEMORY_PAGES));
}

/** One instance. What it says goes to the console, so it needs a thread of its own. */
export class Qpdf {
  readonly #module: QpdfModule;
  #lines: string[] = [];
  #written = 0;

  private constructor(module: QpdfModule) {
    this.#module = module;
    const { FS } = module;
    const write = FS.write.bind(FS);
    FS.write = (stream, buffer, offset, length, ...more) => {
      this.#written += length;
      if (this.#written > MAX_WRITTEN_BYTES) throw new WorkFailure('too_large', TOO_LARGE);
      return write(stream, buffer, offset, length, ...more);
    };
  }

  static async start(program: QpdfProgram): Promise<Qpdf> {
    const lines: string[] = [];
    const hear = (line: unknown): void => {
      if (lines.length < MAX_LINES) lines.push(String(line));
    };
    // The program takes hold of both when it starts.
    Object.assign(console, { log: hear, error: hear });
    const create = createRequire(import.meta.url)(PACKAGE) as (options: {
      readonly noInitialRun: true;
      instantiateWasm(
        imports: object,
        settle: (instance: object, program: QpdfProgram) => void,
      ): object;
    }) => Promise<QpdfModule>;
    const module = await create({
      noInitialRun: true,
      instantiateWasm: (imports, settle) => {
        const begin = async (): Promise<void> =>
          settle(await instantiate(program, imports), program);
        void begin();
        return {};
      },
    });
    const qpdf = new Qpdf(module);
    qpdf.#lines = lines;
    return qpdf;
  }

  put(path: string, content: Uint8Array): void {
    this.#module.FS.writeFile(path, content);
  }

  /** Takes a file out. */
  take(path: string): Buffer {
    const { FS } = this.#module;
    const content = FS.readFile(path);
    FS.unlink(path);
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  }

  drop(path: string): void {
    this.#module.FS.unlink(path);
  }

  /** Its name and version, as it tells them itself. */
  program(): string {
    this.#lines.length = 0;
    this.#module.callMain(['--version']);
    // Before it stands the name of the thread's file.
    const version = / version (\S+)$/.exec(this.#lines[0] ?? '')?.[1];
    if (version === undefined) throw new Error('qpdf does not tell its version.');
    return `qpdf/${version}`;
  }

  /**
   * Runs one job (https://qpdf.readthedocs.io/en/stable/qpdf-job.html).
   * @param what names the PDF for the client
   * @returns true if the PDF was damaged, and repaired
   * @throws {WorkFailure}
   */
  run(job: Readonly<Record<string, unknown>>, what: string): boolean {
    this.#lines.length = 0;
    this.#module.FS.writeFile('/job.json', JSON.stringify(job));
    let status: number;
    try {
      status = this.#module.callMain(['--job-json-file=/job.json']);
    } catch (cause) {
      if (cause instanceof WorkFailure) throw cause;
      // Memory or stack that it may not have: it cannot go on.
      throw new WorkFailure('too_large', `${what} takes more memory than work on a PDF may use.`, {
        cause,
      });
    }
    if (status === 0 || status === REPAIRED) return status === REPAIRED;
    throw failureOf(what, this.#lines.join('\n'), {
      hasPassword: job['password'] !== undefined,
      looksLikePdf: this.#looksLikePdf(job['inputFile']),
    });
  }

  #looksLikePdf(path: unknown): boolean {
    if (typeof path !== 'string') return false;
    const content = this.#module.FS.readFile(path);
    return Buffer.from(content.subarray(0, PDF_HEADER.length)).toString('latin1') === PDF_HEADER;
  }
}

/** The exit status for warnings. */
const REPAIRED = 3;
const PDF_HEADER = '%PDF-';
const TOO_LARGE = 'The work makes more than is made of PDFs here.';

function failureOf(
  what: string,
  said: string,
  { hasPassword, looksLikePdf }: { readonly hasPassword: boolean; readonly looksLikePdf: boolean },
): WorkFailure {
  if (/invalid password/.test(said)) {
    const message = hasPassword
      ? `The password does not open ${what.charAt(0).toLowerCase()}${what.slice(1)}: give the right one, or send the file without encryption.`
      : `${what} is encrypted: give its password, or send it without.`;
    return new WorkFailure('unreadable_pdf', message);
  }
  if (/bad_alloc|out of memory/i.test(said)) {
    return new WorkFailure('too_large', `${what} takes more memory than work on a PDF may use.`);
  }
  const isNone = !looksLikePdf && /can't find (PDF header|startxref)/.test(said);
  const wrong = looksLikePdf ? 'is damaged or not complete' : 'is damaged, or not a PDF';
  const message = isNone
    ? `${what} is not a PDF.`
    : `${what} ${wrong}: open it in a PDF program, and save it again.`;
  return new WorkFailure('unreadable_pdf', message, { cause: new Error(said) });
}

/**
 * True if the table that linearisation adds ends in a line of its own. Where its last byte is a line feed, qpdf adds none,
 * and PDF/A wants one that does not belong to the content (ISO 19005-2, 6.1.7.1).
 */
export function hasLineBeforeEnd(pdf: Buffer): boolean {
  const at = Number(/\/H \[ ?(\d+) /.exec(pdf.toString('latin1', 0, 1024))?.[1] ?? Number.NaN);
  const start = pdf.indexOf('stream\n', at) + 'stream\n'.length;
  const length = Number(/\/Length (\d+)/.exec(pdf.toString('latin1', at, start))?.[1]);
  return pdf.toString('latin1', start + length, start + length + 10) === '\nendstream';
}
