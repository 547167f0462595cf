/** What lies over a page, as decoration beside its own content. */
import { pagesOf } from './page-tree.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, Ref } from './values.ts';

/** The whole content of a page that qpdf has laid another one over: it makes an object of either. */
const TWO = /^q\n[^\n]+ cm\n\/(?<own>\S+) Do\nQ\n(?<over>q\n[^\n]+ cm)\n\/(?<stamp>\S+) Do\nQ\n$/;

/** Entries of a stream that say how its content is stored. */
const STORED = ['Length', 'Filter', 'DecodeParms'];

/**
 * Makes the content of each stamped page its own again, for the tags of a page do not reach into an object (ISO 32000-1,
 * 14.7.4), and marks the stamp as decoration.
 */
export function restoreContents(objects: PdfObjects): void {
  for (const page of pagesOf(objects)) {
    const entries = objects.dictionary(page);
    const [content, more] = objects.list(entries.get('Contents'));
    if (!(content instanceof Ref) || more !== undefined) continue;
    const parts = TWO.exec(objects.content(content.number).toString('latin1'))?.groups;
    const placed = objects.dictionary(objects.dictionary(entries.get('Resources')).get('XObject'));
    const [own, stamp] = [placed.get(parts?.['own'] ?? ''), placed.get(parts?.['stamp'] ?? '')];
    if (!(own instanceof Ref && stamp instanceof Ref)) continue;
    const form = objects.dictionary(own);
    const resources = new Map(objects.dictionary(form.get('Resources')));
    const named = new Map(objects.dictionary(resources.get('XObject')));
    const name = freeName(named);
    resources.set('XObject', named.set(name, stamp));
    objects.set(own.number, new Map([...form].filter(([key]) => STORED.includes(key))));
    const none: Dictionary = new Map();
    const before = objects.addStream(none, Buffer.from('q\n'));
    const behind = `\nQ\n/Artifact BMC\n${parts?.['over']}\n/${name} Do\nQ\nEMC\n`;
    const after = objects.addStream(none, Buffer.from(behind));
    entries.set('Resources', resources).set('Contents', [before, own, after]);
    objects.set(page.number, entries);
  }
}

function freeName(taken: Dictionary): string {
  let number = 0;
  while (taken.has(`Stamp${number}`)) number += 1;
  return `Stamp${number}`;
}
