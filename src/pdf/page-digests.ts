/**
 * Digests of what the pages of a PDF show, so that two PDFs can be compared page by page. The numbers of objects, dates, the
 * tree of tags and what a font holds for other pages make no difference. Links do.
 */
import { createHash, type Hash } from 'node:crypto';
import { type Operation, operands, operations } from './content.ts';
import { codesOf, type GlyphFont, glyphFontOf } from './glyphs.ts';
import { inherited, pagesOf } from './page-tree.ts';
import { PdfObjects } from './pdf-objects.ts';
import {
  type Dictionary,
  MalformedPdf,
  Name,
  PdfString,
  type PdfValue,
  Ref,
  serialize,
} from './values.ts';

const MAX_DEPTH = 60;
/** What a page is, and its place among others, but not what it shows. */
const NOT_SHOWN = new Set([
  'Parent',
  'P',
  'Pg',
  'StructParent',
  'StructParents',
  'M',
  'NM',
  'Tabs',
  'LastModified',
]);
/** How a stream is stored. What it draws with is looked at where it draws. */
const OF_CONTENT = new Set(['Resources', 'Length', 'Filter', 'DecodeParms', ...NOT_SHOWN]);
const MARKS = new Set(['BDC', 'BMC', 'EMC', 'MP', 'DP']);
/** The resources that the names of operations stand for. */
const RESOURCES: ReadonlyMap<string, string> = new Map([
  ['Do', 'XObject'],
  ['gs', 'ExtGState'],
  ['sh', 'Shading'],
  ['cs', 'ColorSpace'],
  ['CS', 'ColorSpace'],
  ['scn', 'Pattern'],
  ['SCN', 'Pattern'],
]);

/** @throws {MalformedPdf} @throws {PdfTooComplex} */
export function pageDigests(bytes: Buffer): readonly string[] {
  return new PageDigests(new PdfObjects(bytes)).all();
}

/** The numbers of the pages, from 1, that two PDFs do not both have, or that show different things. */
export function differingPages(one: readonly string[], other: readonly string[]): number[] {
  const longer = one.length > other.length ? one : other;
  return longer.flatMap((_, n) => (one[n] === other[n] ? [] : [n + 1]));
}

class PageDigests {
  readonly #objects: PdfObjects;
  readonly #pages: ReadonlyMap<number, number>;
  readonly #known = new Map<number, string>();
  readonly #fonts = new Map<number, GlyphFont>();
  readonly #open = new Set<number>();

  constructor(objects: PdfObjects) {
    this.#objects = objects;
    this.#pages = new Map(pagesOf(objects).map(({ number }, n) => [number, n + 1]));
  }

  all(): readonly string[] {
    return Array.from(this.#pages.keys(), (number) => this.#page(number));
  }

  #page(number: number): string {
    const page = new Ref(number);
    const entries = this.#objects.dictionary(page);
    const hash = createHash('sha256');
    for (const key of ['MediaBox', 'CropBox', 'Rotate', 'UserUnit', 'Group']) {
      hash.update(`${key} ${this.#described(inherited(this.#objects, page, key))}\n`);
    }
    const resources = this.#objects.dictionary(inherited(this.#objects, page, 'Resources'));
    const contents = this.#objects.list(entries.get('Contents'));
    const parts = contents.map((each) =>
      each instanceof Ref ? this.#objects.content(each.number) : Buffer.alloc(0),
    );
    // One operation may begin in one of them and end in the next.
    this.#draw(hash, parts.map((each) => each.toString('latin1')).join('\n'), resources, 0);
    for (const each of this.#objects.list(entries.get('Annots'))) {
      // A signature is made anew each time, and shows when.
      if (this.#objects.name(this.#objects.dictionary(each).get('FT')) === 'Sig') continue;
      hash.update(`annotation ${this.#described(each)}\n`);
    }
    return hash.digest('base64');
  }

  /** Follows the operations of a stream, with what they name in place of the names. */
  #draw(hash: Hash, text: string, resources: Dictionary, depth: number): void {
    if (depth > MAX_DEPTH) throw new MalformedPdf('streams lie within each other too deeply');
    const fonts: (GlyphFont | undefined)[] = [undefined];
    for (const operation of operations(text)) {
      const { operator } = operation;
      if (MARKS.has(operator)) continue;
      if (operator === 'q') fonts.push(fonts.at(-1));
      else if (operator === 'Q' && fonts.length > 1) fonts.pop();
      hash.update(`${operator} `);
      const kind = RESOURCES.get(operator);
      if (operator === 'Tf') {
        const [name, size] = operands(text, operation);
        fonts[fonts.length - 1] = this.#font(this.#named(resources, 'Font', name), depth);
        hash.update(`${serialize(size ?? null)}\n`);
      } else if (kind !== undefined) {
        for (const each of operands(text, operation)) {
          const named = each instanceof Name ? this.#named(resources, kind, each) : undefined;
          hash.update(`${this.#described(named ?? each, depth)}\n`);
        }
      } else this.#operands(hash, text, operation, fonts.at(-1));
    }
  }

