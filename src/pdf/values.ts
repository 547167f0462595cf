/** The values of a PDF (ISO 32000-1, 7.3): read from its text, a byte for each character, and written to it. */

export class Name {
  readonly value: string;

  constructor(value: string) {
    this.value = value;
  }
}

/** A reference to an object of generation 0: there are no others in files that were written once. */
export class Ref {
  readonly number: number;

  constructor(number: number) {
    this.number = number;
  }
}

const UTF_8_MARK = '\xEF\xBB\xBF';

/** Characters of PDFDocEncoding that are others in Latin-1 (ISO 32000-2, annex D.2), from the bytes that are named. */
const PDF_DOC_ENCODING: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      [0x18, '\u02D8\u02C7\u02C6\u02D9\u02DD\u02DB\u02DA\u02DC'],
      [0x80, '•†‡…—–ƒ⁄‹›−‰„“”‘’‚™\uFB01\uFB02ŁŒŠŸŽıłœšž'],
      [0xa0, '€'],
    ] as const
  ).flatMap(([from, characters]) =>
    Array.from(characters, (each, n) => [String.fromCharCode(from + n), each] as const),
  ),
);

export class PdfString {
  /** A byte for each character. */
  readonly bytes: string;

  constructor(bytes: string) {
    this.bytes = bytes;
  }

  /** Text of any characters, in UTF-16 with its mark. */
  static of(text: string): PdfString {
    return /^[\x20-\x7e]*$/.test(text) ? new PdfString(text) : PdfString.utf16(text);
  }

  static utf16(text: string): PdfString {
    const bytes = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16();
    return new PdfString(bytes.toString('latin1'));
  }

  /** Text as readers see it (ISO 32000-2, 7.9.2.2). */
  get text(): string {
    if (this.bytes.startsWith(UTF_8_MARK)) {
      return Buffer.from(this.bytes.slice(UTF_8_MARK.length), 'latin1').toString('utf8');
    }
    if (!this.bytes.startsWith('\xFE\xFF')) {
      return Array.from(this.bytes, (byte) => PDF_DOC_ENCODING[byte] ?? byte).join('');
    }
    const bytes = Buffer.from(this.bytes.slice(2), 'latin1');
    return bytes
      .subarray(0, bytes.length & ~1)
      .swap16()
      .toString('utf16le');
  }
}

export type Dictionary = Map<string, PdfValue>;
export type PdfValue =
  | null
  | boolean
  | number
  | Name
  | Ref
  | PdfString
  | readonly PdfValue[]
  | Dictionary;

/** A text that is not a PDF's as ISO 32000-1 has it. */
export class MalformedPdf extends Error {
  override readonly name = 'MalformedPdf';
}

const SPACE = 1;
const DELIMITER = 2;
/** The class of each byte: 0 is a regular character. */
const CLASSES = new Uint8Array(256);
for (const code of [0, 9, 10, 12, 13, 32]) CLASSES[code] = SPACE;
for (const character of '()<>[]{}/%') CLASSES[character.charCodeAt(0)] = DELIMITER;

