/** Removes links that lead nowhere good from a PDF of Chrome's while its bytes pass, each in its place: no byte moves. */

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
  removed: /\n(?=endobj\n)/g,
  annotations: /(?<annotation>\d{1,10}) 0 R|\]/g,
  table: /\d{10} \d{5} [nf] /g,
};

const ALLOWED = /^\((https?|mailto|tel|sms):/i;

/**
 * Blanks link annotations to local files, scripts or other machines' shares, and what refers to them: the text stays, as of
 * no link. Such links come from frames, SVG and header templates too, past any cleaning of HTML.
 */
export class LinkRemover {
  /** Links to this host mean a page that exists in no network: the origin HTML was served on. */
  readonly #ownOrigin: string | undefined;
  /** Numbers of the objects that are removed. */
  readonly #removed = new Set<number>();
  #part: Part = 'objects';
  #rest = '';
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
    const passed: string[] = [];
    let at = 0;
    while (at < limit) {
      const content =
        this.#stream > 0 ? this.#streamed(text, at, limit) : this.#upToPlace(text, at, limit);
      passed.push(content);
      at += content.length;
    }
    this.#rest = text.slice(at);
    return Buffer.from(passed.join(''), 'latin1');
  }

  #streamed(text: string, at: number, limit: number): string {
    const end = Math.min(limit, at + this.#stream);
    this.#stream -= end - at;
    return text.slice(at, end);
  }

  /** As far as the next place and with it, or as far as `limit`. */
  #upToPlace(text: string, at: number, limit: number): string {
    const pattern = PATTERNS[this.#part];
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const start = Math.min(found?.index ?? limit, limit);
    const before = text.slice(at, start);
    const kept = this.#part === 'removed' ? blank(before) : before;
    return found && start < limit ? kept + this.#changed(found) : kept;
  }

  /** @returns what stands in the place of what was found, as long as that */
  #changed(found: RegExpExecArray): string {
    const [whole] = found;
    switch (this.#part) {
      case 'objects':
        return this.#changedPlace(found);
      case 'removed':
        this.#part = 'objects';
        return whole;
      case 'annotations':
        if (whole === ']') this.#part = 'objects';
        return this.#isRemoved(found.groups?.['annotation']) ? blank(whole) : whole;
      case 'table':
        this.#row += 1;
        // A removed object is a free one whose number is never used again (ISO 32000-1, 7.5.4).
        return this.#removed.has(this.#row - 1) ? '0000000000 65535 f ' : whole;
    }
  }

  #changedPlace(found: RegExpExecArray): string {
    const [whole] = found;
    const { length, link, annotations, linked, referred, table } = found.groups ?? {};
    if (length !== undefined) this.#stream = Number(length);
    if (annotations !== undefined) this.#part = 'annotations';
    if (table !== undefined) this.#part = 'table';
    if (this.#isRemoved(linked)) return '/S /Span\n';
    if (this.#isRemoved(referred)) return blank(whole);
    if (link === undefined || this.#isGood(found)) return whole;
    this.#removed.add(Number(link));
    this.#part = 'removed';
    const name = `endobj\n${link} 0 obj\n`;
    return name + blank(whole.slice(name.length));
  }

  #isGood({ input, index, 0: whole }: RegExpExecArray): boolean {
    const start = index + whole.length;
    const target = input.slice(start, start + 128);
    const own = this.#ownOrigin !== undefined && target.startsWith(`(${this.#ownOrigin}`);
    return ALLOWED.test(target) && !own;
  }

  #isRemoved(number: string | undefined): boolean {
    return number !== undefined && this.#removed.has(Number(number));
  }
}

const blank = (text: string): string => ' '.repeat(text.length);
