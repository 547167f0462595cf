/** Makes a sequence of documents whose last one is printed wrongly as short as it can be. */
import type { Part } from './document-parts.ts';
import type { Parts } from './random-documents.ts';

/** Resolves to true where the last document is printed in another way than alone. */
export type Differs = (sequence: readonly Parts[]) => Promise<boolean>;

const without = <T>(list: readonly T[], from: number, count: number): T[] =>
  list.toSpliced(from, count);

/**
 * Leaves out documents, many at once at first, and then parts of those that are left.
 * @param until a time by `performance.now()`: the shortest sequence found until then counts
 * @returns undefined where the whole sequence, printed again, shows no difference
 */
export async function shrinkSequence(
  sequence: readonly Parts[],
  differs: Differs,
  until: number,
): Promise<readonly Parts[] | undefined> {
  const isLate = (): boolean => performance.now() >= until;
  if (!(await differs(sequence))) return undefined;
  let least = sequence;
  // It is mostly one of the documents just before the last one.
  for (let count = 2; count < sequence.length && least === sequence && !isLate(); count *= 2) {
    const end = sequence.slice(-count);
    if (await differs(end)) least = end;
  }
  for (let count = Math.max(1, least.length >> 1); ; count >>= 1) {
    for (let from = 0; from + count < least.length && !isLate(); ) {
      const shorter = without(least, from, count);
      if (await differs(shorter)) least = shorter;
      else from += count;
    }
    if (count <= 1) break;
  }
  for (let index = 0; index < least.length; index += 1) {
    const parts = least[index] ?? [];
    least = await shrinkDocument(parts, least, index, differs, isLate);
  }
  return least;
}

async function shrinkDocument(
  parts: Parts,
  sequence: readonly Parts[],
  index: number,
  differs: Differs,
  isLate: () => boolean,
): Promise<readonly Parts[]> {
  let left: readonly Part[] = parts;
  let least = sequence;
  for (let count = Math.max(1, left.length >> 1); ; count >>= 1) {
    for (let from = 0; from < left.length && !isLate(); ) {
      const fewer = without(left, from, count);
      const smaller = least.with(index, fewer);
      if (await differs(smaller)) [left, least] = [fewer, smaller];
      else from += count;
    }
    if (count <= 1) return least;
  }
}
