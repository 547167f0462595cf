/** The Merkle tree over the log: hashes and proofs of RFC 6962, section 2.1. */
import { hash } from 'node:crypto';

/** Bytes of a hash. */
export const HASH_SIZE = 32;
/** Leaves of a block, and whole subtrees of one level in a subtree of the next. */
export const SUBTREE_WIDTH = 256;

/** The hashes of a tree, as they are kept. */
export interface TreeHashes {
  /** Leaves that there are. */
  readonly size: number;
  /** The leaves' hashes from `from` up to, not including, `to`. */
  leaves(from: number, to: number): readonly Buffer[];
  /** The root of the whole subtree number `index` of 256^level leaves, where it is kept. */
  subtree(level: number, index: number): Buffer | undefined;
}

/** Twice as fast as with the encoding `buffer`, for which Node makes an ArrayBuffer each time. */
const sha256 = (data: string | Buffer): Buffer =>
  Buffer.from(hash('sha256', data, 'binary'), 'binary');

const EMPTY_ROOT = sha256('');
const LEAF_PREFIX = Buffer.from([0x00]);
/** Reused: hashing is synchronous, and a verification of a log makes one for each event. */
const node = Buffer.alloc(1 + 2 * HASH_SIZE, 0x01);

export function leafHash(entry: string | Buffer): Buffer {
  return sha256(typeof entry === 'string' ? `\0${entry}` : Buffer.concat([LEAF_PREFIX, entry]));
}

export function nodeHash(left: Buffer, right: Buffer): Buffer {
  if (left.length !== HASH_SIZE || right.length !== HASH_SIZE) {
    throw new RangeError(`A hash of the tree has ${HASH_SIZE} bytes.`);
  }
  left.copy(node, 1);
  right.copy(node, 1 + HASH_SIZE);
  return sha256(node);
}

/** The place where RFC 6962 splits a tree of `size` > 1 leaves: the largest power of two below `size`. */
function splitOf(size: number): number {
  let left = 1;
  while (left * 2 < size) left *= 2;
  return left;
}

/** The root over leaves, or over the roots of whole subtrees of one size. */
export function rootOf(hashes: readonly Buffer[]): Buffer {
  const frontier = new Frontier();
  for (const each of hashes) frontier.add(each);
  return frontier.root();
}

/** The level of a whole subtree of `count` leaves; undefined if `count` is not a power of 256. */
function levelOf(count: number): number | undefined {
  let level = 0;
  for (let width = 1; width <= count; width *= SUBTREE_WIDTH, level += 1) {
    if (width === count) return level;
  }
  return undefined;
}

/** The root over the leaves from `from` up to `to`, which are a node of the tree. */
export function nodeRoot(hashes: TreeHashes, from: number, to: number): Buffer {
  const count = to - from;
  const level = levelOf(count);
  // A subtree of this size is whole and in its place, because it is a node of the tree.
  const kept = level && hashes.subtree(level, from / count);
  if (kept) return kept;
  if (count <= SUBTREE_WIDTH) return rootOf(hashes.leaves(from, to));
  const middle = from + splitOf(count);
  return nodeHash(nodeRoot(hashes, from, middle), nodeRoot(hashes, middle, to));
}

function mustHave(hashes: TreeHashes, size: number): void {
  if (!isCount(size) || size > hashes.size) {
    throw new RangeError(`The tree has ${hashes.size} leaves; a size of ${size} is not in it.`);
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;

/** The root of the tree when it had `size` leaves. */
export function rootHash(hashes: TreeHashes, size: number): Buffer {
  mustHave(hashes, size);
  return nodeRoot(hashes, 0, size);
}

/**
 * The audit path of RFC 6962, section 2.1.1: from the leaf's sibling up to the root's child.
 * @param known nodes of the tree of that size, which the proofs of neighbouring leaves share
 */
export function inclusionProof(
  hashes: TreeHashes,
  index: number,
  size: number,
  known = new Map<string, Buffer>(),
): Buffer[] {
  mustHave(hashes, size);
  if (!isCount(index) || index >= size) {
    throw new RangeError(`A tree of ${size} leaves has no leaf ${index}.`);
  }
  const proof: Buffer[] = [];
  const add = (from: number, to: number): void => {
    const name = `${from}-${to}`;
    const root = known.get(name) ?? nodeRoot(hashes, from, to);
    known.set(name, root);
    proof.push(root);
  };
  let [from, to] = [0, size];
  while (to - from > 1) {
    const middle = from + splitOf(to - from);
    if (index < middle) {
      add(middle, to);
      to = middle;
    } else {
      add(from, middle);
      from = middle;
    }
  }
  return proof.toReversed();
}

/**
 * The consistency proof of RFC 6962, section 2.1.2, between the trees of `from` and `to` leaves. It is
 * empty where they are the same tree or the older one is empty.
 */
export function consistencyProof(hashes: TreeHashes, from: number, to: number): Buffer[] {
  mustHave(hashes, to);
  if (!isCount(from) || from > to) {
    throw new RangeError(`A tree of ${to} leaves does not go on from one of ${from}.`);
  }
  if (from === 0) return [];
  const proof: Buffer[] = [];
  let [start, end] = [0, to];
  while (from < end) {
    const middle = start + splitOf(end - start);
    if (from <= middle) {
      proof.push(nodeRoot(hashes, middle, end));
      end = middle;
    } else {
      proof.push(nodeRoot(hashes, start, middle));
      start = middle;
    }
  }
  // A node that starts the tree is the older root itself, which the verifier has.
  if (start > 0) proof.push(nodeRoot(hashes, start, end));
  return proof.toReversed();
}

const isOdd = (value: number): boolean => value % 2 === 1;
/** Sizes go beyond the 32 bits of `>>`. */
const half = (value: number): number => Math.floor(value / 2);

/** The tree over leaves that come one by one. It keeps one hash for each power of two in the size. */
export class Frontier {
  #size = 0;
  /** Roots of whole subtrees, the largest first. */
  readonly #roots: Buffer[] = [];

  /** @param subtrees of a tree of that size, which it goes on from */
  constructor(size = 0, subtrees: readonly Buffer[] = []) {
    this.#size = size;
    this.#roots.push(...subtrees);
  }

  get size(): number {
    return this.#size;
  }

  get subtrees(): readonly Buffer[] {
    return [...this.#roots];
  }

  add(leaf: Buffer): void {
    let root = leaf;
    for (let count = this.#size; isOdd(count); count = half(count)) {
      const left = this.#roots.pop();
      if (left) root = nodeHash(left, root);
    }
    this.#roots.push(root);
    this.#size += 1;
  }

  root(): Buffer {
    if (this.#size === 0) return EMPTY_ROOT;
    return this.#roots.reduceRight((right, left) => nodeHash(left, right));
  }
}
