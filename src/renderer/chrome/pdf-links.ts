/**
 * Takes the actions out of link annotations that lead to local files, scripts or other machines' shares.
 * Done in the PDF: such links come from frames, SVG and header templates too, past any cleaning of HTML.
 *
 * Every edit keeps the length, so that the offsets of the PDF's cross-reference table stay right.
 */

/** Exactly how Skia, which writes Chrome's PDFs, writes the action of a link; a test holds it to that. */
const ACTION = Buffer.from('/A <</Type /Action\n/S /URI\n/URI ', 'latin1');
/** Enough for the longest scheme that is allowed, and its colon. */
const SCHEME_BYTES = 16;
const ALLOWED = /^\((https?|mailto|tel|sms):/i;
/** The action becomes an entry that no reader knows, and its scheme is blotted out. */
const UNKNOWN_KEY = Buffer.from('/X', 'latin1');

export class LinkCleaner {
  #rest: Buffer = Buffer.alloc(0);
  /** Links to this host mean a page that exists in no network: the origin HTML was served on. */
  readonly #ownOrigin: string | undefined;

  constructor(ownOrigin: string | undefined) {
    this.#ownOrigin = ownOrigin;
  }

  /** @returns the bytes that are final */
  push(chunk: Buffer): Buffer {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const lookAhead = Math.max(SCHEME_BYTES, this.#ownOrigin?.length ?? 0) + 1;
    this.#clean(bytes);
    // An action cut in two by the chunk's end is seen whole with the next one.
    const keep = Math.min(bytes.length, ACTION.length + lookAhead);
    this.#rest = Buffer.from(bytes.subarray(bytes.length - keep));
    return bytes.subarray(0, bytes.length - keep);
  }

  end(): Buffer {
    this.#clean(this.#rest);
    return this.#rest;
  }

  #clean(bytes: Buffer): void {
    for (let at = bytes.indexOf(ACTION); at !== -1; at = bytes.indexOf(ACTION, at + 1)) {
      const start = at + ACTION.length;
      const target = bytes.toString('latin1', start, start + 128);
      const own = this.#ownOrigin !== undefined && target.startsWith(`(${this.#ownOrigin}`);
      if (ALLOWED.test(target) && !own) continue;
      // Cut off here: the whole of it comes again with the next chunk.
      if (!own && target.length < SCHEME_BYTES && !target.includes('>>')) continue;
      UNKNOWN_KEY.copy(bytes, at);
      const colon = target.indexOf(':');
      if (colon > 1 && target.startsWith('(')) bytes.fill(' ', start + 1, start + colon);
    }
  }
}