const MAX_DEPTH = 100;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** Reads values one after the other. */
export class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** Passes white space and comments. */
  skip(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code === 37) {
        while (this.at < this.text.length && !/[\r\n]/.test(this.text.charAt(this.at)))
          this.at += 1;
      } else if (CLASSES[code] !== SPACE) return;
      this.at += 1;
    }
  }

  /** A run of regular characters, such as a number or a keyword; empty at a delimiter or the end. */
  word(): string {
    const start = this.at;
    while (this.at < this.text.length && CLASSES[this.text.charCodeAt(this.at)] === 0) this.at += 1;
    return this.text.slice(start, this.at);
  }

  /** @throws {MalformedPdf} */
  value(depth = 0): PdfValue {
    if (depth > MAX_DEPTH) throw new MalformedPdf('values lie within each other too deeply');
    this.skip();
    switch (this.text.charAt(this.at)) {
      case '/':
        return this.#name();
      case '(':
        return this.#string();
      case '<':
        return this.text.charAt(this.at + 1) === '<' ? this.#dictionary(depth) : this.#hex();
      case '[':
        return this.#array(depth);
      default:
        return this.#plain();
    }
  }

  #name(): Name {
    this.at += 1;
    const name = this.word();
    if (!name.includes('#')) return new Name(name);
    return new Name(
      name.replaceAll(/#([0-9A-Fa-f]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    );
  }

  #string(): PdfString {
    let bytes = '';
    let depth = 1;
    this.at += 1;
    let from = this.at;
    for (; this.at < this.text.length; this.at += 1) {
      const character = this.text.charAt(this.at);
      if (character === '(') depth += 1;
      else if (character === ')') {
        depth -= 1;
        if (depth > 0) continue;
        bytes += this.text.slice(from, this.at);
        this.at += 1;
        return new PdfString(bytes);
      } else if (character === '\\') {
        bytes += this.text.slice(from, this.at) + this.#escape();
        from = this.at + 1;
      }
    }
    throw new MalformedPdf('a string has no end');
  }

  /** Leaves the place at the escape's last character. */
  #escape(): string {
    const [octal] = /^[0-7]{1,3}/.exec(this.text.slice(this.at + 1, this.at + 4)) ?? [];
    if (octal !== undefined) {
      this.at += octal.length;
      return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    }
    this.at += 1;
    const character = this.text.charAt(this.at);
    if (character === '\n') return '';
    if (character !== '\r') return ESCAPES[character] ?? character;
    if (this.text.charAt(this.at + 1) === '\n') this.at += 1;
    return '';
  }

  #hex(): PdfString {
    const end = this.text.indexOf('>', this.at);
    if (end === -1) throw new MalformedPdf('a string has no end');
    const digits = this.text.slice(this.at + 1, end).replaceAll(/\s/g, '');
    if (/[^0-9A-Fa-f]/.test(digits)) throw new MalformedPdf('a string is not hexadecimal');
    this.at = end + 1;
    const even = digits.length % 2 === 0 ? digits : `${digits}0`;
    return new PdfString(Buffer.from(even, 'hex').toString('latin1'));
  }

  #dictionary(depth: number): Dictionary {
    this.at += 2;
    const entries: Dictionary = new Map();
    for (;;) {
      this.skip();
      if (this.text.startsWith('>>', this.at)) {
        this.at += 2;
        return entries;
      }
      if (this.text.charAt(this.at) !== '/') throw new MalformedPdf('a dictionary has a bad key');
      const { value } = this.#name();
      entries.set(value, this.value(depth + 1));
    }
  }

  #array(depth: number): PdfValue[] {
    this.at += 1;
    const items: PdfValue[] = [];
    for (;;) {
      this.skip();
      if (this.text.charAt(this.at) === ']') {
        this.at += 1;
        return items;
      }
      items.push(this.value(depth + 1));
    }
  }

  #plain(): PdfValue {
    const word = this.word();
    if (word === 'true') return true;
    if (word === 'false') return false;
    if (word === 'null') return null;
    const number = Number(word);
    if (word === '' || Number.isNaN(number)) throw new MalformedPdf('there is no value');
    if (!/^\d+$/.test(word)) return number;
    const after = this.at;
    this.skip();
    if (this.text.charAt(this.at) === '0') {
      this.at += 1;
      this.skip();
      if (this.text.charAt(this.at) === 'R' && CLASSES[this.text.charCodeAt(this.at + 1)] !== 0) {
        this.at += 1;
        return new Ref(number);
      }
    }
    this.at = after;
    return number;
  }
}

const written = (number: number): string =>
  /e/.test(String(number)) ? number.toFixed(9) : String(number);

const PLAIN = /^[\x21\x22\x24-\x27\x2a-\x2e\x30-\x3b=\x3f-Z\\^-z|~]*$/;

function writtenName(name: string): string {
  if (PLAIN.test(name)) return `/${name}`;
  const characters = Array.from(name, (each) =>
    PLAIN.test(each) ? each : `#${each.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `/${characters.join('')}`;
}

function writtenString(bytes: string): string {
  if (/[^\x20-\x7e]/.test(bytes)) {
    return `<${Buffer.from(bytes, 'latin1').toString('hex').toUpperCase()}>`;
  }
  return `(${bytes.replaceAll(/[\\()]/g, '\\$&')})`;
}

/** Writes a value as a file holds it. */
export function serialize(value: PdfValue): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return written(value);
  if (value instanceof Name) return writtenName(value.value);
  if (value instanceof Ref) return `${value.number} 0 R`;
  if (value instanceof PdfString) return writtenString(value.bytes);
  if (value instanceof Map) {
    const entries = Array.from(value, ([key, each]) => `${writtenName(key)} ${serialize(each)}`);
    return `<<${entries.join('\n')}>>`;
  }
  return `[${value.map(serialize).join(' ')}]`;
}

/** Makes a dictionary of an object's entries, but for those that are undefined. */
export function dictionary(entries: Readonly<Record<string, PdfValue | undefined>>): Dictionary {
  return new Map(
    Object.entries(entries).flatMap(([key, value]) =>
      value === undefined ? [] : ([[key, value]] as const),
    ),
  );
}
