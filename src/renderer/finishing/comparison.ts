/** Tells which pages of a document that is rendered again differ from those of the first PDF. */
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { threadFile, Threads } from '../../async/threads.ts';
import { resultWithin } from '../../async/with-timeout.ts';
import { readContent } from '../../documents/decryption.ts';
import type { BlobStore } from '../../documents/port.ts';
import type { Logger } from '../../observe/log.ts';
import { MAX_DIFFERING_PAGES, type RenderJob } from '../../render-queue/messages.ts';
import type { WorkLimits } from './finish-printed.ts';
import type { PdfFile } from '../../pdf/finish.ts';

/** Both are read whole, and have some objects of memory for each of their own. */
const MAX_PDF_BYTES = 64 * 1024 * 1024;
const MAX_HEAP_MB = 1_024;
const READ_MS = 10_000;
const COMPARE_MS = 30_000;
const TAIL_BYTES = 1_024;

/** What the thread is given. */
export interface ToCompare {
  readonly one: Uint8Array;
  readonly other: Uint8Array;
}
/** Its answer: the numbers of the pages that differ, from 1. */
export type Compared = readonly number[];

const threads = new Threads<ToCompare, Compared>(threadFile(import.meta, 'comparing-worker'), {
  maxThreads: availableParallelism(),
  idleTimeout: 0,
  resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
});

/**
 * @param first the PDF that the job's conversion is compared with
 * @returns the first numbers of the pages that differ; undefined where nothing is known of them: the PDF is deleted, too
 *   large, encrypted or not a PDF, or the limits end it
 */
export async function pagesThatDiffer(
  { blobs, logger }: { readonly blobs: Pick<BlobStore, 'read'>; readonly logger: Logger },
  { conversionId, options, original }: RenderJob,
  printed: PdfFile,
  limits: WorkLimits,
): Promise<number[] | undefined> {
  const { document, contentKey } = original ?? {};
  if (options.format !== 'pdf' || document === undefined || contentKey === undefined)
    return undefined;
  if (Math.max(document.bytes, printed.bytes) > MAX_PDF_BYTES) return undefined;
  try {
    const key = Buffer.from(contentKey, 'base64url');
    const one = await inTime(readContent(blobs, key, document), READ_MS, limits);
    if (one === undefined) return undefined;
    const both = await readable(one, printed.path, limits);
    const differing = await compare(both, limits);
    return differing?.slice(0, MAX_DIFFERING_PAGES);
  } catch (error) {
    // It may have been deleted since. What is known is that the bytes differ.
    if (!limits.unneeded.aborted) {
      logger.warn({ err: error, conversionId }, 'the pages could not be compared');
    }
    return undefined;
  }
}

const within = (mostMs: number, limits: WorkLimits): number =>
  Math.max(0, Math.min(mostMs, limits.remaining()));

/** @returns undefined when it takes longer than it may, or nobody needs it any more */
async function inTime<T>(
  work: Promise<T>,
  mostMs: number,
  limits: WorkLimits,
): Promise<T | undefined> {
  const { unneeded } = limits;
  const { promise: given, resolve } = Promise.withResolvers<undefined>();
  const end = (): void => resolve(undefined);
  unneeded.addEventListener('abort', end);
  if (unneeded.aborted) end();
  try {
    return await resultWithin(Promise.race([given, work]), within(mostMs, limits));
  } finally {
    unneeded.removeEventListener('abort', end);
  }
}

/** A PDF that was made smaller, or signed elsewhere, has tables of another form: then qpdf writes both in the plain one. */
async function readable(one: Buffer, path: string, limits: WorkLimits): Promise<ToCompare> {
  const other = await readFile(path);
  if (hasPlainTable(one) && hasPlainTable(other)) return { one, other };
  const { workOnPdf } = await import('../../pdf/work.ts');
  const plain = async (content: Buffer): Promise<Uint8Array> => {
    const work = { sources: [{ content }], steps: [] };
    const { unneeded } = limits;
    const deadlineMs = within(COMPARE_MS, limits);
    return (await workOnPdf(work, { directory: dirname(path), deadlineMs, unneeded })).content;
  };
  // One after the other: each may take all the memory that work on a PDF may use.
  return { one: await plain(one), other: await plain(other) };
}

const hasPlainTable = (pdf: Buffer): boolean => pdf.subarray(-TAIL_BYTES).includes('trailer');

/** @returns undefined where it takes too long */
async function compare(both: ToCompare, limits: WorkLimits): Promise<Compared | undefined> {
  const end = new AbortController();
  const comparing = threads.run(both, { signal: end.signal });
  try {
    return await inTime(comparing, COMPARE_MS, limits);
  } finally {
    end.abort();
  }
}
