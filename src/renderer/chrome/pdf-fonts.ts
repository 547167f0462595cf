/**
 * The names of the fonts that a PDF holds, read while its bytes pass. Skia, which writes Chrome's PDFs,
 * gives every font a descriptor of its own in plain text, each key at the start of a line, which no
 * string in a PDF of Skia's can contain.
 */
const KEY = Buffer.from('\n/FontName /', 'latin1');
const MAX_NAME = 127;
const MAX_FONTS = 100;

export class FontNames {
  readonly #names = new Set<string>();
  #rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#scan(Buffer.concat([this.#rest, chunk.subarray(0, KEY.length + MAX_NAME + 1)]));
    this.#scan(chunk);
    const tail = -(KEY.length + MAX_NAME);
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(tail)]).subarray(tail);
  }

  /** Without the prefix that says the font is embedded in part. */
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
