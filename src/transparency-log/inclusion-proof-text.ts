/** The text of an inclusion proof that can be checked offline (c2sp.org/tlog-proof, version 1). */
import { fromBase64, fromDecimal } from './encoding.ts';
import { HASH_SIZE } from './merkle-tree.ts';

export interface InclusionProof {
  /** The leaf's number, from 0. */
  readonly index: number;
  /** The hashes from the leaf's sibling up to the root's child. */
  readonly proof: readonly Buffer[];
  /** The signed note, with its cosignatures. */
  readonly checkpoint: string;
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';

export function formatProof({ index, proof, checkpoint }: InclusionProof): string {
  const hashes = proof.map((each) => each.toString('base64'));
  return [FIRST_LINE, `index ${index}`, ...hashes, '', checkpoint].join('\n');
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
