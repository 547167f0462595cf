import type { ServerResponse } from 'node:http';
import { type Test, test } from 'tap';
import type { Cosignable } from '../../../src/log/attestation/port.ts';
import { createWitness } from '../../../src/log/attestation/witness-client.ts';
import { checkpointText } from '../../../src/transparency-log/checkpoint.ts';
import { consistencyProof, rootHash } from '../../../src/transparency-log/merkle-tree.ts';
import {
  openNote,
  signNote,
  verifiedBy,
  verifierKey,
} from '../../../src/transparency-log/signed-note.ts';
import { madeLeaves, treeOf } from '../../support/merkle-trees.ts';
import { newSigner } from '../../support/note-signer.ts';
import { TestWitness } from '../../support/witness.ts';

const ORIGIN = 'pressledger/0123456789abcdef';
const running = new AbortController().signal;

/** A log whose checkpoints the test asks for, and a witness that knows it. */
async function setUp(t: Test) {
  const witness = await TestWitness.start(t);
  const signer = newSigner(ORIGIN);
  witness.logs.set(ORIGIN, [verifierKey(ORIGIN, signer.publicKey)]);
  const tree = treeOf(madeLeaves(1000));
  const checkpoint = (size: number, hashes = tree): Cosignable => ({
    size,
    note: signNote(checkpointText({ origin: ORIGIN, size, root: rootHash(hashes, size) }), [
      signer,
    ]),
    consistencyProof: (from) => consistencyProof(hashes, from, size),
  });
  return {
    witness,
    checkpoint,
    client: createWitness(witness),
    again: () => createWitness(witness),
  };
}

void test('a witness follows the log, from its first checkpoint on', async (t) => {
  const { witness, client, checkpoint } = await setUp(t);
  for (const size of [1, 2, 7, 256, 300, 1000]) {
    const { note, ...rest } = checkpoint(size);
    t.notOk(client.hasCosigned(note));
    const cosigned = `${note}${await client.cosign({ note, ...rest }, running)}\n`;
    t.strictSame(verifiedBy(cosigned, [witness.verifierKey]), [witness.verifierKey]);
    t.ok(client.hasCosigned(cosigned));
  }
  t.equal(witness.requests.length, 6, 'one request for each');
});

void test('a start without memory learns the size from the witness', async (t) => {
  const { witness, client, again, checkpoint } = await setUp(t);
  await client.cosign(checkpoint(300), running);
  witness.requests.length = 0;
  await again().cosign(checkpoint(555), running);
  t.match(witness.requests[0], /^old 0\n\npressledger/, 'no proof goes on from nothing');
  t.match(witness.requests[1], /^old 300\n[^\n]/);
  t.equal(witness.requests.length, 2);
  t.match(await again().cosign(checkpoint(555), running), /^— witness/, 'the same one again');
});

void test('a witness that was put back is followed from where it stands', async (t) => {
  const { witness, client, checkpoint } = await setUp(t);
  await client.cosign(checkpoint(300), running);
  const { size, root } = witness;
  await client.cosign(checkpoint(500), running);
  Object.assign(witness, { size, root });
  t.match(await client.cosign(checkpoint(1000), running), /^— witness/);
});

void test('another history of the log is not cosigned', async (t) => {
  const { client, again, checkpoint } = await setUp(t);
  await client.cosign(checkpoint(300), running);
  const other = treeOf(madeLeaves(1001).slice(1));
  await t.rejects(client.cosign(checkpoint(400, other), running), {
    message: /^it has cosigned a tree that this one does not go on from/,
  });
  await t.rejects(client.cosign(checkpoint(300, other), running), {
    message: /^it has cosigned another tree of 300 events/,
  });
  await t.rejects(again().cosign(checkpoint(299), running), {
    message: 'it has cosigned 300 events of the log, and this checkpoint has 299',
  });
});

void test('a witness that does not know the log, or its key, says what to do', async (t) => {
  const { witness, client, checkpoint } = await setUp(t);
  const message = /^it does not take the log’s key: its operator must add/;
  witness.logs.set(ORIGIN, [verifierKey(ORIGIN, newSigner(ORIGIN).publicKey)]);
  await t.rejects(client.cosign(checkpoint(1), running), { message });
  witness.logs.clear();
  await t.rejects(client.cosign(checkpoint(1), running), { message });
});

