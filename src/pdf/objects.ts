/** Objects of a PDF that are read or changed: its metadata and its fonts' names. */
import type { RequestDocument } from '../domain/request-document.ts';
import { type PdfReader, reference } from './reader.ts';

type Metadata = NonNullable<RequestDocument['metadata']>;

/** A text string in UTF-16 with its mark, in hexadecimal: needs no escaping and holds every character. */
function textString(text: string): string {
  const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
  return `<${bytes.toString('hex').toUpperCase()}>`;
}

const STRING = String.raw`(?:<[0-9A-Fa-f\s]*>|\((?:\\[\s\S]|[^\\)])*\))`;

/**
 * Replaces the information dictionary: Chrome sets a title from the page and nothing else.
 * @returns an incremental update (ISO 32000-1, 7.5.6) to append to the file that `pdf` reads
 */
export function appendInfo(pdf: PdfReader, metadata: Metadata): Buffer {
  const { title, author, subject, keywords } = metadata;
  const entries = Object.entries({
    Title: title,
    Author: author,
    Subject: subject,
    Keywords: keywords?.join(', '),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (entries.length === 0) return Buffer.alloc(0);

  const number = reference(pdf.trailer, 'Info');
  let info = pdf.object(number).trim();
  for (const [key, text] of entries) {
    // Other strings are matched too, whole, so that nothing within one is taken for the entry.
    const strings = new RegExp(`(/${key}\\s*)?${STRING}`, 'g');
    info = info.replace(strings, (found, own?: string) => (own === undefined ? found : ''));
    info = info.replace(/^<</, () => `<</${key} ${textString(text)}\n`);
  }
  const object = `\n${number} 0 obj\n${info}\nendobj\n`;
  const trailer = pdf.trailer
    .slice(0, pdf.trailer.lastIndexOf('startxref'))
    .replace(/>>\s*$/, () => `\n/Prev ${pdf.startXref}>>\n`);
  const objectAt = `${pdf.size + 1}`.padStart(10, '0');
  const xrefAt = pdf.size + object.length;
  return Buffer.from(
    `${object}xref\n${number} 1\n${objectAt} 00000 n \n${trailer}startxref\n${xrefAt}\n%%EOF\n`,
    'latin1',
  );
}

/** The first object of a PDF as Skia writes it: the information dictionary, with the title and creator first. */
const NAMES = new RegExp(
  `^(%PDF-[^]{3}\\n%[^]{4}\\n1 0 obj\\n<<)((?:/(?:Title|Creator) ${STRING}\\n)*)(/Title)?`,
);
const CREATOR = '/Creator (Chromium)\n';

/**
 * Overwrites the title in the first bytes of a PDF, and the creator with the one that a headless shell writes. Everything
 * after them stays in its place.
 * @throws {Error} when the title does not end in these bytes
 */
export function blankNames(start: Buffer): void {
  const [, before = '', names = '', rest] = NAMES.exec(start.toString('latin1')) ?? [];
  if (rest !== undefined) throw new Error('Chrome wrote a title that is too long.');
  const creator = names.length < CREATOR.length ? '' : CREATOR;
  start.write(creator.padEnd(names.length), before.length, 'latin1');
}

/**
 * Skia, which writes Chrome's PDFs, gives every font a descriptor of its own in plain text, each key at the
 * start of a line, which no string in a PDF of Skia's can contain.
 */
const KEY = Buffer.from('\n/FontName /', 'latin1');
const MAX_NAME = 127;
const MAX_FONTS = 100;

/** Collects the names of the fonts that a PDF holds while its bytes pass. */
export class FontNames {
  readonly #names = new Set<string>();
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#scan(Buffer.concat([this.#rest, chunk.subarray(0, KEY.length + MAX_NAME + 1)]));
    this.#scan(chunk);
    const tail = -(KEY.length + MAX_NAME);
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(tail)]).subarray(tail);
  }

  /** The names, but for the prefix that says the font is embedded in part. */
  get names(): readonly string[] {
    return [...this.#names].toSorted();
  }

  #scan(bytes: Buffer): void {
    for (let at = bytes.indexOf(KEY); at !== -1; at = bytes.indexOf(KEY, at + 1)) {
      const text = bytes.toString('latin1', at + KEY.length, at + KEY.length + MAX_NAME + 1);
      const [, name] = /^(?:[A-Z]{6}\+)?([^\s/<>()[\]{}%]+)\s/.exec(text) ?? [];
      if (name !== undefined && this.#names.size < MAX_FONTS) this.#names.add(decode(name));
    }
  }
}

/** `#20` in a name is a blank. */
function decode(name: string): string {
  return name.replaceAll(/#([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
