/** What the glyphs of a PDF's fonts look like, each by itself: a font holds those of the whole document. */
import { createHash } from 'node:crypto';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, type PdfString, type PdfValue, Ref, serialize } from './values.ts';

/** The digest of a glyph's shape and width, by its code. */
export interface GlyphFont {
  readonly bytesPerCode: 1 | 2;
  glyph(code: number): string;
}

const MAX_COMPONENTS = 20;

/** Codes of a text that is shown. */
export function* codesOf({ bytesPerCode }: GlyphFont, { bytes }: PdfString): Generator<number> {
  for (let at = 0; at < bytes.length; at += bytesPerCode) {
    const low = bytes.charCodeAt(at + bytesPerCode - 1) || 0;
    yield bytesPerCode === 2 ? (bytes.charCodeAt(at) << 8) | low : low;
  }
}

/** The outlines of a TrueType font (ISO/IEC 14496-22), by the numbers of its glyphs. */
class Outlines {
  readonly #glyphs: Buffer;
  readonly #places: Buffer;
  readonly #isLong: boolean;
  readonly #unitsPerEm: number;

  private constructor(tables: ReadonlyMap<string, Buffer>, glyphs: Buffer, places: Buffer) {
    const head = tables.get('head') ?? Buffer.alloc(54);
    this.#glyphs = glyphs;
    this.#places = places;
    this.#isLong = head.readInt16BE(50) === 1;
    this.#unitsPerEm = head.readUInt16BE(18);
  }

  /** @returns undefined where it has outlines of another kind */
  static of(font: Buffer): Outlines | undefined {
    const tables = new Map<string, Buffer>();
    const count = font.length < 12 ? 0 : font.readUInt16BE(4);
    for (let n = 0; n < count && 28 + n * 16 <= font.length; n += 1) {
      const at = 12 + n * 16;
      const [from, length] = [font.readUInt32BE(at + 8), font.readUInt32BE(at + 12)];
      tables.set(font.toString('latin1', at, at + 4), font.subarray(from, from + length));
    }
    const [glyphs, places] = [tables.get('glyf'), tables.get('loca')];
    const isWhole = (tables.get('head')?.length ?? 0) >= 54;
    return glyphs && places && isWhole ? new Outlines(tables, glyphs, places) : undefined;
  }

  /** The outline with those of the glyphs that it is made of. */
  parts(glyph: number, depth = 0): readonly Buffer[] {
    const outline = this.#outline(glyph);
    if (outline.length < 10 || outline.readInt16BE(0) >= 0 || depth > MAX_COMPONENTS) {
      return [outline, Buffer.from(String(this.#unitsPerEm))];
    }
    return [outline, ...componentsOf(outline).flatMap((each) => this.parts(each, depth + 1))];
  }

  #outline(glyph: number): Buffer {
    const size = this.#isLong ? 4 : 2;
    if ((glyph + 2) * size > this.#places.length) return Buffer.alloc(0);
    const place = (n: number): number =>
      this.#isLong ? this.#places.readUInt32BE(n * 4) : this.#places.readUInt16BE(n * 2) * 2;
    return this.#glyphs.subarray(place(glyph), place(glyph + 1));
  }
}

/** The numbers of the glyphs that a composite glyph is made of. */
function componentsOf(outline: Buffer): number[] {
  const numbers: number[] = [];
  for (let at = 10; at + 4 <= outline.length && numbers.length < MAX_COMPONENTS; ) {
    const flags = outline.readUInt16BE(at);
    numbers.push(outline.readUInt16BE(at + 2));
    if ((flags & 0x20) === 0) break;
    const scale = (flags & 8) !== 0 ? 2 : (flags & 0x40) !== 0 ? 4 : (flags & 0x80) !== 0 ? 8 : 0;
    at += 4 + ((flags & 1) !== 0 ? 4 : 2) + scale;
  }
  return numbers;
}

const digest = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const each of parts) hash.update(each).update('\0');
  return hash.digest('base64');
};

const known = (look: (code: number) => string): ((code: number) => string) => {
  const digests = new Map<number, string>();
  return (code) => {
    const found = digests.get(code) ?? look(code);
    digests.set(code, found);
    return found;
  };
};

/**
 * @param described the digest of an object and all that it refers to
 * @param drawn the digest of a stream that draws
 */
export function glyphFontOf(
  objects: PdfObjects,
  entries: Dictionary,
  described: (value: PdfValue | undefined) => string,
  drawn: (stream: Ref, resources: Dictionary) => string,
): GlyphFont {
  const subtype = objects.name(entries.get('Subtype'));
  if (subtype === 'Type3') return drawnFont(objects, entries, described, drawn);
  const [descendant] = objects.list(entries.get('DescendantFonts'));
  const font = objects.dictionary(descendant);
  const program = objects.dictionary(font.get('FontDescriptor')).get('FontFile2');
  const isPlain = objects.name(entries.get('Encoding')) === 'Identity-H';
  const outlines =
    subtype === 'Type0' && isPlain && program instanceof Ref
      ? Outlines.of(objects.content(program.number))
      : undefined;
  const bytesPerCode = subtype === 'Type0' ? 2 : 1;
  if (outlines === undefined) {
    // Of another kind: the whole font is looked at.
    const whole = described(entries);
    return { bytesPerCode, glyph: (code) => `${whole}/${code}` };
  }
  const widths = widthsOf(objects, font);
  const usual = serialize(objects.resolve(font.get('DW')) ?? 1000);
  const glyph = known((code) => digest(widths.get(code) ?? usual, ...outlines.parts(code)));
  return { bytesPerCode, glyph };
}

/** Widths by code, of the two forms that they have (ISO 32000-1, 9.7.4.3). */
function widthsOf(objects: PdfObjects, font: Dictionary): ReadonlyMap<number, string> {
  const widths = new Map<number, string>();
  const list = objects.list(font.get('W')).map((each) => objects.resolve(each));
  for (let at = 0; at < list.length; ) {
    const [first, second, third] = [Number(list[at]), list[at + 1], list[at + 2]];
    if (Array.isArray(second)) {
      for (const [n, width] of second.entries())
        widths.set(first + n, serialize(width as PdfValue));
      at += 2;
    } else {
      const last = Math.min(Number(second), first + 65_535);
      for (let code = first; code <= last; code += 1) widths.set(code, serialize(third ?? null));
      at += 3;
    }
  }
  return widths;
}

/** A font whose glyphs are streams that draw (Type 3). */
function drawnFont(
  objects: PdfObjects,
  entries: Dictionary,
  described: (value: PdfValue | undefined) => string,
  drawn: (stream: Ref, resources: Dictionary) => string,
): GlyphFont {
  const names = new Map<number, string>();
  let next = 0;
  const encoding = objects.dictionary(entries.get('Encoding'));
  for (const each of objects.list(encoding.get('Differences'))) {
    if (typeof each === 'number') next = each;
    else {
      names.set(next, objects.name(each) ?? '');
      next += 1;
    }
  }
  const glyphs = objects.dictionary(entries.get('CharProcs'));
  const resources = objects.dictionary(entries.get('Resources'));
  const widths = objects.list(entries.get('Widths'));
  const first = Number(objects.resolve(entries.get('FirstChar')));
  const matrix = described(entries.get('FontMatrix'));
  const glyph = known((code) => {
    const stream = glyphs.get(names.get(code) ?? '');
    const shape = stream instanceof Ref ? drawn(stream, resources) : 'none';
    return digest(matrix, described(widths[code - first]), shape);
  });
  return { bytesPerCode: 1, glyph };
}