const NO_KEY = 'its answer has no cosignature of its key';

/** An answer to a witness's client, and what is said of it. */
const BAD: Readonly<
  Record<string, readonly [(response: ServerResponse, good: string) => void, string | RegExp]>
> = {
  'an empty line more': [(response, good) => response.end(`\n${good}`), NO_KEY],
  'a text of its own': [(response, good) => response.end(`another\n\n${good}`), NO_KEY],
  nothing: [(response) => response.end(), 'its answer has no lines of signatures'],
  garbage: [
    (response) => response.end('\0\x1b[2Jgarbage'),
    'its answer has no lines of signatures',
  ],
  'a page': [
    (response) => response.end('<!doctype html>\n<title>Sign in</title>\n'),
    'its answer has no lines of signatures',
  ],
  '409 without a size': [
    (response) => response.writeHead(409).end('many\n'),
    'it answered with status 409 and no size',
  ],
  '409 with a size beyond all numbers': [
    (response) => response.writeHead(409).end(`${'9'.repeat(30)}\n`),
    'it answered with status 409 and no size',
  ],
  'an error': [(response) => response.writeHead(500).end(), 'it answered with status 500'],
  'a way elsewhere': [
    (response) => response.writeHead(308, { location: 'http://127.0.0.1:1/' }).end(),
    'it answered with status 308',
  ],
  '20 MB': [
    (response) => response.end(Buffer.alloc(20 * 2 ** 20, '— ')),
    'its answer is longer than 65536 bytes',
  ],
  'the end of the connection': [
    (response) => response.destroy(),
    /^(other side closed|read ECONNRESET)$/,
  ],
};

for (const [name, [answer, message]] of Object.entries(BAD)) {
  void test(`a witness that answers with ${name} has not cosigned`, async (t) => {
    const { witness, client, checkpoint } = await setUp(t);
    const { note } = checkpoint(7);
    const good = `${witness.cosignature(openNote(note).text)}\n`;
    witness.instead = (_, response) => answer(response, good);
    await t.rejects(client.cosign(checkpoint(7), running), { message });
    witness.instead = undefined;
    t.match(await client.cosign(checkpoint(7), running), /^— witness/, 'it may do better later');
  });
}

void test('the cosignature must be one of the key that the settings name', async (t) => {
  const { witness, checkpoint } = await setUp(t);
  const other = await TestWitness.start(t);
  const client = createWitness({ verifierKey: other.verifierKey, url: witness.url });
  await t.rejects(client.cosign(checkpoint(7), running), { message: NO_KEY });
  const { text } = openNote(checkpoint(8).note);
  witness.instead = (_, response) => void response.end(`${other.cosignature(text)}\n`);
  await t.rejects(client.cosign(checkpoint(7), running), {
    message: 'its cosignature does not hold',
  });
  const { text: right } = openNote(checkpoint(7).note);
  const lines = [witness.cosignature(right), other.cosignature(right), witness.cosignature(text)];
  witness.instead = (_, response) => void response.end(lines.map((line) => `${line}\n`).join(''));
  t.equal(await client.cosign(checkpoint(7), running), lines[1], 'others beside it are left out');
});

void test('a witness that names another size each time is left', async (t) => {
  const { witness, client, checkpoint } = await setUp(t);
  witness.instead = (request, response) =>
    void response.writeHead(409).end(request.startsWith('old 1\n') ? '2\n' : '1\n');
  await t.rejects(client.cosign(checkpoint(7), running), {
    message: 'it names another size of the log each time',
  });
  t.equal(witness.requests.length, 2);
});

void test('a witness that never answers is left after the limit', async (t) => {
  const { witness, checkpoint } = await setUp(t);
  witness.instead = () => {};
  await t.rejects(createWitness(witness, 50).cosign(checkpoint(7), running), {
    message: 'it did not answer within 50 ms',
  });
});
