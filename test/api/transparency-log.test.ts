/** The published log, read as anybody's tools read it, and the proofs of an account's conversions. */
import { test } from 'tap';
import type { ConversionProof } from '../../client/src/types.ts';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import { leafHash, rootOf } from '../../src/transparency-log/merkle-tree.ts';
import { openNote, verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { type Api, BASE, refusal, startApi } from '../support/api.ts';
import { parseProof, verifyConsistency, verifyInclusion } from '../support/tree-proofs.ts';

const checkpointOf = async (api: Api) => {
  const { text: note } = await api.call('GET', '/tlog/checkpoint');
  return { note, ...parseCheckpoint(openNote(note).text) };
};

async function tileOf(api: Api, path: string) {
  const response = await fetch(`${api.origin}/tlog/tile/${path}`);
  return { response, hashes: Buffer.from(await response.arrayBuffer()) };
}

const typesOf = ({ entries }: ConversionProof) =>
  entries.map(({ event }) => (JSON.parse(event) as { type: string }).type);

void test('the checkpoint is that of the tiles, and is signed by the key', async (t) => {
  const api = await startApi(t);
  await api.newAccount();
  const answer = await api.call('GET', '/tlog/checkpoint');
  t.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
  t.equal(answer.headers.get('cache-control'), 'no-cache');
  const { note, origin, size, root } = await checkpointOf(api);
  const { text: keys, headers } = await api.call('GET', '/tlog/key');
  t.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
  const [key = '', ...others] = keys.trimEnd().split('\n');
  t.equal(others.length, 0);
  t.ok(key.startsWith(`${origin}+`));
  t.strictSame(verifiedBy(note, [key]), [key]);

  const { response, hashes } = await tileOf(api, `0/000.p/${size}`);
  t.equal(response.headers.get('content-type'), 'application/octet-stream');
  t.match(response.headers.get('cache-control'), /max-age=\d{8}, immutable/);
  const leaves = Array.from({ length: size }, (_, n) => hashes.subarray(32 * n, 32 * n + 32));
  t.equal(hashes.length, 32 * size);
  t.ok(rootOf(leaves).equals(root));
});

void test('what is not a tile of the published log is not found', async (t) => {
  const api = await startApi(t);
  await api.newAccount();
  const { size } = await checkpointOf(api);
  await api.newAccount();
  const paths = [`0/000.p/${size + 1}`, '0/000', '0/001.p/1', '1/000.p/1', '64/000', '00/000'];
  const names = ['entries/000', 'entries/000.p/1', '0/000.p/0', '0/000.p/256', '0/1', '', '0'];
  for (const path of [...paths, ...names, '0/000.p/1/', '0/%2e%2e', '0//000.p/1']) {
    const answer = await api.call('GET', `/tlog/tile/${path}`);
    t.strictSame(refusal(answer), { status: 404, error: 'not_found' }, path);
    t.equal(answer.headers.get('cache-control'), 'no-store', path);
  }
});

void test('an older checkpoint is proven to be the beginning of a newer one', async (t) => {
  const api = await startApi(t);
  const { key, id: accountId } = await api.newAccount();
  const older = await checkpointOf(api);
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  await api.complete(accountId, id, Buffer.from('%PDF-1.7'));
  t.equal((await checkpointOf(api)).note, older.note, 'reading it signs nothing');
  await api.call('GET', `${BASE}/conversions/${id}/proof/`, { key });
  const newer = await checkpointOf(api);
  const consistency = `/tlog/consistency?from=${older.size}&to=${newer.size}`;
  const { body } = await api.call('GET', consistency);
  t.match(body, { from: older.size, to: newer.size });
  const proof = (body['proof'] as string[]).map((hash) => Buffer.from(hash, 'base64'));
  const { size: from, root: fromRoot } = older;
  const { size: to, root: toRoot } = newer;
  t.ok(proof.length > 0);
  t.ok(verifyConsistency({ from, to, fromRoot, toRoot, proof }));

  const wrong: readonly [query: string, ...fields: string[]][] = [
    ['', 'from', 'to'],
    ['?from=1', 'to'],
    [`?from=1&to=${to + 1}`, 'to'],
    ['?from=2&to=1', 'from'],
    ['?from=-1&to=1.5', 'from', 'to'],
    ['?from=1&from=1&to=2', 'from'],
    ['?from=01&to=2', 'from'],
    ['?from=1&to=2&size=3', 'size'],
  ];
  for (const [query, ...details] of wrong) {
    const answer = await api.call('GET', `/tlog/consistency${query}`);
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details }, query);
  }
});

void test('a proof covers all that happened to a conversion so far', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const { key } = account;
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  const ask = async () => {
    const answer = await api.call('GET', `${BASE}/conversions/${id}/proof/`, { key });
    return JSON.parse(answer.text) as ConversionProof;
  };
  t.strictSame(typesOf(await ask()), ['CreditDebited', 'ConversionRequested']);
  await api.complete(account.id, id, Buffer.from('%PDF-1.7'));
  const proof = await ask();
  const types = ['CreditDebited', 'ConversionRequested', 'ConversionCompleted'];
  t.strictSame(typesOf(proof), types);
  const { checkpoint, entries, origin } = proof;
  t.strictSame(verifiedBy(checkpoint, [proof.key]), [proof.key]);
  t.equal(proof.key, (await api.call('GET', '/tlog/key')).text.trimEnd());
  const { size, root, origin: named } = parseCheckpoint(openNote(checkpoint).text);
  t.equal(named, origin);
  for (const { index, event, proof: text } of entries) {
    const { proof: hashes } = parseProof(text);
    const leaf = leafHash(event);
    t.ok(verifyInclusion({ index, size, leaf, proof: hashes, root }), `${index}`);
    const altered = leafHash(event.replace('"amount":1', '"amount":2').replace('html', 'url'));
    const holds = verifyInclusion({ index, size, leaf: altered, proof: hashes, root });
    t.equal(holds, altered.equals(leaf), 'an altered event is not proven');
  }
  const other = await api.newAccount();
  const unknown = { status: 404, error: 'not_found' };
  for (const [path, caller] of [
    [id, other.key],
    [id.replace(/.$/, 'z'), key],
    ['x', key],
  ] as const) {
    const answer = await api.call('GET', `${BASE}/conversions/${path}/proof/`, { key: caller });
    t.strictSame(refusal(answer), unknown, path);
    t.equal(answer.body['message'], 'There is no such conversion.');
  }
});

void test('requests at the same time share signatures', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const body = { html: '<p>x</p>' };
      return String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
    }),
  );
  const answers = await Promise.all(
    ids.map((id) => api.call('GET', `${BASE}/conversions/${id}/proof/`, { key })),
  );
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]));
  const signed = (await api.log()).filter(({ type }) => type === 'CheckpointSigned').length;
  t.ok(signed < 5, `${signed} signatures`);
});
