/** Words in their order, to which others are added: in sorted runs, so that no addition takes long. */

/** Words that are not sorted yet, and those of a sorted run: what is merged or looked through at once. */
const MOST_FRESH = 1_024;
const MOST_IN_RUN = 32_768;

interface Sorted {
  readonly word: string;
}

export class SortedWords<Entry extends Sorted> {
  readonly #runs: Entry[][] = [];
  #fresh: Entry[] = [];

  /** @param entry of a word that it does not have yet */
  add(entry: Entry): void {
    this.#fresh.push(entry);
    if (this.#fresh.length >= MOST_FRESH) this.#sortFresh();
  }

  /** Those whose words begin so, in any order. */
  *beginningWith(start: string): Generator<Entry> {
    for (const run of this.#runs) {
      for (let n = lowerBound(run, start); n < run.length; n += 1) {
        const entry = run[n];
        if (entry?.word.startsWith(start) !== true) break;
        yield entry;
      }
    }
    for (const entry of this.#fresh) if (entry.word.startsWith(start)) yield entry;
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
}

/** The place of the first entry that is not before the word. */
function lowerBound(run: readonly Sorted[], word: string): number {
  let [low, high] = [0, run.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle]?.word ?? '') < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Two sorted lists as one. */
function merged<Entry extends Sorted>(a: readonly Entry[], b: readonly Entry[]): Entry[] {
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
