/** Notes, checkpoints, proofs and tiles of ours, checked by golang.org/x/mod/sumdb. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { checkpointText, parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import {
  consistencyProof,
  inclusionProof,
  rootHash,
} from '../../src/transparency-log/merkle-tree.ts';
import { formatProof, parseTilePath, tile } from '../../src/transparency-log/published.ts';
import {
  openNote,
  signNote,
  verifiedBy,
  verifierKey,
} from '../../src/transparency-log/signed-note.ts';
import { lacks } from '../support/lacks.ts';
import { madeEntry, madeLeaves, treeOf } from '../support/merkle-trees.ts';
import { newSigner } from '../support/note-signer.ts';
import { parseProof } from '../support/tree-proofs.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAM = join(ROOT, 'test/transparency-log-tools/check.go');
/** The folder of Go's libraries on Debian and Ubuntu. */
const GOPATH = '/usr/share/gocode';
const LONGEST_MS = 120_000;

const ENV = {
  ...process.env,
  GO111MODULE: 'off',
  GOPATH,
  GOPROXY: 'off',
  GOCACHE: join(ROOT, 'node_modules/.cache/go'),
  // Without it no C compiler is needed.
  CGO_ENABLED: '0',
  NO_PROXY: '127.0.0.1',
};

const WITH_GO = {
  skip: lacks('golang.org/x/mod/sumdb', ['go', 'list', 'golang.org/x/mod/sumdb/tlog'], {
    env: ENV,
  }),
};

/** The statements of a log. Those that are given are checked. */
interface Claim {
  /** The log's verifier keys: one of them must have signed. */
  readonly keys: readonly string[];
  readonly origin: string;
  /** A signed note; left out where there is a proof, which has its own. */
  readonly checkpoint?: string;
  /** The text of an inclusion proof, and the canonical event that it is for. */
  readonly proof?: string;
  readonly event?: string;
  /** An earlier checkpoint, and the consistency proof to the other, in base64. */
  readonly older?: string;
  readonly consistency?: readonly string[];
  /** The URL before `/tile/`. All leaves are read from there, and the proofs compared with its own. */
  readonly tiles?: string;
}

/** Gives for each claim what Go finds wrong with it: an empty text for nothing. */
async function faultsByGo(claims: readonly Claim[]): Promise<string[]> {
  const stdout = await new Promise<string>((resolve, reject) => {
    const options = { env: ENV, timeout: LONGEST_MS, maxBuffer: 2 ** 26 };
    const child = execFile('go', ['run', PROGRAM], options, (error, output) =>
      error ? reject(error) : resolve(output),
    );
    child.stdin?.end(JSON.stringify(claims));
  });
  return JSON.parse(stdout) as string[];
}

const ORIGIN = 'pressledger/0123456789abcdef';
const [OLD_KEY, NEW_KEY, STRANGER] = [newSigner(ORIGIN), newSigner(ORIGIN), newSigner(ORIGIN)];
const keyOf = ({ name, publicKey }: typeof NEW_KEY): string => verifierKey(name, publicKey);
const keys = [keyOf(OLD_KEY), keyOf(NEW_KEY)];

const TREE = treeOf(madeLeaves(70_000));

const checkpointOf = (size: number, origin = ORIGIN, signers = [OLD_KEY, NEW_KEY]): string =>
  signNote(checkpointText({ origin, size, root: rootHash(TREE, size) }), signers);

/** All that the log says at `size` about one event and an earlier checkpoint. */
const claimOf = (size: number, index: number, from: number): Claim => ({
  keys,
  origin: ORIGIN,
  proof: formatProof({
    index,
    proof: inclusionProof(TREE, index, size),
    checkpoint: checkpointOf(size),
  }),
  event: madeEntry(index),
  older: checkpointOf(from),
  consistency: consistencyProof(TREE, from, size).map((hash) => hash.toString('base64')),
});

