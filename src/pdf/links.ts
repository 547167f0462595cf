/** Removes links that lead nowhere good from a PDF of Chrome's while its bytes pass. */

/** More than any place below takes, with the start of a link's target behind it. */
const LOOK_AHEAD = 2_048;

/**
 * The places that matter, exactly as Skia, which writes Chrome's PDFs, writes them; a test holds it to that.
 * Each has the end of a line, which no string of Skia's can contain. Streams are passed over by their length.
 */
const PLACES = [
  String.raw`/Length (?<length>\d{1,10})>> stream\n`,
  String.raw`endobj\n(?<link>\d{1,10}) 0 obj\n<</Type /Annot\n(?:(?!endobj)[^]){0,1500}?/A <</Type /Action\n/S /URI\n/URI `,
  String.raw`\n/Annots \[(?<annotations>)`,
  String.raw`/S /Link\n(?=(?:(?!endobj)[^]){0,900}?/Obj (?<linked>\d{1,10}) 0 R)`,
  String.raw`(?:/K )?<</Type /OBJR\n/Obj (?<referred>\d{1,10}) 0 R\n/Pg \d{1,10} 0 R>>`,
  String.raw`\nxref\n(?<table>)`,
].join('|');

type Part = 'objects' | 'removed' | 'annotations' | 'table';

const PATTERNS: Readonly<Record<Part, RegExp>> = {
  objects: new RegExp(PLACES, 'g'),
  // The end of the object before it is removed with it, and its own stands in for that.
  removed: /\n(?=endobj\n)/g,
  annotations: /(?<annotation>\d{1,10}) 0 R|\]/g,
  table: /(?<row>\d{10} \d{5} [nf] )|startxref\n(?<start>\d{1,10})\n/g,
};

interface Passed {
  /** The place in Chrome's text that comes next. */
  readonly end: number;
  /** Bytes to write. */
  readonly content: string;
}

const ALLOWED = /^\((https?|mailto|tel|sms):/i;

/**
 * Removes link annotations to local files, scripts or other machines' shares, and what refers to them: the
 * text stays, as of no link. Such links come from frames, SVG and header templates too, past any cleaning of
 * HTML. The cross-reference table is written again: a file without such links stays as it is.
 */
export class LinkRemover {
  /** Links to this host mean a page that exists in no network: the origin HTML was served on. */
  readonly #ownOrigin: string | undefined;
  /** Numbers of the objects that are removed. */
  readonly #removed = new Set<number>();
  /** Objects from the place `from` on are `by` bytes earlier than in Chrome's file. */
  readonly #shifts: { readonly from: number; readonly by: number }[] = [];
  #part: Part = 'objects';
  #rest = '';
  #read = 0;
  #written = 0;
  /** Bytes of the stream that are still to come. */
  #stream = 0;
  /** The next row of the cross-reference table, from object 0 on. */
  #row = 0;

  constructor(ownOrigin: string | undefined) {
    this.#ownOrigin = ownOrigin;
  }

  /** @returns the bytes that are final */
  push(chunk: Buffer): Buffer {
    const text = this.#rest + chunk.toString('latin1');
    return this.#pass(text, text.length - LOOK_AHEAD);
  }

  end(): Buffer {
    return this.#pass(this.#rest, this.#rest.length);
  }

  /** A place that begins before `limit` is there as a whole. */
  #pass(text: string, limit: number): Buffer {
    const kept: string[] = [];
    let at = 0;
    while (at < limit) {
      const { end, content } =
        this.#stream > 0 ? this.#streamed(text, at, limit) : this.#upToPlace(text, at, limit);
      kept.push(content);
      this.#read += end - at;
      this.#written += content.length;
      this.#noteShift();
      at = end;
    }
    this.#rest = text.slice(at);
    return Buffer.from(kept.join(''), 'latin1');
  }

  #streamed(text: string, at: number, limit: number): Passed {
    const end = Math.min(limit, at + this.#stream);
    this.#stream -= end - at;
    return { end, content: text.slice(at, end) };
  }

  /** As far as the next place and with it, or as far as `limit`. */
  #upToPlace(text: string, at: number, limit: number): Passed {
    const isKept = this.#part !== 'removed';
    const pattern = PATTERNS[this.#part];
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const start = Math.min(found?.index ?? limit, limit);
    const before = isKept ? text.slice(at, start) : '';
    if (!found || start === limit) return { end: start, content: before };
    return { end: pattern.lastIndex, content: before + this.#changed(found) };
  }

  #noteShift(): void {
    const by = this.#read - this.#written;
    if (by !== (this.#shifts.at(-1)?.by ?? 0)) this.#shifts.push({ from: this.#read, by });
  }

  /** @returns what stands in the place of what was found */
  #changed(found: RegExpExecArray): string {
    const [whole] = found;
    switch (this.#part) {
      case 'objects':
        return this.#changedPlace(found);
      case 'removed':
        this.#part = 'objects';
        return '';
      case 'annotations':
        if (whole === ']') this.#part = 'objects';
        return this.#isRemoved(found.groups?.['annotation']) ? '' : whole;
      case 'table':
        return this.#changedRow(found);
    }
  }

  #changedPlace(found: RegExpExecArray): string {
    const [whole] = found;
    const { length, link, annotations, linked, referred, table } = found.groups ?? {};
    if (length !== undefined) this.#stream = Number(length);
    if (annotations !== undefined) this.#part = 'annotations';
    // Offsets that are right stay as they are.
    if (table !== undefined && this.#removed.size > 0) this.#part = 'table';
    if (this.#isRemoved(linked)) return '/S /NonStruct\n';
    if (this.#isRemoved(referred)) return '';
    if (link === undefined) return whole;
    const start = found.index + whole.length;
    if (this.#isGood(found.input.slice(start, start + 128))) return whole;
    this.#removed.add(Number(link));
    this.#part = 'removed';
    return '';
  }

  #isGood(target: string): boolean {
    const own = this.#ownOrigin !== undefined && target.startsWith(`(${this.#ownOrigin}`);
    return ALLOWED.test(target) && !own;
  }

  #isRemoved(number: string | undefined): boolean {
    return number !== undefined && this.#removed.has(Number(number));
  }

  /** A removed object is a free one whose number is never used again (ISO 32000-1, 7.5.4). */
  #changedRow(found: RegExpExecArray): string {
    const { row, start } = found.groups ?? {};
    if (row === undefined) return `startxref\n${this.#shifted(Number(start))}\n`;
    const number = this.#row;
    this.#row += 1;
    if (this.#removed.has(number)) return '0000000000 65535 f ';
    if (row.endsWith('f ')) return row;
    return `${this.#shifted(Number(row.slice(0, 10)))}`.padStart(10, '0') + row.slice(10);
  }

  #shifted(offset: number): number {
    let [low, high] = [0, this.#shifts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#shifts[middle]?.from ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset - (this.#shifts[low - 1]?.by ?? 0);
  }
}
