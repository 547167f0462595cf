/** Replaces what differs from one print of the same page to the next, while the bytes of the PDF pass. */

/**
 * The dates of the PDF, and Chrome's names for elements, which count up over the documents of a process. Both as Skia, which
 * writes Chrome's PDFs, writes them. No string of Skia's has such parentheses of its own, and compressed content may have
 * them by a chance of one in 2^64 alone.
 */
const PLACES = /\/(Creation|Mod)Date \(D:\d{14}[^)]{0,8}\)|\(node(\d{8})\)/g;
/** More than one place takes. */
const LOOK_AHEAD = 64;

export class FixedMarks {
  /** As in a PDF. All have the same length, so that no place in the file moves. */
  readonly #date: string;
  readonly #nodes = new Map<string, string>();
  #rest = '';

  /** @param time milliseconds since the epoch */
  constructor(time: number) {
    const digits = new Date(time).toISOString().replaceAll(/\D/g, '').slice(0, 14);
    this.#date = `D:${digits}+00'00'`;
  }

  /** @returns the bytes that are final */
  push(chunk: Buffer, isLast: boolean): Buffer {
    const text = this.#rest + chunk.toString('latin1');
    const limit = isLast ? text.length : Math.max(0, text.length - LOOK_AHEAD);
    const parts: string[] = [];
    let at = 0;
    PLACES.lastIndex = 0;
    for (let found = PLACES.exec(text); found !== null; found = PLACES.exec(text)) {
      if (found.index >= limit) break;
      parts.push(text.slice(at, found.index), this.#fixed(found));
      at = PLACES.lastIndex;
    }
    const end = Math.max(at, limit);
    parts.push(text.slice(at, end));
    this.#rest = text.slice(end);
    return Buffer.from(parts.join(''), 'latin1');
  }

  #fixed([whole, date, node]: RegExpExecArray): string {
    if (date !== undefined) return `/${date}Date (${this.#date})`.padEnd(whole.length);
    if (node === undefined) return whole;
    const known = this.#nodes.get(node) ?? String(this.#nodes.size + 1).padStart(8, '0');
    this.#nodes.set(node, known);
    return `(node${known})`;
  }
}
