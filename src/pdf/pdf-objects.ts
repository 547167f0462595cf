/** A whole PDF as the objects that it consists of: read where they are asked for, changed, added, and written again. */
import { deflateSync, inflateSync } from 'node:zlib';
import {
  type Dictionary,
  MalformedPdf,
  Name,
  type PdfValue,
  Ref,
  Scanner,
  serialize,
} from './values.ts';

interface Placed {
  readonly from: number;
  /** The place of the next thing in the file. */
  readonly to: number;
}

interface Changed {
  readonly value: PdfValue;
  /** The content of a stream, as it is stored. */
  readonly stream?: Buffer;
}

const MIB = 1024 * 1024;
/** Not more is written. */
const MAX_SAVED_BYTES = 256 * MIB;
/** A stream's content is not made larger than this, nor all of them together. */
const MAX_INFLATED_BYTES = 256 * MIB;

/** The document is larger than what is worked on. */
export class PdfTooComplex extends Error {
  override readonly name = 'PdfTooComplex';
}

export class PdfObjects {
  readonly #bytes: Buffer;
  readonly #text: string;
  readonly #places: ReadonlyMap<number, Placed>;
  readonly #read = new Map<number, PdfValue>();
  readonly #changed = new Map<number, Changed>();
  #next = 1;
  #room = MAX_INFLATED_BYTES;
  readonly trailer: Dictionary;

