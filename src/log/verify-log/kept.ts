/** What is kept beside the log, and is held against it: the hashes of the read models, and checkpoints. */
import type { LogTreeQueries } from '../../../projections/log-tree.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import type { ParsedCheckpoint } from '../../transparency-log/checkpoint.ts';
import { Frontier } from '../../transparency-log/merkle-tree.ts';
import { isSignedBy, namesOf, readNote, type SignedCheckpoints } from './checkpoints.ts';
import { Broken, Difference, type Place, placeOf } from './difference.ts';

/** Hashes read at once. */
const BATCH = 5_000;

/**
 * The hashes of the tree that the read models keep. They do not prove anything, but where a signed root follows from
 * them, they tell which event is not the one that was signed.
 */
export class KeptHashes {
  readonly #tree: LogTreeQueries;
  #first: { readonly index: number; readonly difference: Difference } | undefined;
  #batch: readonly Buffer[] = [];
  #from = 0;
  /** Leaves when this was opened. */
  readonly size: number;

  constructor(tree: LogTreeQueries) {
    this.#tree = tree;
    this.size = tree.hashes.size;
  }

  /** The index of the first event that has another hash there, and what is different. */
  get first(): { readonly index: number; readonly difference: Difference } | undefined {
    return this.#first;
  }

  compare(event: RecordedEvent, index: number, leaf: Buffer): void {
    if (this.#first !== undefined || index >= this.size) return;
    if (index >= this.#from + this.#batch.length) {
      this.#from = index;
      this.#batch = this.#tree.hashes.leaves(index, index + BATCH);
    }
    const kept = this.#batch[index - this.#from];
    if (kept === undefined || kept.equals(leaf)) return;
    const [expected, found] = this.#describe(event, index, kept, leaf);
    this.#first = { index, difference: new Difference(placeOf(event, index), expected, found) };
  }

  /** True where the kept hashes give that root: then they are the hashes that were signed. */
  haveRoot(size: number, root: Buffer): boolean {
    if (size > this.#tree.hashes.size) return false;
    const frontier = new Frontier();
    for (let from = 0; from < size; from += BATCH) {
      for (const leaf of this.#tree.hashes.leaves(from, Math.min(from + BATCH, size))) {
        frontier.add(leaf);
      }
    }
    return frontier.size === size && frontier.root().equals(root);
  }

  /**
   * @param size of the whole log @param covered the size of its newest checkpoint
   * @throws {Difference} the log is not the one that these are the hashes of
   */
  checkEnd(size: number, covered: number): void {
    if (this.#first !== undefined) {
      const { at, expected, found } = this.#first.difference;
      const blame =
        this.#first.index < covered
          ? 'the checkpoints agree with the log, so the read models are at fault: rebuild them'
          : 'no checkpoint covers it yet';
      throw new Difference(at, `${expected}, as the read models have it`, `${found} (${blame})`);
    }
    if (this.size <= size) return;
    const expected = `${this.size} events, as the read models have them`;
    throw new Difference({ index: size }, expected, `${size}: the log was truncated`);
  }

  #describe(
    event: RecordedEvent,
    index: number,
    kept: Buffer,
    leaf: Buffer,
  ): [expected: string, found: string] {
    const position = this.#tree.positionOf(index);
    const known = this.#tree.indexAt(event.position);
    if (known === index) {
      return [`an event with the hash ${base64(kept)}`, `one with ${base64(leaf)}: it was changed`];
    }
    const expected = `the event of position ${position}, with the hash ${base64(kept)}`;
    const found = `that of position ${event.position}`;
    if (known === undefined) return [expected, `${found}: it was put in`];
    return [expected, `${found}: ${known - index} before it are missing`];
  }
}

const base64 = (hash: Buffer): string => hash.toString('base64');

export interface GivenNote {
  /** Its place, for messages. */
  readonly at: Place;
  readonly note: string;
}

/** A checkpoint that was kept outside of the log: with it, a log that was rewritten or cut off is found out. */
export class KeptCheckpoint {
  readonly #given: GivenNote;
  readonly #checkpoint: ParsedCheckpoint;
  #root: Buffer | undefined;

  /** @throws {Difference} it is not a checkpoint */
  constructor(given: GivenNote) {
    this.#given = given;
    try {
      this.#checkpoint = readNote(given.note);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      throw new Difference(given.at, error.expected, error.found);
    }
  }

  get size(): number {
    return this.#checkpoint.size;
  }

  /** Remembers the root that the log has at the checkpoint's size. */
  see(size: number, root: Buffer): void {
    if (size === this.size) this.#root = root;
  }

  /**
   * @param size of the whole log
   * @throws {Difference} the log is not the one that it was signed for
   */
  check(size: number, { origin = 'no name', keys }: SignedCheckpoints): void {
    const { at, note } = this.#given;
    const { origin: signedOrigin, root, size: signedSize } = this.#checkpoint;
    const rootAt = signedSize === 0 ? root : this.#root;
    if (signedOrigin !== origin) {
      throw new Difference(at, `a checkpoint of this log, ${origin}`, `one of ${signedOrigin}`);
    }
    if (!isSignedBy(note, keys)) {
      throw new Difference(at, `a signature of ${namesOf(keys)}`, 'none that holds');
    }
    if (signedSize > size) {
      const found = `${size}: the log was truncated`;
      throw new Difference({ ...at, index: size }, `at least ${signedSize} events`, found);
    }
    if (rootAt?.equals(root) === true) return;
    const expected = `the root ${root.toString('base64')} of the first ${signedSize} events`;
    throw new Difference(at, expected, `${rootAt?.toString('base64')}: the log was rewritten`);
  }
}
