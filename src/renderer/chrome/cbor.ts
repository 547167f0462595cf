/**
 * The binary form of the DevTools protocol, which Chrome uses between its own processes: from JSON it would make it
 * first, and JSON of it last. A message, and each map or list in it, is in an envelope that tells its length.
 * Source: `third_party/inspector_protocol/crdtp/cbor.cc` of Chromium, a part of CBOR (RFC 8949).
 */

/** The bytes from which the length of a message is known. */
export const HEADER_BYTES = 7;

const ENVELOPE = Buffer.from([0xd8, 0x18, 0x5a]);
const [NEGATIVE, BYTES, TEXT] = [1, 2, 3];
const [LIST, MAP, END, FALSE, TRUE, NULL, DOUBLE] = [0x9f, 0xbf, 0xff, 0xf4, 0xf5, 0xf6, 0xfb];
/** A byte string with this tag is data; one without a tag is text in UTF-16. */
const DATA = 0xd6;
const MAX_INT = 2 ** 31 - 1;

class Encoder {
  #bytes = Buffer.allocUnsafe(512);
  #at = 0;

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  value(value: unknown): void {
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (typeof value === 'boolean') this.#byte(value ? TRUE : FALSE);
    else if (value === null) this.#byte(NULL);
    else if (typeof value === 'object') this.#enveloped(value);
    else throw new TypeError(`A message cannot hold a ${typeof value}.`);
  }

  #enveloped(value: object): void {
    this.#reserve(HEADER_BYTES);
    const start = this.#at + ENVELOPE.copy(this.#bytes, this.#at);
    this.#at += HEADER_BYTES;
    if (Array.isArray(value)) {
      this.#byte(LIST);
      for (const each of value) this.value(each);
    } else {
      this.#byte(MAP);
      for (const [name, each] of Object.entries(value)) {
        if (each === undefined) continue;
        this.#text(name);
        this.value(each);
      }
    }
    this.#byte(END);
    this.#bytes.writeUInt32BE(this.#at - start - 4, start);
  }

  #text(text: string): void {
    // A half of a pair has no form in UTF-8. A page may count on it.
    const [encoding, type] = text.isWellFormed()
      ? (['utf8', TEXT] as const)
      : (['utf16le', BYTES] as const);
    const length = Buffer.byteLength(text, encoding);
    this.#head(type, length);
    this.#reserve(length);
    this.#at += this.#bytes.write(text, this.#at, encoding);
  }

  #number(value: number): void {
    if (Number.isInteger(value) && Math.abs(value) <= MAX_INT && !Object.is(value, -0)) {
      if (value >= 0) this.#head(0, value);
      else this.#head(NEGATIVE, -1 - value);
      return;
    }
    this.#byte(DOUBLE);
    this.#reserve(8);
    this.#at = this.#bytes.writeDoubleBE(value, this.#at);
  }

  #head(type: number, count: number): void {
    const major = type << 5;
    if (count < 24) this.#byte(major + count);
    else if (count < 0x100) {
      this.#byte(major + 24);
      this.#byte(count);
    } else {
      this.#byte(major + 26);
      this.#reserve(4);
      this.#at = this.#bytes.writeUInt32BE(count, this.#at);
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#at] = byte;
    this.#at += 1;
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#at + count));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** @param message of values that JSON has; members that are undefined are left out */
export function encodeMessage(message: object): Buffer {
  const encoder = new Encoder();
  encoder.value(message);
  return encoder.written;
}

/**
 * @param bytes at least `HEADER_BYTES`
 * @returns the length of the message that begins with them; undefined where they begin none
 */
export function messageLength(bytes: Buffer): number | undefined {
  const isEnvelope = ENVELOPE.compare(bytes, 0, ENVELOPE.length) === 0;
  return isEnvelope ? HEADER_BYTES + bytes.readUInt32BE(ENVELOPE.length) : undefined;
}

class Decoder {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  value(): unknown {
    const first = this.#byte();
    switch (first) {
      case ENVELOPE[0]:
        this.#skip(HEADER_BYTES - 1);
        return this.value();
      case MAP:
        return this.#map();
      case LIST:
        return this.#list();
      case TRUE:
        return true;
      case FALSE:
        return false;
      case NULL:
        return null;
      case DOUBLE:
        return this.#bytes.readDoubleBE(this.#skip(8));
      case DATA:
        return this.#string('base64', this.#count(this.#byte()));
    }
    const count = this.#count(first);
    switch (first >> 5) {
      case 0:
        return count;
      case NEGATIVE:
        return -1 - count;
      case BYTES:
        return this.#string('utf16le', count);
      case TEXT:
        return this.#string('utf8', count);
      default:
        throw new SyntaxError(`There is no value that begins with ${first}.`);
    }
  }

  #map(): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    while (this.#bytes[this.#at] !== END) {
      const name = String(this.value());
      const value = this.value();
      // A page may choose names. This one must not become the map's prototype.
      if (name === '__proto__') Object.defineProperty(map, name, { value, enumerable: true });
      else map[name] = value;
    }
    this.#skip(1);
    return map;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    while (this.#bytes[this.#at] !== END) list.push(this.value());
    this.#skip(1);
    return list;
  }

  #string(encoding: BufferEncoding, length: number): string {
    const start = this.#skip(length);
    return this.#bytes.toString(encoding, start, start + length);
  }

  #count(first: number): number {
    const info = first & 31;
    if (info < 24) return info;
    if (info === 24) return this.#byte();
    if (info === 25) return this.#bytes.readUInt16BE(this.#skip(2));
    if (info === 26) return this.#bytes.readUInt32BE(this.#skip(4));
    throw new SyntaxError(`There is no length that begins with ${first}.`);
  }

  #byte(): number {
    return this.#bytes.readUInt8(this.#skip(1));
  }

  /** @returns where it was before */
  #skip(count: number): number {
    const start = this.#at;
    if (start + count > this.#bytes.length) throw new SyntaxError('The message ends early.');
    this.#at = start + count;
    return start;
  }
}

/** @throws {Error} when it is none */
export const decodeMessage = (bytes: Buffer): unknown => new Decoder(bytes).value();
