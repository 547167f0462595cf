/**
 * The conversions of one account by their words, in memory: an inverted index. It is asked for beginnings of words, for
 * whole terms, for beginnings of ids and for a status, and answers with numbers of conversions.
 */
import { SortedWords } from './sorted-words.ts';

const ID_CHARACTERS = 'conv_'.length + 26;

/** Bytes that an entry takes beside its characters, and a posting. Measured, roughly. */
const ENTRY_BYTES = 190;
const POSTING_BYTES = 8;
/** What at least so many conversions have is kept as bits, once it was asked for. */
const MANY = 1_024;
/** Sets of bits that are kept of each kind: the one that was asked for longest ago goes first. */
const MOST_KEPT = 32;

/** A word or term; `head` is its newest posting. */
interface Entry {
  readonly word: string;
  head: number;
}

/** Several words that stand for one that was asked for, or the beginning of an id that it may be. */
export interface Chunk {
  /** Each must be the beginning of a word. */
  readonly words: readonly string[];
  readonly idStart?: string | undefined;
}

export interface Question {
  readonly chunks: readonly Chunk[];
  readonly terms: readonly string[];
  readonly idStart?: string | undefined;
  readonly status?: number | undefined;
  /** The numbers that are looked at, both inclusive. */
  readonly first: number;
  readonly last: number;
  readonly offset: number;
  readonly limit: number;
}

export interface Found {
  /** Those of the page, newest first. */
  readonly numbers: readonly number[];
  /** All that match. */
  readonly total: number;
}

/** One bit for each number. */
type Bits = Uint32Array;

