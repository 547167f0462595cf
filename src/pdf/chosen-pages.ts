/** The pages of a PDF that work is done on. */
import { pageNumbers, pagesOf } from './page-tree.ts';
import { PdfObjects } from './pdf-objects.ts';
import type { Ref } from './values.ts';
import { WorkFailure } from './work-plan.ts';

/** More than a PDF of ours may have. */
export const MAX_PAGES = 10_000;

export function changed(content: Buffer, change: (objects: PdfObjects) => void): Buffer {
  const objects = new PdfObjects(content);
  change(objects);
  return objects.save();
}

/** @throws {WorkFailure} */
export function countOf(objects: PdfObjects): number {
  const { length } = pagesOf(objects);
  if (length > MAX_PAGES) throw tooManyPages(length);
  if (length === 0) throw new WorkFailure('unreadable_pdf', 'The PDF has no pages.');
  return length;
}

export const tooManyPages = (count: number): WorkFailure =>
  new WorkFailure('too_large', `The document has ${count} pages, of at most ${MAX_PAGES}.`);

/**
 * @returns the numbers of the pages, from 0
 * @throws {WorkFailure} `page_range`
 */
export function pagesIn(ranges: string, count: number): readonly number[] {
  const pages = pageNumbers(ranges, count);
  if (pages !== undefined) return pages;
  const has = count === 1 ? 'one page' : `${count} pages`;
  throw new WorkFailure(
    'page_range',
    `The page range ${ranges} is not in the document: it has ${has}.`,
  );
}

/** @throws {WorkFailure} `page_range` */
export function pagesAt(objects: PdfObjects, ranges: string | undefined): readonly Ref[] {
  const all = pagesOf(objects);
  if (ranges === undefined) return all;
  const chosen = new Set(pagesIn(ranges, all.length));
  return all.filter((_, n) => chosen.has(n));
}
