/**
 * The forms in which the tree is published: tiles of hashes (c2sp.org/tlog-tiles), and inclusion proofs as texts that can
 * be checked offline (c2sp.org/tlog-proof, version 1).
 */
import { nodeRoot, SUBTREE_WIDTH, type TreeHashes } from './merkle-tree.ts';

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

export const FIRST_LINE = 'c2sp.org/tlog-proof@v1';

export function formatProof({ index, proof, checkpoint }: InclusionProof): string {
  const hashes = proof.map((each) => each.toString('base64'));
  return [FIRST_LINE, `index ${index}`, ...hashes, '', checkpoint].join('\n');
}
