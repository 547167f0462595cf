import fc from 'fast-check';
import { test } from 'tap';
import {
  consistencyProof,
  Frontier,
  inclusionProof,
  leafHash,
  nodeHash,
  rootHash,
  type TreeHashes,
} from '../../../src/transparency-log/merkle-tree.ts';
import {
  madeLeaves,
  plainConsistency,
  plainPath,
  plainRoot,
  treeOf,
} from '../../support/merkle-trees.ts';
import { verifyConsistency, verifyInclusion } from '../../support/tree-proofs.ts';

/** Leaves and roots that the implementations of Certificate Transparency are tested with. */
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const hex = (hashes: readonly Buffer[]): string[] => hashes.map((each) => each.toString('hex'));

const LEAVES = madeLeaves(70_000);
const TREE = treeOf(LEAVES);

/** Sizes near those where a tree, a block or a whole subtree ends, and any other. */
const sizes = (least: number, most: number): fc.Arbitrary<number> =>
  fc.oneof(
    fc.integer({ min: least, max: Math.min(most, 600) }),
    fc.integer({ min: least, max: most }),
    fc
      .tuple(fc.constantFrom(256, 512, 1024, 65_536), fc.integer({ min: -2, max: 2 }))
      .map(([size, away]) => Math.max(least, Math.min(most, size + away))),
  );

const damaged = (hash: Buffer): Buffer =>
  Buffer.from(hash.map((byte, at) => (at ? byte : byte ^ 1)));