  /**
   * @param bytes a file with plain cross-reference tables, as Chrome writes it, with or without updates behind
   * @throws {MalformedPdf}
   */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#text = bytes.toString('latin1');
    const [, start] = /startxref\s+(\d+)\s+%%EOF\s*$/.exec(this.#text.slice(-1024)) ?? [];
    if (start === undefined) throw new MalformedPdf('the PDF has no end');
    const { trailer, offsets, tables } = this.#tables(Number(start));
    this.trailer = trailer;
    const ends = [...offsets.values(), ...tables, bytes.length].toSorted((a, b) => a - b);
    const endAfter = new Map(ends.map((each, n) => [each, ends[n + 1] ?? bytes.length]));
    this.#places = new Map(
      Array.from(offsets, ([number, from]) => [
        number,
        { from, to: endAfter.get(from) ?? bytes.length },
      ]),
    );
    for (const number of offsets.keys()) this.#next = Math.max(this.#next, number + 1);
  }

  /** Reads the table at `start` and those that it replaces in part. */
  #tables(start: number) {
    const offsets = new Map<number, number>();
    const tables: number[] = [];
    const free = new Set<number>();
    let newest: Dictionary | undefined;
    for (let at: PdfValue | undefined = start; typeof at === 'number'; ) {
      if (tables.includes(at)) throw new MalformedPdf('the cross-reference tables go in a circle');
      tables.push(at);
      const scanner = new Scanner(this.#text, at);
      if (scanner.word() !== 'xref') throw new MalformedPdf('there is no cross-reference table');
      this.#sections(scanner, offsets, free);
      const trailer = scanner.value();
      if (!(trailer instanceof Map)) throw new MalformedPdf('the PDF has no trailer');
      newest ??= trailer;
      at = trailer.get('Prev');
    }
    if (newest === undefined) throw new MalformedPdf('the PDF has no trailer');
    newest.delete('Prev');
    return { trailer: newest, offsets, tables };
  }

  #sections(scanner: Scanner, offsets: Map<number, number>, free: Set<number>): void {
    for (;;) {
      scanner.skip();
      const word = scanner.word();
      if (word === 'trailer') return;
      scanner.skip();
      const [first, count] = [Number(word), Number(scanner.word())];
      if (!Number.isInteger(first) || !Number.isInteger(count) || word === '') {
        throw new MalformedPdf('the cross-reference table is damaged');
      }
      scanner.skip();
      // Each row has 20 bytes.
      if (scanner.at + count * 20 > this.#text.length) {
        throw new MalformedPdf('the cross-reference table is cut off');
      }
      for (let number = first; number < first + count; number += 1) {
        const row = this.#text.slice(scanner.at, scanner.at + 18);
        scanner.at += 20;
        if (offsets.has(number) || free.has(number)) continue;
        if (row.endsWith('n')) offsets.set(number, Number(row.slice(0, 10)));
        else free.add(number);
      }
    }
  }

  /** True if the file as it was read has such text, be it of an object or not. */
  has(text: RegExp): boolean {
    return text.test(this.#text);
  }

  /** The numbers of all objects. */
  get numbers(): readonly number[] {
    return [...new Set([...this.#places.keys(), ...this.#changed.keys()])].toSorted(
      (a, b) => a - b,
    );
  }

  /** The object of that number, for a stream its dictionary; null where there is none. */
  object(number: number): PdfValue {
    const changed = this.#changed.get(number);
    if (changed !== undefined) return changed.value;
    const known = this.#read.get(number);
    if (known !== undefined) return known;
    const place = this.#places.get(number);
    if (place === undefined) return null;
    const scanner = this.#scannerAt(number, place);
    const value = scanner.value();
    this.#read.set(number, value);
    return value;
  }

  #scannerAt(number: number, { from }: Placed): Scanner {
    const scanner = new Scanner(this.#text, from);
    scanner.skip();
    const found = scanner.word();
    scanner.skip();
    scanner.word();
    scanner.skip();
    if (found !== String(number) || scanner.word() !== 'obj') {
      throw new MalformedPdf(`there is no object ${number} at its place`);
    }
    return scanner;
  }

  /** What a value stands for, if it refers to an object. */
  resolve(value: PdfValue | undefined): PdfValue {
    const resolved = value instanceof Ref ? this.object(value.number) : (value ?? null);
    return resolved instanceof Ref ? null : resolved;
  }

  /** @returns an empty dictionary where there is none */
  dictionary(value: PdfValue | undefined): Dictionary {
    const resolved = this.resolve(value);
    return resolved instanceof Map ? resolved : new Map();
  }

  /** @returns the items of an array; a single value as an array of one */
  list(value: PdfValue | undefined): readonly PdfValue[] {
    const resolved = this.resolve(value);
    if (Array.isArray(resolved)) return resolved as readonly PdfValue[];
    return resolved === null ? [] : [value ?? null];
  }

  name(value: PdfValue | undefined): string | undefined {
    const resolved = this.resolve(value);
    return resolved instanceof Name ? resolved.value : undefined;
  }

  get catalog(): Dictionary {
    return this.dictionary(this.trailer.get('Root'));
  }

  /** The content of a stream, as it is stored. */
  stored(number: number): Buffer {
    const changed = this.#changed.get(number)?.stream;
    if (changed !== undefined) return changed;
    const place = this.#places.get(number);
    if (place === undefined) return Buffer.alloc(0);
    const scanner = this.#scannerAt(number, place);
    const head = scanner.value();
    scanner.skip();
    const isStream = head instanceof Map && this.#text.startsWith('stream', scanner.at);
    const length = isStream ? this.resolve(head.get('Length')) : undefined;
    if (typeof length !== 'number') throw new MalformedPdf(`object ${number} has no content`);
    const start = scanner.at + 6 + (this.#text.charAt(scanner.at + 6) === '\r' ? 2 : 1);
    return this.#bytes.subarray(start, start + length);
  }

  /** The decoded content of a stream without a filter, or with Flate. @throws {PdfTooComplex} */
  content(number: number): Buffer {
    const head = this.dictionary(new Ref(number));
    const filters = this.list(head.get('Filter')).map((each) => this.name(each));
    for (const each of this.list(head.get('DecodeParms'))) {
      const predictor = this.resolve(this.dictionary(each).get('Predictor'));
      if (predictor !== null && predictor !== 1) {
        throw new MalformedPdf(`object ${number} has a predictor that is not expected there`);
      }
    }
    const stored = this.stored(number);
    if (filters.length === 0) return stored;
    if (filters.length > 1 || filters[0] !== 'FlateDecode') {
      throw new MalformedPdf(`object ${number} has a filter that is not expected there`);
    }
    const content = inflated(stored, this.#room);
    this.#room -= content.length;
    return content;
  }

  set(number: number, value: PdfValue): void {
    const isStream = this.#changed.get(number)?.stream !== undefined || this.#isStream(number);
    this.#changed.set(number, isStream ? { value, stream: this.stored(number) } : { value });
  }

  #isStream(number: number): boolean {
    const place = this.#places.get(number);
    return place !== undefined && this.#text.slice(place.to - 40, place.to).includes('endstream');
  }

  /** Compresses the content. */
  setStream(number: number, entries: Dictionary, content: Buffer): void {
    const filtered = new Map(entries).set('Filter', new Name('FlateDecode'));
    this.setStored(number, filtered, deflateSync(content));
  }

  /** @param stream content that is compressed as the entries say */
  setStored(number: number, entries: Dictionary, stream: Buffer): void {
    const value = new Map(entries).set('Length', stream.length);
    this.#changed.set(number, { value, stream });
  }

  /** Adds a stream whose content stays readable without a decoder, as metadata must be. */
  addPlainStream(entries: Dictionary, content: Buffer): Ref {
    const number = this.#take();
    this.setStored(number, entries, content);
    return new Ref(number);
  }

  addStream(entries: Dictionary, content: Buffer): Ref {
    const number = this.#take();
    this.setStream(number, entries, content);
    return new Ref(number);
  }

  add(value: PdfValue): Ref {
    const number = this.#take();
    this.#changed.set(number, { value });
    return new Ref(number);
  }

  #take(): number {
    this.#next += 1;
    return this.#next - 1;
  }

  /** The file, written again: objects that did not change have the bytes that they had. */
  save(): Buffer {
    const version = this.#text.startsWith('%PDF-2.') ? this.#text.slice(5, 8) : '1.7';
    const parts: Buffer[] = [Buffer.from(`%PDF-${version}\n%\xE2\xE3\xCF\xD3\n`, 'latin1')];
    let size = parts[0]?.length ?? 0;
    const offsets = new Map<number, number>();
    for (const number of this.numbers) {
      offsets.set(number, size);
      for (const part of this.#written(number)) {
        parts.push(part);
        size += part.length;
        if (size > MAX_SAVED_BYTES) {
          throw new PdfTooComplex(`The PDF would be larger than ${MAX_SAVED_BYTES / MIB} MiB.`);
        }
      }
    }
    const count = this.#next;
    const rows = Array.from({ length: count }, (_, number) => {
      const offset = offsets.get(number);
      return offset === undefined
        ? `0000000000 65535 f \n`
        : `${String(offset).padStart(10, '0')} 00000 n \n`;
    });
    const trailer = serialize(new Map(this.trailer).set('Size', count));
    const end = `xref\n0 ${count}\n${rows.join('')}trailer\n${trailer}\nstartxref\n${size}\n%%EOF\n`;
    return Buffer.concat([...parts, Buffer.from(end, 'latin1')]);
  }

  #written(number: number): Buffer[] {
    const changed = this.#changed.get(number);
    if (changed === undefined) return [this.#copied(number), Buffer.from('\n')];
    const { value, stream } = changed;
    const head = Buffer.from(`${number} 0 obj\n${serialize(value)}`, 'latin1');
    if (stream === undefined) return [head, Buffer.from('\nendobj\n')];
    return [head, Buffer.from('\nstream\n'), stream, Buffer.from('\nendstream\nendobj\n')];
  }

  #copied(number: number): Buffer {
    const { from, to } = this.#places.get(number) ?? { from: 0, to: 0 };
    const end = this.#bytes.subarray(from, to).lastIndexOf('endobj');
    if (end === -1) throw new MalformedPdf(`object ${number} has no end`);
    return this.#bytes.subarray(from, from + end + 'endobj'.length);
  }
}

function inflated(stored: Buffer, room: number): Buffer {
  // qpdf writes nothing at all for a stream without content.
  if (stored.length === 0) return stored;
  try {
    return inflateSync(stored, { maxOutputLength: Math.max(1, room) });
  } catch (cause) {
    if (cause instanceof RangeError) {
      throw new PdfTooComplex(
        `The content of the PDF takes more than ${MAX_INFLATED_BYTES / 1024 / 1024} MiB.`,
        { cause },
      );
    }
    throw new MalformedPdf('a stream cannot be decompressed', { cause });
  }
}
