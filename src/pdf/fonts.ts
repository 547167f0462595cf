/** The fonts of a PDF: whether they are in it, and which characters their codes stand for. */
import type { Findings } from './findings.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { type Dictionary, type PdfString, Ref } from './values.ts';

/** Marks of a code of a font. */
const USED = 1;
/** Shown where no `ActualText` says what is meant. */
const BARE = 2;

export interface Font {
  readonly number: number;
  readonly name: string;
  readonly bytesPerCode: 1 | 2;
  readonly entries: Dictionary;
  /** By code. */
  readonly marks: Map<number, number>;
  /** Code to text. */
  readonly unicode: ReadonlyMap<number, string>;
  /** The first page that shows a glyph of it. */
  readonly page: number | undefined;
}

const codeOf = (hex: string): number => Number.parseInt(hex, 16);

function textOf(hex: string): string {
  return Buffer.from(hex.length % 4 === 0 ? hex : hex.padStart(4, '0'), 'hex')
    .swap16()
    .toString('utf16le');
}

/** A range is never larger: a code has two bytes. */
const MAX_RANGE = 65_536;

/** Reads a character map as Skia writes it (ISO 32000-1, 9.10.3): lists of characters and of ranges. */
export function readCharacterMap(text: string): Map<number, string> {
  const map = new Map<number, string>();
  for (const [, kind, rows = ''] of text.matchAll(/beginbf(char|range)\s([\s\S]*?)endbf/g)) {
    if (kind === 'char') {
      for (const [, code = '', to = ''] of rows.matchAll(/<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>/g)) {
        map.set(codeOf(code), textOf(to));
      }
      continue;
    }
    const ranges = rows.matchAll(/<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>/g);
    for (const [, first = '', last = '', to = ''] of ranges) {
      const [start, end, target] = [codeOf(first), codeOf(last), textOf(to)];
      const unit = target.charCodeAt(target.length - 1);
      for (let code = start; code <= end && code - start < MAX_RANGE; code += 1) {
        map.set(code, target.slice(0, -1) + String.fromCharCode(unit + code - start));
      }
    }
  }
  return map;
}

const isNoCharacter = (text: string): boolean => /[\0\uFEFF\uFFFE]/.test(text);
const isPrivate = (text: string): boolean => /\p{Co}/u.test(text);

export class Fonts {
  readonly #objects: PdfObjects;
  readonly #fonts = new Map<number, Font>();

  constructor(objects: PdfObjects) {
    this.#objects = objects;
  }

  /** @param page that shows it first */
  get(number: number, page: number | undefined): Font {
    const known = this.#fonts.get(number);
    if (known !== undefined) return known;
    const entries = this.#objects.dictionary(new Ref(number));
    const map = entries.get('ToUnicode');
    const isComposite = this.#objects.name(entries.get('Subtype')) === 'Type0';
    const content = map instanceof Ref ? this.#objects.content(map.number).toString('latin1') : '';
    const font: Font = {
      number,
      name: (this.#objects.name(entries.get('BaseFont')) ?? 'without a name').replace(
        /^[A-Z]{6}\+/,
        '',
      ),
      bytesPerCode: isComposite ? 2 : 1,
      entries,
      marks: new Map(),
      unicode: readCharacterMap(content),
      page,
    };
    this.#fonts.set(number, font);
    return font;
  }

  /** Notes that text is shown. @returns what it says */
  show(font: Font, { bytes }: PdfString, isExplained: boolean): string {
    const mark = isExplained ? USED : USED | BARE;
    let text = '';
    for (let at = 0; at < bytes.length; at += font.bytesPerCode) {
      const low = bytes.charCodeAt(at + font.bytesPerCode - 1) || 0;
      const code = font.bytesPerCode === 2 ? (bytes.charCodeAt(at) << 8) | low : low;
      font.marks.set(code, (font.marks.get(code) ?? 0) | mark);
      text += font.unicode.get(code) ?? '';
    }
    return text;
  }

  /** Checks all fonts that were shown. A character map with gaps that nobody reads is mended. */
  check(findings: Findings): void {
    for (const font of this.#fonts.values()) {
      if (!this.#isEmbedded(font)) {
        findings.add(
          'file',
          'ISO 19005-2, 6.2.11.4',
          `the font ${font.name} cannot be embedded`,
          font.page,
        );
      }
      this.#checkCodes(font, findings);
    }
  }

  #isEmbedded({ entries }: Font): boolean {
    const objects = this.#objects;
    if (objects.name(entries.get('Subtype')) === 'Type3') return true;
    const [descendant] = objects.list(entries.get('DescendantFonts'));
    const described = descendant === undefined ? entries : objects.dictionary(descendant);
    const descriptor = objects.dictionary(described.get('FontDescriptor'));
    const isTrueType = objects.name(described.get('Subtype')) === 'CIDFontType2';
    if (isTrueType && !described.has('CIDToGIDMap')) return false;
    return ['FontFile', 'FontFile2', 'FontFile3'].some((key) => descriptor.has(key));
  }

  #checkCodes(font: Font, findings: Findings): void {
    const { name, page, unicode } = font;
    let isMended = false;
    for (const [code, mark] of font.marks) {
      const text = unicode.get(code);
      if (code === 0 && font.bytesPerCode === 2) {
        findings.add(
          'file',
          'ISO 19005-2, 6.2.11.8',
          'a character has no glyph in any installed font',
          page,
        );
      }
      if ((mark & BARE) !== 0 && (text === undefined || isNoCharacter(text))) {
        const what = `a glyph of the font ${name} stands for no Unicode character`;
        findings.add('unicode', 'ISO 19005-2, 6.2.11.7', what, page);
      } else if (text !== undefined && isNoCharacter(text)) isMended = true;
      if ((mark & BARE) !== 0 && text !== undefined && isPrivate(text)) {
        const what = `a glyph of the font ${name} stands for a character of private use`;
        findings.add('level-a', 'ISO 19005-2, 6.2.11.7', what, page);
      }
    }
    if (isMended) this.#mend(font);
  }

  /** Gives a code that stands for nothing, within a text that is said otherwise, the character for the unknown. */
  #mend({ entries }: Font): void {
    const map = entries.get('ToUnicode');
    if (!(map instanceof Ref)) return;
    const text = this.#objects.content(map.number).toString('latin1');
    const mended = text.replaceAll(/(<[0-9A-Fa-f]+>\s*)<(?:0000|FEFF|FFFE)>(?=\s)/gi, '$1<FFFD>');
    this.#objects.setStream(
      map.number,
      this.#objects.dictionary(map),
      Buffer.from(mended, 'latin1'),
    );
  }
}