void test('the known roots and proofs of Certificate Transparency', (t) => {
  const leaves = ENTRIES.map((entry) => leafHash(Buffer.from(entry, 'hex')));
  const tree = treeOf(leaves);
  t.strictSame(hex(ROOTS.map((_, size) => rootHash(tree, size))), ROOTS);
  t.strictSame(hex(inclusionProof(tree, 0, 8)), [
    '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
    '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
    '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
  ]);
  t.strictSame(hex(consistencyProof(tree, 6, 8)), [
    '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
    'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  ]);
  t.strictSame(leafHash('é'), leafHash(Buffer.from('é')), 'a text is hashed in UTF-8');
  t.end();
});

void test('proofs are those of the definition, and hold', (t) => {
  const place = sizes(1, 2000).chain((size) =>
    fc.record({
      size: fc.constant(size),
      index: fc.nat(size - 1),
      from: fc.integer({ min: 1, max: size }),
    }),
  );
  fc.assert(
    fc.property(place, ({ size, index, from }) => {
      const leaves = LEAVES.slice(0, size);
      const root = rootHash(TREE, size);
      t.strictSame(root, plainRoot(leaves));
      const path = inclusionProof(TREE, index, size);
      t.strictSame(path, plainPath(index, leaves));
      t.ok(verifyInclusion({ index, size, leaf: LEAVES[index] ?? root, proof: path, root }));
      const proof = consistencyProof(TREE, from, size);
      t.strictSame(proof, plainConsistency(from, leaves));
      t.ok(
        verifyConsistency({ from, to: size, fromRoot: rootHash(TREE, from), toRoot: root, proof }),
      );
    }),
  );
  t.end();
});

void test('the proofs of neighbouring leaves read the nodes that they share once', (t) => {
  const size = 69_000;
  const read: string[] = [];
  const tree: TreeHashes = {
    size: TREE.size,
    leaves: (from, to) => {
      read.push(`${from}-${to}`);
      return TREE.leaves(from, to);
    },
    subtree: (level, index) => {
      read.push(`${level}/${index}`);
      return TREE.subtree(level, index);
    },
  };
  const known = new Map<string, Buffer>();
  for (const index of [40_000, 40_001, 40_005, 40_127]) {
    const path = inclusionProof(tree, index, size, known);
    t.strictSame(path, inclusionProof(TREE, index, size));
  }
  const subtrees = read.filter((each) => each.includes('/'));
  t.equal(new Set(subtrees).size, subtrees.length);
  t.ok(subtrees.length > 0);
  t.end();
});

void test('large trees, with whole subtrees of two levels', (t) => {
  const frontier = new Frontier();
  for (const leaf of LEAVES) frontier.add(leaf);
  t.equal(frontier.size, LEAVES.length);
  t.strictSame(frontier.root(), rootHash(TREE, LEAVES.length));
  t.strictSame(frontier.root(), plainRoot(LEAVES));
  const place = sizes(1, LEAVES.length).chain((size) =>
    fc.record({ size: fc.constant(size), index: fc.nat(size - 1), from: fc.nat(size) }),
  );
  fc.assert(
    fc.property(place, ({ size, index, from }) => {
      const root = rootHash(TREE, size);
      const path = inclusionProof(TREE, index, size);
      t.ok(verifyInclusion({ index, size, leaf: LEAVES[index] ?? root, proof: path, root }));
      const proof = consistencyProof(TREE, from, size);
      const fromRoot = rootHash(TREE, from);
      t.ok(verifyConsistency({ from, to: size, fromRoot, toRoot: root, proof }));
    }),
  );
  t.end();
});

void test('a proof that was changed anywhere does not hold', (t) => {
  const place = sizes(2, 1500).chain((size) =>
    fc.record({
      size: fc.constant(size),
      index: fc.nat(size - 1),
      from: fc.integer({ min: 1, max: size - 1 }),
      at: fc.nat(12),
    }),
  );
  fc.assert(
    fc.property(place, ({ size, index, from, at }) => {
      const root = rootHash(TREE, size);
      const path = inclusionProof(TREE, index, size);
      const inclusion = { index, size, leaf: LEAVES[index] ?? root, proof: path, root };
      const bent = (proof: readonly Buffer[]): Buffer[] =>
        proof.map((hash, n) => (n === at % proof.length ? damaged(hash) : hash));
      for (const change of [
        { proof: bent(path) },
        { proof: path.slice(1) },
        { proof: path.slice(0, -1) },
        { proof: [...path, root] },
        { proof: path.map((hash) => hash.subarray(1)) },
        { leaf: damaged(inclusion.leaf) },
        { root: damaged(root) },
        { index: index === 0 ? 1 : index - 1 },
        { index: size },
        { index: -1 },
        { index: index + 0.5 },
        { size: Number.NaN },
      ]) {
        t.notOk(verifyInclusion({ ...inclusion, ...change }), Object.keys(change).join());
      }
      const proof = consistencyProof(TREE, from, size);
      const fromRoot = rootHash(TREE, from);
      const consistency = { from, to: size, fromRoot, toRoot: root, proof };
      for (const change of [
        { proof: bent(proof) },
        { proof: proof.slice(1) },
        { proof: proof.slice(0, -1) },
        { proof: [...proof, root] },
        { proof: [] },
        { fromRoot: damaged(fromRoot) },
        { toRoot: damaged(root) },
        { from: size },
        { from: size + 1 },
        { from: 0 },
        { from: -1 },
      ]) {
        t.notOk(verifyConsistency({ ...consistency, ...change }), Object.keys(change).join());
      }
    }),
    { numRuns: 40 },
  );
  t.end();
});

void test('the smallest trees', (t) => {
  const tree = treeOf(LEAVES.slice(0, 2));
  const [empty, one, two] = [0, 1, 2].map((size) => rootHash(tree, size));
  if (!empty || !one || !two) throw new Error('three roots');
  t.strictSame(new Frontier().root(), empty);
  t.strictSame(inclusionProof(tree, 0, 1), []);
  t.ok(verifyInclusion({ index: 0, size: 1, leaf: one, proof: [], root: one }));
  t.notOk(verifyInclusion({ index: 0, size: 0, leaf: empty, proof: [], root: empty }));
  for (const [from, fromRoot] of [empty, one, two].entries()) {
    t.ok(
      verifyConsistency({
        from,
        to: 2,
        fromRoot,
        toRoot: two,
        proof: consistencyProof(tree, from, 2),
      }),
    );
  }
  t.notOk(verifyConsistency({ from: 0, to: 2, fromRoot: one, toRoot: two, proof: [] }));
  t.notOk(verifyConsistency({ from: 2, to: 2, fromRoot: one, toRoot: two, proof: [] }));
  t.end();
});

void test('a tree refuses what it does not have', (t) => {
  const tree = treeOf(LEAVES.slice(0, 10));
  t.throws(() => rootHash(tree, 11), {
    message: 'The tree has 10 leaves; a size of 11 is not in it.',
  });
  for (const size of [-1, 0.5, Number.NaN]) t.throws(() => rootHash(tree, size), RangeError);
  for (const index of [-1, 5, 0.5]) t.throws(() => inclusionProof(tree, index, 5), RangeError);
  for (const from of [-1, 6, 0.5]) t.throws(() => consistencyProof(tree, from, 5), RangeError);
  t.throws(() => nodeHash(Buffer.alloc(31), Buffer.alloc(32)), RangeError);
  t.end();
});
