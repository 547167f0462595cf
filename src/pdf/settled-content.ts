/** Content of a page that leaves the graphics state as it was, whatever it is made of, so that more may follow. */
import { Scanner } from './values.ts';

const PATH = new Set(['m', 'l', 'c', 'v', 'y', 'h', 're']);
const PAINTED = new Set(['S', 's', 'f', 'F', 'f*', 'B', 'B*', 'b', 'b*', 'n']);

const isOperand = (word: string): boolean =>
  /^[+\-.\d]/.test(word) || word === 'true' || word === 'false' || word === 'null';

/** @returns the place behind a string that begins at `at`; undefined where it has no end */
function stringEnd(text: string, at: number): number | undefined {
  let depth = 0;
  for (let place = at; place < text.length; place += 1) {
    const character = text.charAt(place);
    if (character === '\\') place += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return place + 1;
    }
  }
  return undefined;
}

/** @returns the place behind an image that lies within the content, from behind its `BI`; undefined where it has no end */
function imageEnd(text: string, at: number): number | undefined {
  const data = /[\s\0]ID[\s\0]/g;
  data.lastIndex = at;
  const begin = data.exec(text);
  if (begin === null) return undefined;
  const end = /[\s\0]EI(?=[\s\0]|$)/g;
  end.lastIndex = data.lastIndex;
  return end.exec(text) === null ? undefined : end.lastIndex;
}

class Content {
  readonly #text: string;
  readonly #scanner: Scanner;
  /** Of arrays and dictionaries, in which no word is an operator. */
  #depth = 0;
  /** Behind the last operator that is complete. */
  #end = 0;
  #hasMore = false;
  readonly #excess: number[] = [];
  #saved = 0;
  #marked = 0;
  #inText = false;
  #inPath = false;

  constructor(text: string) {
    this.#text = text;
    this.#scanner = new Scanner(text);
  }

  settled(): string {
    for (let at: number | undefined = 0; at !== undefined; ) at = this.#next(at);
    const closing = [
      ...(this.#inPath ? ['n'] : []),
      ...(this.#inText ? ['ET'] : []),
      ...Array.from({ length: this.#marked }, () => 'EMC'),
      ...Array.from({ length: this.#saved }, () => 'Q'),
    ];
    if (closing.length === 0 && this.#excess.length === 0 && !this.#hasMore) return this.#text;
    let kept = '';
    let from = 0;
    for (const at of this.#excess) {
      kept += this.#text.slice(from, at);
      from = this.#text.startsWith('EMC', at) ? at + 3 : at + 1;
    }
    return `${kept}${this.#text.slice(from, Math.max(from, this.#end))}\n${closing.join('\n')}\n`;
  }

  /** @returns the place behind the next part; undefined where it is not complete, or there is none */
  #next(from: number): number | undefined {
    const [text, scanner] = [this.#text, this.#scanner];
    scanner.at = from;
    scanner.skip();
    const { at } = scanner;
    const word = scanner.word();
    if (word !== '') return this.#word(word, at);
    const character = text.charAt(at);
    if (character === '') return undefined;
    this.#hasMore = true;
    if (character === '(') return stringEnd(text, at);
    const two = text.slice(at, at + 2);
    if (two === '<<' || character === '[') this.#depth += 1;
    else if (two === '>>' || character === ']') this.#depth = Math.max(0, this.#depth - 1);
    else if (character === '<') return text.indexOf('>', at) + 1 || undefined;
    else if (character === '/') {
      scanner.at = at + 1;
      scanner.word();
      return scanner.at;
    }
    return at + (two === '<<' || two === '>>' ? 2 : 1);
  }

  #word(word: string, at: number): number | undefined {
    const end = at + word.length;
    if (this.#depth > 0 || isOperand(word)) {
      this.#hasMore = true;
      return end;
    }
    const after = word === 'BI' ? imageEnd(this.#text, end) : end;
    this.#hasMore = after === undefined;
    if (after === undefined) return undefined;
    this.#operator(word, at);
    this.#end = after;
    return after;
  }

  #operator(word: string, at: number): void {
    if (PATH.has(word)) this.#inPath = true;
    else if (PAINTED.has(word)) this.#inPath = false;
    else if (word === 'q') this.#saved += 1;
    else if (word === 'BT') this.#inText = true;
    else if (word === 'ET') this.#inText = false;
    else if (word === 'BMC' || word === 'BDC') this.#marked += 1;
    else if (word === 'Q') {
      if (this.#saved === 0) this.#excess.push(at);
      else this.#saved -= 1;
    } else if (word === 'EMC') {
      if (this.#marked === 0) this.#excess.push(at);
      else this.#marked -= 1;
    }
  }
}

/**
 * Ends what the content leaves open, and takes out what ends more than it began and what is not complete.
 * @param text a byte for each character
 * @returns the same text where nothing is wrong with it
 */
export const settled = (text: string): string => new Content(text).settled();
