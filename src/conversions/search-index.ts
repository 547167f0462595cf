/**
 * The conversions of one account by their words, in memory: an inverted index. It is asked for beginnings of words, for
 * whole terms, for beginnings of ids and for a status, and answers with numbers of conversions.
 */

/** Terms are whole and exact; the mark keeps them apart from words. */
const TERM = '\0';
const ID_CHARACTERS = 'conv_'.length + 26;

/** Entries that are not sorted yet, and those of a sorted run: what is merged or looked through at once. */
const MOST_FRESH = 1_024;
const MOST_IN_RUN = 32_768;

/** Bytes that an entry takes beside its characters, and a posting. Measured, roughly. */
const ENTRY_BYTES = 190;
const POSTING_BYTES = 8;
/** Postings of one entry that are kept as bits too, once they are asked for. */
const MANY = 2_048;

/** A word or term; `head` is its newest posting. */
interface Entry {
  readonly word: string;
  head: number;
  postings: number;
  /** Where there are many postings: those up to `upTo` as bits, which are read in order and not all over the memory. */
  many?: { bits: Bits; upTo: number };
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
  readonly #entries = new Map<string, Entry>();
  /** Entries of words by their order, in runs that are each sorted. */
  readonly #runs: Entry[][] = [];
  #fresh: Entry[] = [];
  /** Pairs of a number and the posting before it. The first pair stands for none. */
  #postings = new Uint32Array(2 * 512);
  #posted = 1;
  #ids = Buffer.alloc(0);
  /** By number; 0 for a conversion that is not in the index. */
  #statuses = new Uint8Array(0);
  #entryBytes = 0;

  /** Bytes of memory, roughly. */
  get bytes(): number {
    const fixed = this.#ids.length + this.#statuses.length;
    return this.#entryBytes + this.#posted * POSTING_BYTES + fixed;
  }

  /** 0 if there is no such conversion. */
  statusOf(number: number): number {
    return this.#statuses[number] ?? 0;
  }

