/** The rules of PDF/A-2 and -3 for single objects that Chrome's PDFs could break (ISO 19005-2, 6.1 and 6.2). */
import { isUtf8 } from 'node:buffer';
import type { Findings } from './findings.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, Name, PdfString, type PdfValue, Ref } from './values.ts';

const MAX_STRING_BYTES = 32_767;
const MAX_NAME_BYTES = 127;
const ACTIONS = new Set(['URI', 'GoTo', 'GoToR', 'Named']);
/** Printed, and neither hidden nor invisible (6.3.2). */
const FLAGS_THAT_MATTER = 0b100111;
const PRINTED = 0b100;
const COLOURS = new Set(['DeviceRGB', 'DeviceGray', 'CalRGB', 'CalGray', 'Lab', 'Pattern']);
const FILTERS = new Set([
  'FlateDecode',
  'DCTDecode',
  'ASCII85Decode',
  'ASCIIHexDecode',
  'RunLengthDecode',
]);

export class ArchiveRules {
  readonly #objects: PdfObjects;
  readonly #findings: Findings;

  constructor(objects: PdfObjects, findings: Findings) {
    this.#objects = objects;
    this.#findings = findings;
  }

  check(): void {
    for (const number of this.#objects.numbers) {
      const object = this.#objects.object(number);
      this.#value(object);
      if (object instanceof Map) this.#dictionary(object);
    }
  }

  /** @param page its place, from 1 */
  checkAnnotations(page: Dictionary, number: number): void {
    for (const each of this.#objects.list(page.get('Annots'))) {
      const annotation = this.#objects.dictionary(each);
      const flags = this.#objects.resolve(annotation.get('F'));
      if (((typeof flags === 'number' ? flags : 0) & FLAGS_THAT_MATTER) !== PRINTED) {
        this.#add('6.3.2', 'an annotation is not printed', number);
      }
      const type = this.#objects.name(annotation.get('Subtype'));
      if (type !== 'Link') this.#add('6.3.1', `there is an annotation of type ${type}`, number);
      const action = this.#objects.dictionary(annotation.get('A'));
      const what = this.#objects.name(action.get('S'));
      if (what !== undefined && !ACTIONS.has(what)) {
        this.#add('6.5.1', `there is an action of type ${what}`, number);
      }
    }
  }

  #dictionary(entries: Dictionary): void {
    const type = this.#objects.name(entries.get('Subtype'));
    if (type === 'PS' || entries.has('OPI')) this.#add('6.2.9', 'there is an object of PostScript');
    if (entries.get('Interpolate') === true) this.#add('6.2.8', 'an image is to be interpolated');
    for (const filter of this.#objects.list(entries.get('Filter'))) {
      const name = this.#objects.name(filter);
      if (name !== undefined && !FILTERS.has(name)) this.#add('6.1.7', `there is a filter ${name}`);
    }
    if (entries.has('ColorSpace') && type === 'Image') this.#colour(entries.get('ColorSpace'));
    if (entries.has('AA')) this.#add('6.5.2', 'there are additional actions');
    if (entries.has('TR') || entries.has('HTP')) this.#add('6.2.5', 'there is a transfer function');
  }

  #colour(space: PdfValue | undefined, depth = 0): void {
    const [family, base] = this.#objects.list(space);
    const name = this.#objects.name(family);
    if (name === 'Indexed' && depth === 0) this.#colour(base, 1);
    else if (name === 'ICCBased') {
      const profile = this.#objects.dictionary(base);
      const components = profile.get('N');
      if (components !== 1 && components !== 3) {
        this.#add('6.2.4.2', 'an image has a colour profile that is not of RGB or grey');
      }
    } else if (name !== undefined && !COLOURS.has(name)) {
      this.#add('6.2.4', `an image has colours of ${name}`);
    }
  }

  #value(value: PdfValue): void {
    if (value instanceof PdfString) {
      if (value.bytes.length > MAX_STRING_BYTES) {
        const what = `a text, such as a title or a link's address, is longer than ${MAX_STRING_BYTES} bytes`;
        this.#findings.add('archive', 'ISO 19005-2, 6.1.13', what);
      }
    } else if (value instanceof Name) {
      const bytes = Buffer.from(value.value, 'latin1');
      if (bytes.length > MAX_NAME_BYTES) this.#add('6.1.13', 'a name is longer than 127 bytes');
      if (!isUtf8(bytes)) {
        this.#add('6.1.8', 'a name, such as that of a font, is not UTF-8');
      }
    } else if (value instanceof Map) {
      for (const [key, each] of value) {
        if (key.length > MAX_NAME_BYTES) this.#add('6.1.13', 'a name is longer than 127 bytes');
        this.#value(each);
      }
    } else if (typeof value === 'object' && value !== null && !(value instanceof Ref)) {
      for (const each of value) this.#value(each);
    }
  }

  #add(clause: string, what: string, page?: number): void {
    this.#findings.add('archive', `ISO 19005-2, ${clause}`, what, page);
  }
}
