/**
 * The forms in which the tree is published: tiles of hashes (c2sp.org/tlog-tiles), and inclusion proofs as texts that can
 * be checked offline (c2sp.org/tlog-proof, version 1).
 */
import { HASH_SIZE, SUBTREE_WIDTH, nodeRoot, type TreeHashes } from './merkle-tree.ts';
import { fromBase64, fromDecimal } from './signed-note.ts';

export interface Tile {
  /** 0 for leaves; each hash of a level is the root of a full tile of the level below. */
  readonly level: number;
  /** The tile's number in its level. */
  readonly index: number;
  /** Hashes in it: 256, fewer in a partial tile. */
  readonly width: number;
}

const PATH = /^(?<level>0|[1-9]\d?)\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;
const HIGHEST_LEVEL = 63;

/**
 * Reads what follows `/tile/` in a path, such as `1/x001/x234/067.p/8`; undefined where it names no tile
 * of hashes. So it does for entry bundles (`entries/…`).
 */
export function parseTilePath(path: string): Tile | undefined {
  const { level: levelText, index: groups, width: widthText } = PATH.exec(path)?.groups ?? {};
  if (groups === undefined || groups.startsWith('x000')) return undefined;
  const level = Number(levelText);
  const index = Number(groups.replace(/[x/]/g, ''));
  const width = widthText === undefined ? SUBTREE_WIDTH : Number(widthText);
  const inRange = level <= HIGHEST_LEVEL && Number.isSafeInteger((index + 1) * SUBTREE_WIDTH);
  if (!inRange || (widthText !== undefined && width >= SUBTREE_WIDTH)) return undefined;
  return { level, index, width };
}

/**
 * The tile's hashes, one after the other; undefined where the tree of `size` leaves does not have them
 * all. A partial tile is still there when the tree has the full one.
 */
export function tile(
  hashes: TreeHashes,
  size: number,
  { level, index, width }: Tile,
): Buffer | undefined {
  const leaves = SUBTREE_WIDTH ** level;
  const from = index * SUBTREE_WIDTH;
  if (size > hashes.size || from + width > Math.floor(size / leaves)) return undefined;
  if (level === 0) return Buffer.concat(hashes.leaves(from, from + width));
  const numbers = Array.from({ length: width }, (_, offset) => from + offset);
  return Buffer.concat(numbers.map((n) => nodeRoot(hashes, n * leaves, (n + 1) * leaves)));
}

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
