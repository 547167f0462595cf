/**
 * Verifies the proofs of a tree as those do who receive them (RFC 9162, section 2.1). The service itself only makes
 * proofs; `verifier/` and the dashboard have verifications of their own.
 */
import { HASH_SIZE, nodeHash, rootOf } from '../../src/transparency-log/merkle-tree.ts';
import { FIRST_LINE, type InclusionProof } from '../../src/transparency-log/published.ts';
import { fromBase64, fromDecimal } from '../../src/transparency-log/signed-note.ts';

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

interface Inclusion {
  readonly index: number;
  readonly size: number;
  readonly leaf: Buffer;
  readonly proof: readonly Buffer[];
  readonly root: Buffer;
}

interface Consistency {
  readonly from: number;
  readonly to: number;
  readonly fromRoot: Buffer;
  readonly toRoot: Buffer;
  readonly proof: readonly Buffer[];
}

const isOdd = (value: number): boolean => value % 2 === 1;
/** Sizes go beyond the 32 bits of `>>`. */
const half = (value: number): number => Math.floor(value / 2);
const areHashes = (values: readonly Buffer[]): boolean =>
  values.every(({ length }) => length === HASH_SIZE);

/** Says whether the proof leads from the leaf to the root (RFC 9162, section 2.1.3.2). */
export function verifyInclusion({ index, size, leaf, proof, root }: Inclusion): boolean {
  if (!isCount(index) || !isCount(size) || index >= size) return false;
  if (!areHashes([leaf, root, ...proof])) return false;
  let [place, last, reached] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(place) || place === last) {
      reached = nodeHash(sibling, reached);
      for (; !isOdd(place) && place > 0; place = half(place)) last = half(last);
    } else {
      reached = nodeHash(reached, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && reached.equals(root);
}

/** Says whether the newer tree begins with all of the older one (RFC 9162, section 2.1.4.2). */
export function verifyConsistency(trees: Consistency): boolean {
  const { from, to, fromRoot, toRoot, proof } = trees;
  if (!isCount(from) || !isCount(to) || from > to) return false;
  if (!areHashes([fromRoot, toRoot, ...proof])) return false;
  if (from === to) return proof.length === 0 && fromRoot.equals(toRoot);
  if (from === 0) return proof.length === 0 && fromRoot.equals(rootOf([]));
  let [place, last] = [from - 1, to - 1];
  for (; isOdd(place); place = half(place)) last = half(last);
  // A power of two: the older root is a node of the newer tree, and not repeated in the proof.
  const [first, ...rest] = place === 0 ? [fromRoot, ...proof] : proof;
  if (first === undefined) return false;
  let [older, newer] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(place) || place === last) {
      [older, newer] = [nodeHash(sibling, older), nodeHash(sibling, newer)];
      for (; !isOdd(place) && place > 0; place = half(place)) last = half(last);
    } else {
      newer = nodeHash(newer, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && older.equals(fromRoot) && newer.equals(toRoot);
}

/**
 * Reads a proof. The checkpoint is neither read nor verified here. An `extra` line is left out: nothing
 * vouches for it, and ours have none.
 * @throws {Error} it is not a proof
 */
export function parseProof(text: string): InclusionProof {
  const end = text.indexOf('\n\n');
  if (end < 0) throw new Error('The proof has no empty line before a checkpoint.');
  const [first, ...lines] = text.slice(0, end).split('\n');
  if (first !== FIRST_LINE) throw new Error(`The proof does not begin with ${FIRST_LINE}.`);
  if (lines[0]?.startsWith('extra ')) {
    if (!fromBase64(lines[0].slice('extra '.length))) {
      throw new Error('The extra line of the proof is not base64.');
    }
    lines.shift();
  }
  const [indexLine, ...hashLines] = lines;
  const index = indexLine?.startsWith('index ')
    ? fromDecimal(indexLine.slice('index '.length))
    : undefined;
  if (index === undefined) throw new Error('The proof does not say the index of its entry.');
  const proof = hashLines.map((line) => {
    const hash = fromBase64(line);
    if (hash?.length !== HASH_SIZE) throw new Error('A line of the proof is not a hash.');
    return hash;
  });
  return { index, proof, checkpoint: text.slice(end + 2) };
}
