/** Reads single objects of a PDF by its cross-reference table, without reading the rest. */
import { readSync } from 'node:fs';

const TAIL_BYTES = 1_024;
/** A first try, more than most dictionaries have. A title may be as long as its document. */
const OBJECT_BYTES = 4 * 1_024;
const ENTRY_BYTES = 20;

export class PdfReader {
  /** Its descriptor. */
  readonly #file: number;
  readonly #size: number;
  /** The place of the cross-reference table. */
  readonly startXref: number;
  /** The text of the trailer dictionary. */
  readonly trailer: string;

  private constructor(file: number, size: number, startXref: number, trailer: string) {
    this.#file = file;
    this.#size = size;
    this.startXref = startXref;
    this.trailer = trailer;
  }

  /** @throws {Error} when it is not a PDF with a plain cross-reference table, as Chrome writes it */
  static open(file: number, size: number): PdfReader {
    const tail = read(file, Math.max(0, size - TAIL_BYTES), TAIL_BYTES);
    const [, start] = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(tail) ?? [];
    const at = tail.lastIndexOf('trailer');
    if (start === undefined || at === -1) throw new Error('the PDF has no end');
    return new PdfReader(file, size, Number(start), tail.slice(at));
  }

  get size(): number {
    return this.#size;
  }

  /** An object's text, between its `n 0 obj` and its `endobj`. */
  object(number: number): string {
    return this.placed(number).text;
  }

  /** The same, with its place in the file. */
  placed(number: number): { readonly text: string; readonly at: number } {
    const table = read(this.#file, this.startXref, 64);
    const [header, first, count] = /^xref\s+(\d+)\s+(\d+)\s+/.exec(table) ?? [];
    if (header === undefined || number < Number(first) || number >= Number(first) + Number(count)) {
      throw new Error(`the PDF has no object ${number}`);
    }
    const entryAt = this.startXref + header.length + (number - Number(first)) * ENTRY_BYTES;
    const offset = Number(read(this.#file, entryAt, 10).trim());
    for (let length = OBJECT_BYTES; ; length *= 4) {
      const text = read(this.#file, offset, length);
      const [start] = /^\s*\d+ \d+ obj\s*/.exec(text) ?? [];
      if (start === undefined) throw new Error(`the PDF has no object ${number} at its place`);
      const body = text.slice(start.length);
      const end = objectEnd(body);
      if (end !== undefined) return { text: body.slice(0, end), at: offset + start.length };
      if (offset + length >= this.#size) throw new Error(`object ${number} of the PDF has no end`);
    }
  }
}

function read(file: number, position: number, length: number): string {
  const buffer = Buffer.alloc(length);
  const bytesRead = readSync(file, buffer, 0, length, position);
  return buffer.toString('latin1', 0, bytesRead);
}

/** The number of the object that an entry of a dictionary refers to. */
export function reference(dictionary: string, key: string): number {
  const [, number] = new RegExp(`/${key}\\s+(\\d+)\\s+0\\s+R`).exec(dictionary) ?? [];
  if (number === undefined) throw new Error(`the PDF names no ${key}`);
  return Number(number);
}

/** The number of pages, from the root of the page tree. */
export function pageCount(pdf: PdfReader): number {
  const catalog = pdf.object(reference(pdf.trailer, 'Root'));
  const pages = pdf.object(reference(catalog, 'Pages'));
  const [, count] = /\/Count\s+(\d+)/.exec(pages) ?? [];
  if (count === undefined) throw new Error('the PDF does not count its pages');
  return Number(count);
}

/** An escaped parenthesis neither begins nor ends a string. */
const TOKEN = /\\[\s\S]|[()]|endobj/g;

/**
 * Finds the end of an object that is not a stream and has no comment, as those that are read here. Its strings may hold any
 * bytes, also `endobj` (ISO 32000-1, 7.3.4.2).
 * @param text from the object's content on, a byte for each character
 * @returns the place of its `endobj`; undefined where the text ends before it does
 */
export function objectEnd(text: string): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (token === '(') depth += 1;
    else if (token === ')') depth -= 1;
    else if (token === 'endobj' && depth === 0) return index;
  }
  return undefined;
}
