/** What lies over a page, as decoration beside its own content. */
import type { PdfObjects } from './pdf-objects.ts';
import { settled } from './settled-content.ts';
import { type Dictionary, type PdfValue, Ref } from './values.ts';
import { WorkFailure } from './work-plan.ts';

/** The whole content of a page that qpdf has laid another one over: it makes an object of either. */
const TWO = /^q\n[^\n]+ cm\n\/(?<own>\S+) Do\nQ\n(?<over>q\n[^\n]+ cm)\n\/(?<stamp>\S+) Do\nQ\n$/;

/** Entries of a stream that say how its content is stored. */
const STORED = ['Length', 'Filter', 'DecodeParms'];

interface Two {
  readonly own: Ref;
  readonly stamp: Ref;
  /** The operations before the stamp. */
  readonly over: string;
}

function twoOf(objects: PdfObjects, page: Dictionary): Two | undefined {
  const [content, more] = objects.list(page.get('Contents'));
  if (!(content instanceof Ref) || more !== undefined) return undefined;
  const parts = TWO.exec(objects.content(content.number).toString('latin1'))?.groups;
  const placed = objects.dictionary(objects.dictionary(page.get('Resources')).get('XObject'));
  const named = (part: string): PdfValue | undefined => placed.get(parts?.[part] ?? '');
  const [own, stamp, over] = [named('own'), named('stamp'), parts?.['over']];
  if (!(own instanceof Ref && stamp instanceof Ref) || over === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = over.slice('q\n'.length).split(' ').map(Number);
  // The page has no size.
  if (!(Math.abs(a * d - b * c) > 0)) return undefined;
  return { own, stamp, over };
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
  if (two !== undefined) return two;
  throw new WorkFailure('unreadable_pdf', `Page ${n + 1} cannot be stamped: it has no area.`);
}

/**
 * Ends the content of each page before what lies over it.
 * @throws {WorkFailure} when a page was not stamped
 */
export function settleContents(objects: PdfObjects, pages: readonly Ref[]): void {
  for (const [n, page] of pages.entries()) settle(objects, stamped(objects, page, n).own);
}

/**
 * Makes the content of each stamped page its own again, for the tags of a page do not reach into an object (ISO 32000-1,
 * 14.7.4), and marks the stamp as decoration.
 * @param chosen the pages that were to be stamped
 * @throws {WorkFailure} when one was not stamped
 */
export function restoreContents(
  objects: PdfObjects,
  pages: readonly Ref[],
  chosen: ReadonlySet<number>,
): void {
  for (const [n, page] of pages.entries()) {
    if (!chosen.has(n)) continue;
    const { own, stamp, over } = stamped(objects, page, n);
    settle(objects, own);
    const form = objects.dictionary(own);
    const resources = new Map(objects.dictionary(form.get('Resources')));
    const named = new Map(objects.dictionary(resources.get('XObject')));
    const name = freeName(named);
    resources.set('XObject', named.set(name, stamp));
    objects.set(own.number, new Map([...form].filter(([key]) => STORED.includes(key))));
    const none: Dictionary = new Map();
    const before = objects.addStream(none, Buffer.from('q\n'));
    const behind = `\nQ\n/Artifact BMC\n${over}\n/${name} Do\nQ\nEMC\n`;
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
