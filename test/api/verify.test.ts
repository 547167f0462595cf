/** `POST /verify/`: tells the account's own PDFs from others, and proves them. */
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { ReadableStream } from 'node:stream/web';
import { test } from 'tap';
import { leafHash } from '../../src/transparency-log/merkle-tree.ts';
import { verifyEvidence } from '../../verifier/verify-evidence.mjs';
import { BASE, refusal } from '../support/api.ts';
import { PDF, startWithConversion } from '../support/conversion.ts';

const sha256 = createHash('sha256').update(PDF).digest('hex');

void test('a PDF is known to its own account alone', async (t) => {
  const api = await startWithConversion(t);
  const verify = (key: string, digest = sha256) =>
    api.call('POST', `${BASE}/verify/`, { key, body: { sha256: digest } });
  const { key } = api.account;
  const [first, second] = [await api.create(), await api.create()];
  t.strictSame((await verify(key)).body, { known: false }, 'before it is made');
  await api.complete(api.account.id, second, PDF);
  api.clock.time += 1;
  await api.complete(api.account.id, first, PDF);

  const { status, body } = await verify(key);
  t.equal(status, 200);
  t.match(
    body,
    { known: true, conversion: { id: second, status: 'completed' } },
    'the first of two',
  );
  const entries = body['entries'] as { index: number; event: string; proof: string }[];
  const events = entries.map(({ event }) => JSON.parse(event) as { type: string; data: object });
  t.strictSame(
    events.map(({ type }) => type),
    ['CreditDebited', 'ConversionRequested', 'ConversionCompleted'],
  );
  t.match(events[2]?.data, { conversionId: second, pdf: { sha256 } });
  t.match(entries[0]?.proof, /^c2sp\.org\/tlog-proof@v1\nindex \d+\n/);
  t.equal(leafHash(entries[0]?.event ?? '').length, 32);
  t.match((await verify(key, sha256.toUpperCase())).body, { known: true }, 'in capitals');

  const stranger = await api.newAccount();
  t.strictSame((await verify(stranger.key)).body, { known: false }, "another account's");
  t.strictSame((await verify(key, '0'.repeat(64))).body, { known: false });
  const wrong = { status: 400, error: 'validation_error', details: ['sha256'] };
  for (const digest of ['', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)]) {
    t.strictSame(refusal(await verify(key, digest)), wrong, digest);
  }
});

void test('the evidence of a conversion is a download of its account', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const id = await api.create();
  await api.complete(accountId, id, PDF);
  const path = `${BASE}/conversions/${id}/evidence/`;
  const head = await api.call('HEAD', path, { key });
  const answer = await fetch(api.origin + path, { headers: { 'X-API-Key': key } });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('content-type'), 'application/zip');
  t.match(answer.headers.get('content-disposition'), `${id}.evidence.zip`);
  const zip = await buffer(answer.body as ReadableStream<Uint8Array>);
  t.equal(head.headers.get('content-length'), String(zip.length), 'HEAD says its length');
  const logKey = (await api.call('GET', '/tlog/key')).text.trim();
  t.match(await verifyEvidence(zip, [logKey]), { conversion: id, events: { length: 3 } });

  const events = `${BASE}/conversions/${id}/events/?type=DocumentDownloaded`;
  const downloads = await api.call('GET', events, { key });
  t.equal(JSON.parse(downloads.text).length, 1, 'it is recorded, and HEAD is not');
  const stranger = await api.newAccount();
  const refused = await api.call('GET', path, { key: stranger.key });
  t.strictSame(refusal(refused), { status: 404, error: 'not_found' });
});