  setStatus(number: number, id: string, status: number): void {
    if (number >= this.#statuses.length) this.#grow(number);
    if (this.#statuses[number] === 0) this.#ids.write(id, number * ID_CHARACTERS, 'latin1');
    this.#statuses[number] = status;
  }

  addWords(number: number, words: Iterable<string>): void {
    for (const word of new Set(words))
      this.#post(this.#entries.get(word) ?? this.#word(word), number);
  }

  addTerm(number: number, text: string): void {
    const term = TERM + text;
    this.#post(this.#entries.get(term) ?? this.#entry(term), number);
  }

  find({ chunks, terms, idStart, status, first, last, offset, limit }: Question): Found {
    const found = this.#withStatus(status);
    const keep = (set: Bits): void => {
      for (let n = 0; n < found.length; n += 1) found[n] = (found[n] ?? 0) & (set[n] ?? 0);
    };
    for (const term of terms) keep(this.#withTerm(term));
    for (const chunk of chunks) keep(this.#withChunk(chunk));
    if (idStart !== undefined) keep(this.#withId(idStart, this.#none()));
    const numbers: number[] = [];
    let total = 0;
    for (let block = Math.min(last >>> 5, found.length - 1); block >= first >>> 5; block -= 1) {
      let bits = found[block] ?? 0;
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
  }

  #entry(word: string): Entry {
    const entry = { word, head: 0, postings: 0 };
    this.#entries.set(word, entry);
    this.#entryBytes += ENTRY_BYTES + 2 * word.length;
    return entry;
  }

  #word(word: string): Entry {
    const entry = this.#entry(word);
    this.#fresh.push(entry);
    if (this.#fresh.length >= MOST_FRESH) this.#sortFresh();
    return entry;
  }

  /** Adds the fresh ones to the last run, or begins another: no run takes long to merge. */
  #sortFresh(): void {
    const last = this.#runs.at(-1);
    const joins = last !== undefined && last.length + this.#fresh.length <= MOST_IN_RUN;
    const fresh = this.#fresh.toSorted((a, b) => (a.word < b.word ? -1 : 1));
    if (joins) this.#runs.pop();
    this.#runs.push(joins ? merged(last, fresh) : fresh);
    this.#fresh = [];
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
    entry.postings += 1;
    this.#posted += 1;
  }

  #none(): Bits {
    return new Uint32Array((this.#statuses.length >>> 5) + 1);
  }

  /** Those in the index that have the status, or all. */
  #withStatus(status: number | undefined): Bits {
    const found = this.#none();
    for (let number = 0; number < this.#statuses.length; number += 1) {
      const is = this.#statuses[number] ?? 0;
      if (is !== 0 && (status === undefined || is === status)) {
        found[number >>> 5] = (found[number >>> 5] ?? 0) | (1 << (number & 31));
      }
    }
    return found;
  }

  #take(entry: Entry, into: Bits): void {
    if (entry.postings < MANY) return this.#walk(entry.head, 0, into);
    const bits = this.#none();
    bits.set(entry.many?.bits ?? []);
    this.#walk(entry.head, entry.many?.upTo ?? 0, bits);
    entry.many = { bits, upTo: entry.head };
    for (let n = 0; n < into.length; n += 1) into[n] = (into[n] ?? 0) | (bits[n] ?? 0);
  }

  #walk(from: number, to: number, into: Bits): void {
    for (let at = from; at !== to; at = this.#postings[2 * at + 1] ?? 0) {
      const number = this.#postings[2 * at] ?? 0;
      const block = number >>> 5;
      into[block] = (into[block] ?? 0) | (1 << (number & 31));
    }
  }

  #withTerm(text: string): Bits {
    const found = this.#none();
    const entry = this.#entries.get(TERM + text);
    if (entry !== undefined) this.#take(entry, found);
    return found;
  }

  #withStart(start: string): Bits {
    const found = this.#none();
    for (const run of this.#runs) {
      for (let n = lowerBound(run, start); run[n]?.word.startsWith(start) === true; n += 1) {
        const entry = run[n];
        if (entry !== undefined) this.#take(entry, found);
      }
    }
    for (const entry of this.#fresh) if (entry.word.startsWith(start)) this.#take(entry, found);
    return found;
  }

  #withChunk({ words, idStart }: Chunk): Bits {
    const [first, ...others] = words.map((word) => this.#withStart(word));
    const found = first ?? this.#none();
    for (const set of others) {
      for (let n = 0; n < found.length; n += 1) found[n] = (found[n] ?? 0) & (set[n] ?? 0);
    }
    return idStart === undefined ? found : this.#withId(idStart, found);
  }

  /** Adds those whose id begins so. Each is looked at: an account's ids are only nearly in order. */
  #withId(start: string, found: Bits): Bits {
    const wanted = Buffer.from(start, 'latin1');
    if (wanted.length > ID_CHARACTERS) return found;
    // All begin alike, so the last character tells most of them apart.
    const end = wanted.length - 1;
    for (let number = 0; number < this.#statuses.length; number += 1) {
      const at = number * ID_CHARACTERS;
      if (this.#ids[at + end] !== wanted[end]) continue;
      let same = 0;
      while (same < end && this.#ids[at + same] === wanted[same]) same += 1;
      if (same < end) continue;
      found[number >>> 5] = (found[number >>> 5] ?? 0) | (1 << (number & 31));
    }
    return found;
  }
}

/** The place of the first entry that is not before the word. */
function lowerBound(run: readonly Entry[], word: string): number {
  let [low, high] = [0, run.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle]?.word ?? '') < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Two sorted lists as one. */
function merged(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  const all: Entry[] = [];
  let at = 0;
  for (const entry of a) {
    for (let next = b[at]; next && next.word < entry.word; next = b[at]) {
      all.push(next);
      at += 1;
    }
    all.push(entry);
  }
  return all.concat(b.slice(at));
}

/** Counts the bits that are set in 32. */
function bitsIn(bits: number): number {
  const twos = bits - ((bits >>> 1) & 0x5555_5555);
  const fours = (twos & 0x3333_3333) + ((twos >>> 2) & 0x3333_3333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f_0f0f, 0x0101_0101) >>> 24;
}
