/** The cosignatures and timestamps that are published. */
import { test } from 'tap';
import { openNote, verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { recordCosignature, recordTimestamp } from '../support/attested.ts';
import { TestWitness } from '../support/witness.ts';

void test('a cosignature is a line more of the checkpoint, also in proofs', async (t) => {
  const api = await startApi(t);
  const witness = await TestWitness.start(t);
  const { key } = await api.newAccount();
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const path = `${BASE}/conversions/${String(created.body['id'])}/proof/`;
  const { body: before } = await api.call('GET', path, { key });
  const { note } = await recordCosignature(api, (checkpoint) =>
    witness.cosignature(openNote(checkpoint.note).text),
  );
  t.equal(before['checkpoint'], note);
  const { text } = await api.call('GET', '/tlog/checkpoint');
  t.ok(text.startsWith(note));
  t.strictSame(verifiedBy(text, [witness.verifierKey]), [witness.verifierKey]);
  const { body } = await api.call('GET', path, { key });
  t.equal(body['checkpoint'], text, 'nothing new to sign');
  t.ok((body['entries'] as { proof: string }[]).every(({ proof }) => proof.endsWith(text)));
});

void test('the timestamp of a checkpoint is found by its size', async (t) => {
  const api = await startApi(t);
  await api.newAccount();
  const token = Buffer.from([0x30, 0x00, 0xff]);
  const { size } = await recordTimestamp(api, token);
  const answer = await fetch(`${api.origin}/tlog/timestamp/${size}`);
  t.equal(answer.headers.get('content-type'), 'application/vnd.etsi.timestamp-token');
  t.match(answer.headers.get('cache-control'), /immutable/);
  t.ok(token.equals(Buffer.from(await answer.arrayBuffer())));

  for (const other of [size - 1, size + 1, 0, `0${size}`, `${size}.0`, '-1', 'x', '9'.repeat(30)]) {
    const missing = await api.call('GET', `/tlog/timestamp/${other}`);
    t.strictSame(refusal(missing), { status: 404, error: 'not_found' }, `${other}`);
    t.equal(missing.headers.get('cache-control'), 'no-store');
  }
});

void test('a checkpoint without a timestamp has none', async (t) => {
  const api = await startApi(t);
  const { text } = await api.call('GET', '/tlog/checkpoint');
  const answer = await api.call('GET', `/tlog/timestamp/${text.split('\n')[1]}`);
  t.strictSame(refusal(answer), { status: 404, error: 'not_found' });
});
