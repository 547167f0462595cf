/** A checkpoint that was kept outside of the log: with it, a log that was rewritten or cut off is found out. */
import type { ParsedCheckpoint } from '../../transparency-log/checkpoint.ts';
import { isSignedBy, namesOf, readNote, type SignedCheckpoints } from './checkpoints.ts';
import { Broken, Difference, type Place } from './difference.ts';

export interface GivenNote {
  /** Its place, for messages. */
  readonly at: Place;
  readonly note: string;
}

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