  #operands(hash: Hash, text: string, operation: Operation, font: GlyphFont | undefined): void {
    const { operator, from, at } = operation;
    if (!['Tj', 'TJ', "'", '"'].includes(operator)) {
      hash.update(text.slice(from, at));
      return;
    }
    for (const each of operands(text, operation).flat()) {
      if (!(each instanceof PdfString) || font === undefined) hash.update(`${serialize(each)} `);
      else for (const code of codesOf(font, each)) hash.update(font.glyph(code));
    }
  }

  #named(resources: Dictionary, kind: string, name: PdfValue | undefined): PdfValue | undefined {
    return name instanceof Name
      ? this.#objects.dictionary(resources.get(kind)).get(name.value)
      : undefined;
  }

  #font(value: PdfValue | undefined, depth: number): GlyphFont | undefined {
    if (!(value instanceof Ref)) return undefined;
    const known = this.#fonts.get(value.number);
    if (known !== undefined) return known;
    const font = glyphFontOf(
      this.#objects,
      this.#objects.dictionary(value),
      (part) => this.#described(part),
      (stream, resources) => {
        const hash = createHash('sha256');
        const content = this.#objects.content(stream.number).toString('latin1');
        this.#draw(hash, content, resources, depth + 1);
        return hash.digest('base64');
      },
    );
    this.#fonts.set(value.number, font);
    return font;
  }

  /** A value with all that it refers to. */
  #described(value: PdfValue | undefined, depth = 0): string {
    if (depth > MAX_DEPTH) throw new MalformedPdf('objects lie within each other too deeply');
    if (value === undefined || value === null) return 'null';
    if (value instanceof Ref) return this.#object(value.number, depth);
    if (Array.isArray(value)) {
      return `[${value.map((each: PdfValue) => this.#described(each, depth + 1)).join(' ')}]`;
    }
    if (value instanceof Map) return this.#entries(value, NOT_SHOWN, depth);
    return serialize(value);
  }

  #entries(entries: Dictionary, leftOut: ReadonlySet<string>, depth: number): string {
    const shown = [...entries]
      .filter(([key]) => !leftOut.has(key))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `<<${shown.map(([key, each]) => `${key} ${this.#described(each, depth + 1)}`).join(' ')}>>`;
  }

  #object(number: number, depth: number): string {
    const page = this.#pages.get(number);
    if (page !== undefined) return `page ${page}`;
    const known = this.#known.get(number);
    if (known !== undefined) return known;
    // It refers to itself.
    if (this.#open.has(number)) return 'above';
    this.#open.add(number);
    const digest = this.#digest(number, depth);
    this.#open.delete(number);
    this.#known.set(number, digest);
    return digest;
  }

  #digest(number: number, depth: number): string {
    const value = this.#objects.object(number);
    if (!(value instanceof Map)) return this.#described(value, depth + 1);
    const hash = createHash('sha256');
    const draws =
      this.#objects.name(value.get('Subtype')) === 'Form' || value.get('PatternType') === 1;
    hash.update(this.#entries(value, draws ? OF_CONTENT : NOT_SHOWN, depth));
    if (draws) {
      const resources = this.#objects.dictionary(value.get('Resources'));
      const content = this.#objects.content(number).toString('latin1');
      this.#draw(hash, content, resources, depth + 1);
    } else if (value.has('Length')) hash.update(this.#objects.stored(number));
    return hash.digest('base64');
  }
}
