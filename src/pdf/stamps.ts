/** Stamps and the watermark, laid over pages by qpdf. */
import { changed, countOf, pagesIn } from './chosen-pages.ts';
import { hideAppearances } from './layers.ts';
import { restoreContents, settleContents } from './overlay.ts';
import { geometryOf, shownSize, type Size } from './page-geometry.ts';
import { pagesOf } from './page-tree.ts';
import { PdfObjects } from './pdf-objects.ts';
import { type Jobs, PLAIN } from './qpdf.ts';
import { MalformedPdf, type Ref } from './values.ts';
import { type PrintedStamp, WorkFailure, type WorkStep } from './work-plan.ts';

/** Each is printed, which takes Chrome some 100 ms. */
const MAX_SIZES = 50;
/** Sides of pages that differ by less than this share of them are the same for a stamp: scanners vary. */
const SAME_SIDE = 0.01;
/** No paper is so large, and numbers beyond it lose their fractions. */
const MAX_POINTS = 1e7;

const isNear = (one: number, other: number): boolean => Math.abs(one - other) < other * SAME_SIDE;

/** @throws {WorkFailure} it has no size that can be stamped */
function sizeOf(objects: PdfObjects, page: Ref, n: number): Size {
  const refused = (why: string) =>
    new WorkFailure('unreadable_pdf', `Page ${n + 1} cannot be stamped: it ${why}.`);
  try {
    const size = shownSize(geometryOf(objects, page));
    if (!(size.width > 0 && size.height > 0)) throw refused('has no area');
    if (Math.max(size.width, size.height) > MAX_POINTS) throw refused('is larger than any paper');
    return size;
  } catch (error) {
    throw error instanceof MalformedPdf ? refused('has no area') : error;
  }
}

/** The sizes of some pages, and for each of them which it is. */
function groupsOf(sizes: readonly Size[]): { readonly papers: Size[]; readonly of: number[] } {
  const papers: Size[] = [];
  const of = sizes.map(({ width, height }) => {
    const known = papers.findIndex(
      (paper) => isNear(width, paper.width) && isNear(height, paper.height),
    );
    return known === -1 ? papers.push({ width, height }) - 1 : known;
  });
  if (papers.length <= MAX_SIZES) return { papers, of };
  throw new WorkFailure(
    'too_large',
    `The pages to stamp have ${papers.length} sizes, and a stamp is printed for ${MAX_SIZES} at most: stamp fewer pages in a step.`,
  );
}

interface Stamps {
  /** The names of PDFs whose first pages are the stamps. */
  readonly files: readonly string[];
  /** Which of them each page gets. */
  readonly of: readonly number[];
}

async function stampsFor(
  jobs: Jobs,
  stamp: Uint8Array | PrintedStamp,
  sizes: readonly Size[],
): Promise<Stamps> {
  const first = sizes.map(() => 0);
  if (stamp instanceof Uint8Array) return { files: [jobs.put(stamp)], of: first };
  const { html, fit } = stamp;
  if (fit === 'none') return { files: await jobs.printed(html, [undefined]), of: first };
  const { papers, of } = groupsOf(sizes);
  return { files: await jobs.printed(html, papers), of };
}

/** @returns the name of one PDF of the first pages of these */
async function oneOf(jobs: Jobs, files: readonly string[]): Promise<string> {
  const [first = '', ...others] = files;
  if (others.length === 0) return first;
  const pages = files.map((file) => ({ file, range: '1' }));
  return jobs.put((await jobs.made({ empty: '', ...PLAIN, pages }, files)).content);
}

const numbers = (list: readonly number[]): string => list.map((n) => n + 1).join(',');

/** @throws {WorkFailure} */
export async function stampPages(
  jobs: Jobs,
  content: Buffer,
  { stamp, pages: ranges }: Extract<WorkStep, { type: 'stamp' }>,
): Promise<Buffer> {
  const objects = new PdfObjects(content);
  const count = countOf(objects);
  const chosen = new Set(pagesIn(ranges ?? `1-${count}`, count));
  const pages = [...pagesOf(objects).entries()].filter(([n]) => chosen.has(n));
  const sizes = pages.map(([n, page]) => sizeOf(objects, page, n));
  const { files, of } = await stampsFor(jobs, stamp, sizes);
  const [inputFile, file] = [jobs.put(content), await oneOf(jobs, files)];
  const overlay = { file, from: numbers(of), to: numbers(pages.map(([n]) => n)) };
  const made = await jobs.made({ inputFile, ...PLAIN, overlay }, [inputFile, file]);
  const isFitted = stamp instanceof Uint8Array || stamp.fit === 'page';
  return changed(made.content, (all) => restoreContents(all, chosen, isFitted));
}

/** The content of each page becomes an object, whose state ends with it. */
export async function layWatermark(
  jobs: Jobs,
  content: Buffer,
  stamp: Uint8Array,
): Promise<Buffer> {
  const plain = changed(content, (objects) => {
    hideAppearances(objects);
    for (const page of pagesOf(objects)) {
      const entries = objects.dictionary(page);
      // What is laid over a page is fitted into its trim box.
      for (const box of ['TrimBox', 'ArtBox', 'BleedBox']) entries.delete(box);
      objects.set(page.number, entries);
    }
  });
  const inputFile = jobs.put(plain);
  const flattened = { generateAppearances: '', flattenAnnotations: 'all' };
  const flat = await jobs.made({ inputFile, ...PLAIN, ...flattened }, [inputFile]);
  const [below, file] = [jobs.put(flat.content), jobs.put(stamp)];
  const overlay = { file, from: '', repeat: '1', to: '1-z' };
  const made = await jobs.made({ inputFile: below, ...PLAIN, overlay }, [below, file]);
  return changed(made.content, (objects) => settleContents(objects, pagesOf(objects)));
}
