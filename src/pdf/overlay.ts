/** What lies over a page, as decoration beside its own content. */
import { boxIn, geometryOf, type PageGeometry, shownSize, UPRIGHT } from './page-geometry.ts';
import { pagesOf } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { settled } from './settled-content.ts';
import { type Dictionary, MalformedPdf, type PdfValue, Ref } from './values.ts';
import { WorkFailure } from './work-plan.ts';

/** The whole content of a page that qpdf has laid another one over: it makes an object of either. */
const TWO = /^q\n[^\n]+ cm\n\/(?<own>\S+) Do\nQ\nq\n(?<matrix>[^\n]+) cm\n\/(?<stamp>\S+) Do\nQ\n$/;

/** Points of a page have fewer. */
const MATRIX_DIGITS = 6;

/** Entries of a stream that say how its content is stored. */
const STORED = ['Length', 'Filter', 'DecodeParms'];

interface Two {
  readonly own: Ref;
  readonly stamp: Ref;
  /** False if the matrix of the stamp leaves nothing of it. */
  readonly isSeen: boolean;
}

function twoOf(objects: PdfObjects, page: Dictionary): Two | undefined {
  const [content, more] = objects.list(page.get('Contents'));
  if (!(content instanceof Ref) || more !== undefined) return undefined;
  const parts = TWO.exec(objects.content(content.number).toString('latin1'))?.groups;
  const placed = objects.dictionary(objects.dictionary(page.get('Resources')).get('XObject'));
  const named = (part: string): PdfValue | undefined => placed.get(parts?.[part] ?? '');
  const [own, stamp, matrix] = [named('own'), named('stamp'), parts?.['matrix']];
  if (!(own instanceof Ref && stamp instanceof Ref) || matrix === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = matrix.split(' ').map(Number);
  return { own, stamp, isSeen: Math.abs(a * d - b * c) > 0 };
}

/** The content of an object, whose state ends with it for any reader. */
function settle(objects: PdfObjects, form: Ref): void {
  const content = objects.content(form.number).toString('latin1');
  const whole = settled(content);
  if (whole === content) return;
  const entries = new Map(objects.dictionary(form));
  for (const key of STORED) entries.delete(key);
  objects.setStream(form.number, entries, Buffer.from(whole, 'latin1'));
}

/** @throws {WorkFailure} when a page was not stamped */
function stamped(objects: PdfObjects, page: Ref, n: number): Two {
  const two = twoOf(objects, objects.dictionary(page));
  if (two === undefined) throw notStamped(n);
  return two;
}

const notStamped = (n: number): WorkFailure =>
  new WorkFailure('unreadable_pdf', `Page ${n + 1} cannot be stamped: it has no area.`);

/**
 * The matrix that lays a stamp upright over the middle of its page.
 * @param isFitted it is as large as fits on the page; else it has its own size
 */
function matrixOf(geometry: PageGeometry, box: PageGeometry['box'], isFitted: boolean): string {
  const {
    box: [left, bottom, right, top],
    rotate,
    unit,
  } = geometry;
  const { width, height } = shownSize(geometry);
  const [x0, y0, x1, y1] = box;
  const scale = isFitted ? Math.min(width / (x1 - x0), height / (y1 - y0)) : 1;
  const turn = UPRIGHT[rotate] ?? [1, 0, 0, 1];
  const [a = 0, b = 0, c = 0, d = 0] = turn.map((each) => (each * scale) / unit);
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const [e, f] = [(left + right) / 2 - a * x - c * y, (bottom + top) / 2 - b * x - d * y];
  return [a, b, c, d, e, f].map((each) => +each.toFixed(MATRIX_DIGITS)).join(' ');
}

/**
 * Ends the content of each page before what lies over it.
 * @throws {WorkFailure} when a page was not stamped
 */
export function settleContents(objects: PdfObjects, pages: readonly Ref[]): void {
  for (const [n, page] of pages.entries()) {
    const { own, isSeen } = stamped(objects, page, n);
    if (!isSeen) throw notStamped(n);
    settle(objects, own);
  }
}

/**
 * Makes the content of each stamped page its own again, for the tags of a page do not reach into an object (ISO 32000-1,
 * 14.7.4), and marks the stamp as decoration.
 * @param chosen the numbers of the pages that were to be stamped, from 0
 * @throws {WorkFailure} when one was not stamped
 */
export function restoreContents(
  objects: PdfObjects,
  chosen: ReadonlySet<number>,
  isFitted: boolean,
): void {
  for (const [n, page] of pagesOf(objects).entries()) {
    if (!chosen.has(n)) continue;
    const { own, stamp } = stamped(objects, page, n);
    const box = boxIn(objects, stamp, 'BBox');
    if (box === undefined) throw new MalformedPdf('a stamp has no size');
    const matrix = matrixOf(geometryOf(objects, page), box, isFitted);
    settle(objects, own);
    const form = objects.dictionary(own);
    const resources = new Map(objects.dictionary(form.get('Resources')));
    const named = new Map(objects.dictionary(resources.get('XObject')));
    const name = freeName(named);
    resources.set('XObject', named.set(name, stamp));
    objects.set(own.number, new Map([...form].filter(([key]) => STORED.includes(key))));
    const none: Dictionary = new Map();
    const before = objects.addStream(none, Buffer.from('q\n'));
    const behind = `\nQ\n/Artifact BMC\nq\n${matrix} cm\n/${name} Do\nQ\nEMC\n`;
    const after = objects.addStream(none, Buffer.from(behind));
    const entries = objects.dictionary(page);
    entries.set('Resources', resources).set('Contents', [before, own, after]);
    objects.set(page.number, entries);
  }
}

function freeName(taken: Dictionary): string {
  let number = 0;
  while (taken.has(`Stamp${number}`)) number += 1;
  return `Stamp${number}`;
}
