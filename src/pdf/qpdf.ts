/** Jobs of qpdf as the thread that works on a PDF asks for them: files in the folder of the work, and what went wrong, in words. */
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { Size } from './page-geometry.ts';
import { type QpdfEnd, type QpdfRun, WorkFailure, type WorkQuestion } from './work-plan.ts';

const JOB_FILE = 'job.json';
/** The exit status for an input that cannot be worked on. What starts qpdf has others. */
const REFUSED = 2;
/** The exit status for warnings. */
const REPAIRED = 3;
/** Its output goes through a pipe: qpdf 11 does not notice that a disk is full, and ends with 0. */
const STANDARD_OUTPUT = '-';
const PDF_HEADER = '%PDF-';
const PDF_END = '%%EOF\n';

/** Without it the file would have another identifier each time. */
export const SAME_ID = { deterministicId: '' } as const;
/** PDF/A wants the end of each stream in a line of its own. */
export const AS_WRITTEN = { newlineBeforeEndstream: '' } as const;
/** A PDF with plain tables, as our own reader wants it. */
export const PLAIN = { objectStreams: 'disable', ...SAME_ID, ...AS_WRITTEN } as const;

export type Job = Readonly<Record<string, unknown>>;

export class Jobs {
  readonly #folder: string;
  readonly #port: MessagePort;
  #files = 0;

  /** @param port to what runs qpdf in that folder, and prints */
  constructor(folder: string, port: MessagePort) {
    this.#folder = folder;
    this.#port = port;
  }

  #place(): string {
    this.#files += 1;
    return `${this.#files}.pdf`;
  }

  #write(name: string, content: Uint8Array | string): void {
    const path = join(this.#folder, name);
    writeFileSync(path, content);
    // Whatever the umask: qpdf may run as another user. Its folder keeps others out.
    chmodSync(path, 0o644);
  }

  async #ask(question: WorkQuestion): Promise<unknown> {
    this.#port.postMessage(question, []);
    const [answer] = (await once(this.#port, 'message')) as [unknown];
    return answer;
  }

  /** Has HTML printed on paper of each size. @returns the files' names */
  async printed(html: string, papers: readonly (Size | undefined)[]): Promise<readonly string[]> {
    const printed = (await this.#ask({ kind: 'print', html, papers })) as readonly Uint8Array[];
    return printed.map((pdf) => this.put(pdf));
  }

  /** @returns the file's name for jobs */
  put(content: Uint8Array): string {
    const place = this.#place();
    this.#write(place, content);
    return place;
  }

  drop(...files: readonly string[]): void {
    for (const file of files) rmSync(join(this.#folder, file), { force: true });
  }

  /**
   * Runs a job that writes a PDF, from files that are dropped then.
   * @param what names the PDF for the client
   * @throws {WorkFailure}
   * @throws {Error} if the fault is ours, not that of the files
   */
  async made(
    job: Job,
    files: readonly string[],
    what = 'The PDF',
  ): Promise<{ readonly content: Buffer; readonly isRepaired: boolean }> {
    const run: QpdfRun = { jobFile: JOB_FILE, outputFile: this.#place() };
    const written = JSON.stringify({ ...job, outputFile: STANDARD_OUTPUT });
    this.#write(run.jobFile, written);
    const end = (await this.#ask({ kind: 'run', ...run })) as QpdfEnd;
    // It may have a password.
    this.drop(run.jobFile);
    if (end.status !== 0 && end.status !== REPAIRED) throw this.#failureOf(end, job, what);
    const content = readFileSync(join(this.#folder, run.outputFile));
    this.drop(run.outputFile, ...files);
    if (content.toString('latin1', content.length - PDF_END.length) !== PDF_END) {
      throw new Error(`qpdf ended with ${end.status}, and its output is not complete: ${end.said}`);
    }
    return { content, isRepaired: end.status === REPAIRED };
  }

  #failureOf({ status, signal, said }: QpdfEnd, job: Job, what: string): Error {
    const cause = new Error(`qpdf ended with ${signal ?? status}: ${said}`);
    if (/invalid password/.test(said)) {
      const message =
        job['password'] === undefined
          ? `${what} is encrypted: give its password, or send it without.`
          : `The password does not open ${what.charAt(0).toLowerCase()}${what.slice(1)}: give the right one, or send the file without encryption.`;
      return new WorkFailure('unreadable_pdf', message, { cause });
    }
    if (/unsupported encryption filter/.test(said)) {
      const message = `${what} is encrypted for certificates, or in a way of its own: send it without encryption.`;
      return new WorkFailure('unreadable_pdf', message, { cause });
    }
    if (signal === 'SIGXCPU' || signal === 'SIGKILL') {
      const message = `${what} takes more processor time than work on a PDF may use.`;
      return new WorkFailure('timeout', message, { cause });
    }
    // A crash is a stack that is full.
    if (signal !== null || /bad_alloc|out of memory/i.test(said)) {
      const message = `${what} takes more memory than work on a PDF may use.`;
      return new WorkFailure('too_large', message, { cause });
    }
    if (status !== REFUSED) return cause;
    const looksLikePdf = this.#looksLikePdf(job['inputFile']);
    const isNone = !looksLikePdf && /can't find (PDF header|startxref)/.test(said);
    const wrong = looksLikePdf ? 'is damaged or not complete' : 'is damaged, or not a PDF';
    const message = isNone
      ? `${what} is not a PDF.`
      : `${what} ${wrong}: open it in a PDF program, and save it again.`;
    return new WorkFailure('unreadable_pdf', message, { cause });
  }

  #looksLikePdf(file: unknown): boolean {
    if (typeof file !== 'string') return false;
    const content = readFileSync(join(this.#folder, file));
    return content.toString('latin1', 0, PDF_HEADER.length) === PDF_HEADER;
  }
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