/** Serves `/SIZE/tile/…`; below `/damaged/` one bit of each tile's first hash is another. */
async function serveTiles(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const [, damaged, size, path = ''] =
      /^(\/damaged)?\/(\d+)\/tile\/(.+)$/.exec(request.url ?? '') ?? [];
    const wanted = parseTilePath(path);
    const hashes = wanted && tile(TREE, Number(size), wanted);
    if (hashes && damaged) hashes.writeUInt8(hashes.readUInt8() ^ 1);
    response.writeHead(hashes ? 200 : 404).end(hashes);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

void test('trees of many sizes', WITH_GO, async (t) => {
  const url = await serveTiles(t);
  const sizes = [1, 2, 3, 7, 8, 255, 256, 257, 511, 512, 513, 1000, 65_535, 65_536, 65_537, 70_000];
  const claims = sizes.flatMap((size) =>
    [0, 0.3, 0.7, 1].map((part) => {
      const index = Math.floor((size - 1) * part);
      return { ...claimOf(size, index, Math.max(1, Math.ceil(size * (1 - part)))), size };
    }),
  );
  const faults = await faultsByGo(
    claims.map(({ size, ...claim }) => ({ ...claim, tiles: `${url}/${size}` })),
  );
  t.strictSame(
    faults,
    Array.from(claims, () => ''),
  );
});

void test('damage is found', WITH_GO, async (t) => {
  const url = await serveTiles(t);
  const claim = claimOf(1000, 321, 600);
  const { proof = '', consistency = [] } = claim;
  const tiles = `${url}/1000`;
  const bare = { keys, origin: ORIGIN };
  const damaged: Record<string, Claim> = {
    'another event': { ...claim, event: madeEntry(322) },
    'another index': { ...claim, proof: proof.replace('index 321', 'index 322') },
    'a hash too few': { ...claim, proof: proof.replace(/(index 321\n).*\n/, '$1') },
    'a proof for another size': {
      ...claim,
      proof: formatProof({ ...parseProof(proof), checkpoint: checkpointOf(999) }),
    },
    'an older checkpoint of another size': { ...claim, older: checkpointOf(601) },
    'a consistency proof without its end': { ...claim, consistency: consistency.slice(0, -1) },
    'a consistency proof in another order': { ...claim, consistency: consistency.toReversed() },
    'a stranger’s key': { ...claim, keys: [keyOf(STRANGER)] },
    'another origin': { ...bare, checkpoint: checkpointOf(5, 'pressledger/other') },
    'damaged tiles': { ...claim, tiles: `${url}/damaged/1000` },
    'tiles of a smaller tree': { ...claim, tiles: `${url}/999` },
  };
  const all = { ...damaged, nothing: { ...claim, tiles } };
  const faults = await faultsByGo(Object.values(all));
  const found = Object.keys(all).filter((_, at) => faults[at] !== '');
  t.strictSame(found, Object.keys(damaged));
});

void test(
  'a checkpoint with any character changed is refused, here and by Go',
  WITH_GO,
  async (t) => {
    const checkpoint = checkpointOf(1234, ORIGIN, [NEW_KEY]);
    const places = Array.from(checkpoint, (_, at) => at);
    const notes = places.map((at) => {
      const other = checkpoint[at] === 'A' ? 'B' : 'A';
      return checkpoint.slice(0, at) + other + checkpoint.slice(at + 1);
    });
    const holds = (note: string): boolean => {
      try {
        return (
          verifiedBy(note, keys).length > 0 &&
          parseCheckpoint(openNote(note).text).origin === ORIGIN
        );
      } catch {
        return false;
      }
    };
    t.ok(holds(checkpoint));
    t.strictSame(notes.filter(holds), []);
    const faults = await faultsByGo(
      notes.map((note) => ({ keys, origin: ORIGIN, checkpoint: note })),
    );
    // Go does not read the last bits before the padding of base64.
    const padded = places.filter((at) => checkpoint.startsWith('=', at + 1));
    const accepted = places.filter((at) => faults[at] === '' && !padded.includes(at));
    t.strictSame(accepted, []);
  },
);
