/** Whether a PDF is one of the account's own, and the proof of it. */
import { createHash } from 'node:crypto';
import { test } from 'tap';
import { leafHash } from '../../src/transparency-log/merkle-tree.ts';
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
