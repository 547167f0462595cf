/** Trees over made leaves, and the definitions of RFC 6962, section 2.1, word by word, to compare with. */
import { createHash } from 'node:crypto';
import {
  Frontier,
  leafHash,
  SUBTREE_WIDTH,
  type TreeHashes,
} from '../../src/transparency-log/merkle-tree.ts';

export const madeEntry = (number: number): string => `event ${number}`;

export const madeLeaves = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, number) => leafHash(madeEntry(number)));

/** Keeps the leaves and the roots of whole subtrees, as the projection does. */
export function treeOf(leaves: readonly Buffer[]): TreeHashes {
  const levels = [leaves];
  for (let below = leaves; below.length >= SUBTREE_WIDTH; levels.push(below)) {
    const level: Buffer[] = [];
    for (let end = SUBTREE_WIDTH; end <= below.length; end += SUBTREE_WIDTH) {
      const frontier = new Frontier();
      for (const each of below.slice(end - SUBTREE_WIDTH, end)) frontier.add(each);
      level.push(frontier.root());
    }
    below = level;
  }
  return {
    size: leaves.length,
    leaves: (from, to) => leaves.slice(from, to),
    subtree: (level, index) => levels[level]?.[index],
  };
}

/** RFC 6962's definitions, which compute everything each time. */
const sha256 = (...parts: readonly Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

function split(size: number): number {
  return 2 ** Array.from({ length: 32 }, (_, bit) => bit).findLastIndex((bit) => 2 ** bit < size);
}

const halves = <T>(list: readonly T[]): readonly [T[], T[]] => {
  const k = split(list.length);
  return [list.slice(0, k), list.slice(k)];
};

export function plainRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0] ?? sha256();
  const [left, right] = halves(leaves);
  return sha256(Buffer.of(1), plainRoot(left), plainRoot(right));
}

export function plainPath(index: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const [left, right] = halves(leaves);
  return index < left.length
    ? [...plainPath(index, left), plainRoot(right)]
    : [...plainPath(index - left.length, right), plainRoot(left)];
}

export function plainConsistency(size: number, leaves: readonly Buffer[], known = true): Buffer[] {
  if (size === leaves.length) return known ? [] : [plainRoot(leaves)];
  const [left, right] = halves(leaves);
  return size <= left.length
    ? [...plainConsistency(size, left, known), plainRoot(right)]
    : [...plainConsistency(size - left.length, right, false), plainRoot(left)];
}
