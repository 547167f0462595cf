import { test } from 'tap';
import { checkpointText, parseCheckpoint } from '../../../src/transparency-log/checkpoint.ts';
import { inclusionProof, rootHash, rootOf } from '../../../src/transparency-log/merkle-tree.ts';
import { formatProof, parseTilePath, tile } from '../../../src/transparency-log/published.ts';
import { madeLeaves, treeOf } from '../../support/merkle-trees.ts';
import { parseProof } from '../../support/tree-proofs.ts';

const LEAVES = madeLeaves(70_000);
const TREE = treeOf(LEAVES);
const ROOT = 'CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=';
const CHECKPOINT = `example.com/behind-the-sofa\n20852163\n${ROOT}\n`;

void test('a checkpoint is read as it was written', (t) => {
  const checkpoint = parseCheckpoint(CHECKPOINT);
  t.equal(checkpoint.origin, 'example.com/behind-the-sofa');
  t.equal(checkpoint.size, 20_852_163);
  t.equal(checkpointText(checkpoint), CHECKPOINT);
  t.strictSame(parseCheckpoint(`${CHECKPOINT}more\n`).extensions, ['more']);
  for (const text of [
    '',
    CHECKPOINT.slice(0, -1),
    `${CHECKPOINT}\n`,
    `\n1\n${ROOT}\n`,
    'origin\n1\n',
    ...['', '01', '+1', '1.0', '1e3', '-1', ' 1', '9007199254740993'].map(
      (size) => `origin\n${size}\n${ROOT}\n`,
    ),
    ...['', 'AAAA', `${ROOT}AAAA`, ROOT.replace('I=', 'J=')].map((root) => `origin\n1\n${root}\n`),
  ]) {
    t.throws(() => parseCheckpoint(text), { message: /checkpoint/ }, JSON.stringify(text));
  }
  t.throws(() => checkpointText({ ...checkpoint, origin: 'two\nlines' }));
  t.throws(() => checkpointText({ ...checkpoint, size: 0.5 }));
  t.throws(() => checkpointText({ ...checkpoint, root: Buffer.alloc(31) }));
  t.end();
});

void test('an inclusion proof is read as it was written', (t) => {
  const checkpoint = `${CHECKPOINT}\n— name AAAA\n`;
  for (const size of [1, 2, 1000]) {
    const proof = { index: size - 1, proof: inclusionProof(TREE, size - 1, size), checkpoint };
    t.strictSame(parseProof(formatProof(proof)), proof);
  }
  const text = formatProof({ index: 6, proof: inclusionProof(TREE, 6, 9), checkpoint });
  t.ok(text.startsWith('c2sp.org/tlog-proof@v1\nindex 6\n'));
  t.strictSame(parseProof(text.replace('index', 'extra AAAA\nindex')), parseProof(text));
  for (const wrong of [
    '',
    'c2sp.org/tlog-proof@v1',
    'c2sp.org/tlog-proof@v1\n\n',
    text.replace('@v1', '@v2'),
    text.replace('index 6', 'index 06'),
    text.replace('index 6', 'index x'),
    text.replace('index 6\n', ''),
    text.replace('index', 'extra A\nindex'),
    text.replace('index 6', 'index 6\nAAAA'),
    text.replaceAll('\n\n', '\n'),
    text.replaceAll('\n', '\r\n'),
  ]) {
    t.throws(() => parseProof(wrong), { message: /proof/ }, JSON.stringify(wrong.slice(0, 60)));
  }
  t.end();
});

void test('paths of tiles', (t) => {
  t.strictSame(parseTilePath('0/000'), { level: 0, index: 0, width: 256 });
  t.strictSame(parseTilePath('1/x001/x234/067'), { level: 1, index: 1_234_067, width: 256 });
  t.strictSame(parseTilePath('63/x001/000.p/255'), { level: 63, index: 1000, width: 255 });
  for (const path of [
    '',
    '0',
    '64/000',
    '100/000',
    '00/000',
    '-1/000',
    '0/0',
    '0/0000',
    '0/001/234',
    '0/x001',
    '0/x000/001',
    '0/x999/x999/x999/x999/x999/999',
    '0/x035/x184/x372/x088/832',
    '0/000.p/0',
    '0/000.p/01',
    '0/000.p/256',
    '0/000.p/',
    '0/000/',
    '/0/000',
    '0/000\n',
    'entries/000',
    'data/000',
  ]) {
    t.equal(parseTilePath(path), undefined, path);
  }
  t.end();
});

void test('the tiles of the example of the standard', (t) => {
  // 70,000 leaves: 273 full tiles and one of 112; 1 full tile and one of 17; one of 1.
  const widths = (size: number, level: number, index: number): number | undefined =>
    [256, ...Array.from({ length: 255 }, (_, less) => 255 - less)].find((width) =>
      tile(TREE, size, { level, index, width }),
    );
  t.strictSame(
    [272, 273, 274].map((index) => widths(70_000, 0, index)),
    [256, 112, undefined],
  );
  t.strictSame(
    [0, 1, 2].map((index) => widths(70_000, 1, index)),
    [256, 17, undefined],
  );
  t.strictSame(
    [0, 1].map((index) => widths(70_000, 2, index)),
    [1, undefined],
  );
  t.strictSame([widths(256, 0, 0), widths(256, 1, 0), widths(255, 1, 0)], [256, 1, undefined]);
  t.equal(widths(70_000, 63, 0), undefined);
  t.equal(tile(TREE, 70_001, { level: 0, index: 0, width: 1 }), undefined, 'beyond the tree');

  t.strictSame(
    tile(TREE, 70_000, { level: 0, index: 273, width: 112 }),
    Buffer.concat(LEAVES.slice(273 * 256)),
  );
  const top = tile(TREE, 70_000, { level: 2, index: 0, width: 1 });
  t.strictSame(top, rootHash(TREE, 65_536));
  const bare = { ...TREE, subtree: () => undefined };
  t.strictSame(tile(bare, 70_000, { level: 2, index: 0, width: 1 }), top, 'without kept subtrees');
  const below = tile(TREE, 70_000, { level: 1, index: 0, width: 256 }) ?? Buffer.alloc(0);
  const hashes = Array.from({ length: 256 }, (_, at) => below.subarray(at * 32, at * 32 + 32));
  t.strictSame(rootOf(hashes), top);
  t.end();
});