export class SearchIndex {
  readonly #words = new Map<string, Entry>();
  readonly #sorted = new SortedWords<Entry>();
  /** Terms are whole and exact. */
  readonly #terms = new Map<string, Entry>();
  /** Pairs of a number and the posting before it. The first pair stands for none. */
  #postings = new Uint32Array(2 * 512);
  #posted = 1;
  #ids = Buffer.alloc(0);
  /** By number; 0 for a conversion that is not in the index. */
  #statuses = new Uint8Array(0);
  /** By status, the conversions that have it; at 0 those that have any. */
  readonly #withStatus: Bits[] = [];
  /** By the beginning of words or of ids, and by term: the one that was asked for last is the last. */
  readonly #kept = {
    words: new Map<string, Bits>(),
    ids: new Map<string, Bits>(),
    terms: new Map<string, Bits>(),
  };
  #entryBytes = 0;
  readonly #many: number;

  /** @param many what so many conversions have is kept as bits, once it was asked for, and kept up to date */
  constructor(many = MANY) {
    this.#many = many;
  }

  /** Bytes of memory, roughly. */
  get bytes(): number {
    const { words, ids, terms } = this.#kept;
    const sets = words.size + ids.size + terms.size + this.#withStatus.length;
    const fixed = this.#ids.length + this.#statuses.length + sets * (this.#statuses.length >>> 3);
    return this.#entryBytes + this.#posted * POSTING_BYTES + fixed;
  }

  /** 0 if there is no such conversion. */
  statusOf(number: number): number {
    return this.#statuses[number] ?? 0;
  }

  /** Comes before the words and terms of a conversion. */
  setStatus(number: number, id: string, status: number): void {
    if (number >= this.#statuses.length) this.#grow(number);
    const before = this.statusOf(number);
    if (before === status) return;
    if (before === 0) {
      this.#ids.write(id, number * ID_CHARACTERS, 'latin1');
      put(this.#having(0), number);
      note(this.#kept.ids, id, number);
    } else remove(this.#having(before), number);
    put(this.#having(status), number);
    this.#statuses[number] = status;
  }

  addWords(number: number, words: Iterable<string>): void {
    for (const word of new Set(words)) {
      let entry = this.#words.get(word);
      if (entry === undefined) {
        entry = this.#entry(this.#words, word);
        this.#sorted.add(entry);
      }
      this.#post(entry, number);
      note(this.#kept.words, word, number);
    }
  }

  addTerm(number: number, term: string): void {
    this.#post(this.#terms.get(term) ?? this.#entry(this.#terms, term), number);
    const kept = this.#kept.terms.get(term);
    if (kept !== undefined) put(kept, number);
  }

  find({ chunks, terms, idStart, status, first, last, offset, limit }: Question): Found {
    const found = this.#having(status ?? 0).slice();
    for (const term of terms) intersect(found, this.#withTerm(term));
    for (const chunk of chunks) intersect(found, this.#withChunk(chunk));
    if (idStart !== undefined) intersect(found, this.#withId(idStart));
    const numbers: number[] = [];
    let total = 0;
    for (let block = Math.min(last >>> 5, found.length - 1); block >= first >>> 5; block -= 1) {
      let bits = found[block] ?? 0;
      if (bits === 0) continue;
      if (block === last >>> 5) bits &= 0xffff_ffff >>> (31 - (last & 31));
      if (block === first >>> 5) bits &= 0xffff_ffff << (first & 31);
      const count = bitsIn(bits);
      // Only those of the page are looked at one by one.
      if (total + count > offset && numbers.length < limit) {
        for (let at = total; bits !== 0 && numbers.length < limit; at += 1) {
          const bit = 31 - Math.clz32(bits);
          bits &= ~(1 << bit);
          if (at >= offset) numbers.push(block * 32 + bit);
        }
      }
      total += count;
    }
    return { numbers, total };
  }

  #grow(number: number): void {
    const room = Math.max(512, number + 1 + (number >>> 2));
    const statuses = new Uint8Array(room);
    statuses.set(this.#statuses);
    const ids = Buffer.alloc(room * ID_CHARACTERS);
    this.#ids.copy(ids);
    [this.#statuses, this.#ids] = [statuses, ids];
    const grown = (bits: Bits): Bits => {
      const all = this.#none();
      all.set(bits);
      return all;
    };
    for (const [n, bits] of this.#withStatus.entries()) this.#withStatus[n] = grown(bits);
    for (const kept of Object.values(this.#kept)) {
      for (const [name, bits] of kept) kept.set(name, grown(bits));
    }
  }

  #none(): Bits {
    return new Uint32Array((this.#statuses.length >>> 5) + 1);
  }

  #having(status: number): Bits {
    while (this.#withStatus.length <= status) this.#withStatus.push(this.#none());
    return this.#withStatus[status] ?? this.#none();
  }

  #entry(entries: Map<string, Entry>, word: string): Entry {
    const entry = { word, head: 0 };
    entries.set(word, entry);
    this.#entryBytes += ENTRY_BYTES + 2 * word.length;
    return entry;
  }

  #post(entry: Entry, number: number): void {
    if (2 * this.#posted >= this.#postings.length) {
      const more = new Uint32Array(2 * this.#postings.length);
      more.set(this.#postings);
      this.#postings = more;
    }
    this.#postings[2 * this.#posted] = number;
    this.#postings[2 * this.#posted + 1] = entry.head;
    entry.head = this.#posted;
    this.#posted += 1;
  }

  /** What was kept, or is found now. It is not to be changed. */
  #keep(kept: Map<string, Bits>, name: string, find: (into: Bits) => void): Bits {
    let bits = kept.get(name);
    if (bits === undefined) {
      bits = this.#none();
      find(bits);
      if (countOf(bits) < this.#many) return bits;
    }
    kept.delete(name);
    kept.set(name, bits);
    const [oldest] = kept.keys();
    if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
    return bits;
  }

  #walk(entry: Entry, into: Bits): void {
    for (let at = entry.head; at !== 0; at = this.#postings[2 * at + 1] ?? 0) {
      put(into, this.#postings[2 * at] ?? 0);
    }
  }

  #withTerm(term: string): Bits {
    return this.#keep(this.#kept.terms, term, (into) => {
      const entry = this.#terms.get(term);
      if (entry !== undefined) this.#walk(entry, into);
    });
  }

  #withStart(start: string): Bits {
    return this.#keep(this.#kept.words, start, (into) => {
      for (const entry of this.#sorted.beginningWith(start)) this.#walk(entry, into);
    });
  }

  #withChunk({ words, idStart }: Chunk): Bits {
    const [first, ...others] = words.map((word) => this.#withStart(word));
    const found = first?.slice() ?? this.#none();
    for (const set of others) intersect(found, set);
    if (idStart === undefined) return found;
    const byId = this.#withId(idStart);
    for (let n = 0; n < found.length; n += 1) found[n] = (found[n] ?? 0) | (byId[n] ?? 0);
    return found;
  }

  /** Each id is looked at: an account's ids are only nearly in order. */
  #withId(start: string): Bits {
    return this.#keep(this.#kept.ids, start, (found) => {
      const wanted = Buffer.from(start, 'latin1');
      if (wanted.length > ID_CHARACTERS) return;
      // All begin alike, so the last character tells most of them apart.
      const end = wanted.length - 1;
      for (let number = 0; number < this.#statuses.length; number += 1) {
        const at = number * ID_CHARACTERS;
        if (this.#ids[at + end] !== wanted[end]) continue;
        let same = 0;
        while (same < end && this.#ids[at + same] === wanted[same]) same += 1;
        if (same === end) put(found, number);
      }
    });
  }
}

/** Adds a conversion to what is kept of the beginnings of its new word, or of its id. */
function note(kept: ReadonlyMap<string, Bits>, text: string, number: number): void {
  for (const [start, bits] of kept) if (text.startsWith(start)) put(bits, number);
}

function put(bits: Bits, number: number): void {
  const block = number >>> 5;
  bits[block] = (bits[block] ?? 0) | (1 << (number & 31));
}

function remove(bits: Bits, number: number): void {
  const block = number >>> 5;
  bits[block] = (bits[block] ?? 0) & ~(1 << (number & 31));
}

function intersect(found: Bits, set: Bits): void {
  for (let n = 0; n < found.length; n += 1) found[n] = (found[n] ?? 0) & (set[n] ?? 0);
}

function countOf(set: Bits): number {
  let count = 0;
  for (const bits of set) count += bitsIn(bits);
  return count;
}

/** Counts the bits that are set in 32. */
function bitsIn(bits: number): number {
  const twos = bits - ((bits >>> 1) & 0x5555_5555);
  const fours = (twos & 0x3333_3333) + ((twos >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
