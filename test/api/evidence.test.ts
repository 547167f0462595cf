/** Bundles of evidence, from what the log holds to what their verifier finds. */
import { createHash, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { test } from 'tap';
import { contentsText, fileOf, zipOf } from '../../src/conversions/evidence/bundle.ts';
import { gatherEvidence } from '../../src/conversions/evidence/gather.ts';
import { takeBack } from '../../src/conversions/take-back.ts';
import { readRenderManifest } from '../../src/conversions/render-manifest.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import { LOG_ID, logAggregate } from '../../src/domain/log.ts';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import {
  cosignedMessage,
  openNote,
  parseVerifierKey,
  signatureLine,
  signNote,
  verifierKey,
} from '../../src/transparency-log/signed-note.ts';
import {
  describe,
  type Entry,
  provedEvents,
  verifyEvidence,
} from '../../verifier/verify-evidence.mjs';
import { type Api, BASE, PASSWORD } from '../support/api.ts';
import { startWithConversion } from '../support/conversion.ts';
import { appendNext } from '../support/events.ts';
import {
  asFiles,
  bundleOf,
  changed,
  differenceIn,
  filesOf,
  noteSigner,
  textOf,
  unfoundAt,
} from '../support/evidence.ts';
import { startReceiver } from '../support/receiver.ts';
import { startWebhookApi } from '../support/webhooks.ts';

const PDF = Buffer.from('%PDF-1.7 the PDF of this test\n%%EOF\n');

async function completed(t: Parameters<typeof startWithConversion>[0]) {
  const api = await startWithConversion(t);
  const id = await api.create();
  await api.complete(api.account.id, id, PDF, ['It lacks <b>a picture</b>.']);
  return { api, id, ...(await bundleOf(api, id)) };
}

async function expire(api: Api, accountId: string, conversionId: string): Promise<void> {
  await api.blobs.deleteAll(conversionId);
  const command = {
    type: 'ExpireConversion',
    accountId,
    conversionId,
    at: api.clock.now(),
  } as const;
  await api.actors.send(conversionAggregate, conversionId, command, api.context());
}

void test('a bundle proves the events, the PDF, the request and the manifest', async (t) => {
  const { api, id, zip, absent, key } = await completed(t);
  t.strictSame(absent, {});
  const found = await verifyEvidence(zip, [key]);
  t.match(found, {
    ok: true,
    conversion: id,
    proved: ['document.pdf', 'request.json', 'manifest.json'],
  });
  t.strictSame(
    found.events.map(({ type }) => type),
    ['CreditDebited', 'ConversionRequested', 'ConversionCompleted'],
  );
  t.strictSame(found.signed, ['README.txt', 'report.html'], 'what is not proved is named');
  t.match(describe(found).join('\n'), /signed by the service, not proved: README.txt, report.html/);

  const files = filesOf(zip);
  t.strictSame(files.get('document.pdf'), PDF);
  t.strictSame(JSON.parse(textOf(files, 'request.json')), { html: '<p>x</p>' });
  const report = textOf(files, 'report.html');
  t.match(report, 'The file was stored: 1 page, 36 bytes.');
  t.match(report, 'It lacks &#60;b&#62;a picture&#60;/b&#62;.', 'escaped, and decrypted');
  t.notMatch(report, /<script|src=|href=|url\(/, 'nothing runs, nothing is fetched');
  t.match(report, `key "test" ${api.account.key.slice(0, 12)}…`.replaceAll('"', '&#34;'));
  t.notMatch(report, api.account.keyId, 'no id where there is a name');
  t.match(textOf(files, 'README.txt'), 'No document is missing.');

  t.strictSame((await bundleOf(api, id)).zip, zip, 'the same bytes under the same checkpoint');
  await t.rejects(bundleOf(api, 'conv_none'), { code: 'not_found' });
});

void test('no document is in memory while a bundle waits for its reader', async (t) => {
  const { api, id } = await completed(t);
  let reads = 0;
  const open = (...args: Parameters<Api['blobs']['open']>) => {
    reads += 1;
    return api.blobs.open(...args);
  };
  const blobs = { open, read: api.blobs.read.bind(api.blobs) };
  const bundle = await gatherEvidence({ ...api, blobs }, id);
  t.equal(reads, 2, 'PDF and request are read to be hashed');
  t.equal((await buffer(bundle.open())).length, bundle.bytes);
  t.equal(reads, 4, 'and again to be sent');
});

void test('the disclosed keys open nothing else', async (t) => {
  const { api, id, zip } = await completed(t);
  const other = await api.create();
  const disclosed = textOf(filesOf(zip), 'keys.json');
  for (const conversionId of [id, other]) {
    const secret = await api.vault.contentKey(api.account.id, conversionId);
    t.notOk(disclosed.includes(secret.toString('hex')), 'it is not the key of all');
  }
  await api.complete(api.account.id, other, PDF);
  const second = JSON.parse(
    textOf(filesOf((await bundleOf(api, other)).zip), 'keys.json'),
  ) as object;
  t.not(JSON.parse(disclosed), second);
});

void test('each byte of a bundle that is another one is found', async (t) => {
  const { zip, key } = await completed(t);
  const unfound = await unfoundAt([...zip.keys()], (at) => {
    const flipped = Buffer.from(zip);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    return differenceIn(flipped, key);
  });
  t.strictSame(unfound, [], `each of ${zip.length} bytes`);
  for (const length of [0, 3, 29, zip.length - 1]) {
    t.ok(await differenceIn(zip.subarray(0, length), key), `cut to ${length} bytes`);
  }
  t.ok(await differenceIn(Buffer.concat([zip, Buffer.from('\n')]), key), 'a byte more');
});

void test('bytes of its files that are other ones are found in a ZIP that fits them', async (t) => {
  const { zip, key } = await completed(t);
  const files = filesOf(zip);
  const whole = asFiles(files);
  for (const [name, content] of files) {
    // All bytes of the short ones, which are all of another kind.
    const step = content.length > 1000 ? 7 : 1;
    const places = [...content.keys()].filter((at) => at % step === 0);
    const unfound = await unfoundAt(places, async (at) => {
      const flipped = Buffer.from(content);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      const other = await buffer(zipOf(new Map(whole).set(name, fileOf(flipped))));
      return await differenceIn(other, key);
    });
    t.strictSame(unfound, [], `bytes of ${name}`);
  }
});

void test('a difference is named', async (t) => {
  const { zip, key } = await completed(t);
  const files = filesOf(zip);
  t.match(await differenceIn(await changed(zip, { 'document.pdf': 'x' }), key), {
    at: { file: 'document.pdf' },
  });
  t.match(await differenceIn(await changed(zip, { 'more.txt': 'x' }), key), {
    at: { of: 'files' },
  });
  t.match(await differenceIn(await changed(zip, { '../x': 'x' }), key), {
    at: { of: /^the name of file/ },
  });
  const list = textOf(files, 'contents.txt');
  const twice = `${list}${list.split('\n').at(-2)}\n`;
  t.match(await differenceIn(await changed(zip, { 'contents.txt': twice }), key), {
    at: { of: 'signers' },
  });
  for (const name of [key.split('+')[0] ?? '', 'other.example/log']) {
    const { verifierKey: foreign } = noteSigner(9, name);
    t.match(
      await differenceIn(zip, foreign),
      { at: { of: 'signed by' } },
      `a foreign key of ${name}`,
    );
  }
  await t.rejects(verifyEvidence(zip, ['nonsense']), /nonsense is not a verifier key/);
});

void test('the holder of the key cannot change what the log proves', async (t) => {
  const { id, zip, key } = await completed(t);
  const [origin = ''] = key.split('+');
  const files = filesOf(zip);
  /** Signs the list again, as a service that lies would. */
  const signedAgain = async (changes: Readonly<Record<string, Buffer | string>>) => {
    const all = filesOf(await changed(zip, changes));
    all.delete('contents.txt');
    const text = contentsText({ origin, conversionId: id }, new Map(), asFiles(all));
    return await changed(zip, {
      ...changes,
      'contents.txt': signNote(text, [noteSigner(1, origin)]),
    });
  };
  t.equal(await differenceIn(await signedAgain({}), key), undefined, 'it is the key');
  const lines = textOf(files, 'events.jsonl').trimEnd().split('\n');
  const at = async (changes: Readonly<Record<string, Buffer | string>>) =>
    (await differenceIn(await signedAgain(changes), key))?.at;
  t.match(await at({ 'document.pdf': 'another PDF' }), { file: 'document.pdf', of: 'digest' });
  t.match(await at({ 'request.json': '{"html":"<p>y</p>"}' }), {
    file: 'request.json',
    of: 'digest',
  });
  t.match(await at({ 'manifest.json': '{"version":2}' }), { file: 'manifest.json', of: 'digest' });
  const renamed = textOf(files, 'events.jsonl').replace('\\"amount\\":1', '\\"amount\\":9');
  t.match(await at({ 'events.jsonl': renamed }), { of: 'root hash' }, 'an event');
  t.match(await at({ 'events.jsonl': `${[...lines, lines[0]].join('\n')}\n` }), { of: 'in order' });
  t.match(
    await at({ 'events.jsonl': `${lines[0]}\n` }),
    { of: 'its beginning' },
    'events left out',
  );
  const report = textOf(files, 'report.html');
  t.match(
    await at({ 'report.html': report.replaceAll('ConversionCompleted', 'ConversionFailed') }),
    {
      file: 'report.html',
      of: 'event',
    },
  );
  t.match(
    await at({ 'report.html': report.replace(createHash('sha256').update(PDF).digest('hex'), '') }),
    {
      file: 'report.html',
    },
  );
});

void test('an event of another stream is none of the conversion', async (t) => {
  const { api, id } = await completed(t);
  const other = await api.create();
  for (const { data, metadata } of await api.store.readStream(`conversion-${id}`)) {
    const forged = { id: randomUUID(), type: 'ConversionCompleted', data, metadata };
    await appendNext(api.store, `conversion-${other}`, [forged]);
  }
  const { zip, key } = await bundleOf(api, id);
  t.match(await differenceIn(zip, key), { at: { of: 'stream' }, found: `conversion-${other}` });
});

void test('the deliveries of a conversion are proved with it, none of their tries left out', async (t) => {
  const w = await startWebhookApi(t);
  const receiver = await startReceiver(t);
  receiver.answerWith((response) => response.writeHead(500).end());
  await w.create(receiver.url);
  const id = await w.end(await w.request());
  const [tried] = await receiver.count(1);
  await w.inState(tried?.id ?? '', { tries: 1 });
  receiver.answerWith((response) => response.writeHead(204).end());
  await w.callAs('POST', `/webhooks/deliveries/${tried?.id}/redeliver/`);
  await w.inState(tried?.id ?? '', { status: 'delivered' });

  const { zip, key } = await bundleOf(w.api, id);
  const { events } = await verifyEvidence(zip, [key]);
  t.strictSame(
    events.slice(-3).map(({ type }) => type),
    ['DeliveryAttempted', 'RedeliveryRequested', 'DeliveryAttempted'],
  );
  const lines = textOf(filesOf(zip), 'events.jsonl').trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line) as Entry);
  const [size = '', root = ''] = textOf(filesOf(zip), 'checkpoint').split('\n').slice(1);
  const checkpoint = { note: textOf(filesOf(zip), 'checkpoint'), size, root };
  const leftOut = entries.toSpliced(-2, 1);
  await t.rejects(provedEvents('events', leftOut, checkpoint, id), /revision/);
});

void test('a bundle has what is left, and says what is not there', async (t) => {
  const api = await startWithConversion(t);
  const { id: accountId } = api.account;
  const waiting = await api.create();
  const early = await bundleOf(api, waiting);
  t.match((await verifyEvidence(early.zip, [early.key])).proved, ['request.json']);
  t.match(early.absent, { 'document.pdf': 'The conversion has not ended.' });

  await api.complete(accountId, waiting, PDF);
  await expire(api, accountId, waiting);
  const expired = await bundleOf(api, waiting);
  const found = await verifyEvidence(expired.zip, [expired.key]);
  t.strictSame([found.proved, found.events.length, found.absent.length], [[], 4, 3]);
  t.equal(expired.absent['document.pdf'], 'Its retention has ended.');
  t.match(
    textOf(filesOf(expired.zip), 'README.txt'),
    /NOT IN THIS BUNDLE\n\n {2}document.pdf: Its/,
  );
  const lied = await changed(expired.zip, { 'document.pdf': PDF });
  t.match(await differenceIn(lied, expired.key), { at: { of: 'files' } });

  const failing = await api.create();
  await api.fail(accountId, failing, 'The page <i>did not</i> answer.');
  await expire(api, accountId, failing);
  const failed = await bundleOf(api, failing);
  t.ok((await verifyEvidence(failed.zip, [failed.key])).ok);
  t.match(
    textOf(filesOf(failed.zip), 'report.html'),
    'The page &#60;i&#62;did not&#60;/i&#62; answer.',
  );
  t.equal(failed.absent['request.json'], 'It was deleted after the failure.');

  const waitingStill = await api.create();
  await takeBack(api, { id: waitingStill, accountId }, api.context());
  const cancelled = await bundleOf(api, waitingStill);
  t.ok((await verifyEvidence(cancelled.zip, [cancelled.key])).ok);
  t.equal(cancelled.absent['request.json'], 'It was deleted when the conversion was cancelled.');
  t.equal(cancelled.absent['document.pdf'], 'The conversion was cancelled.');

  const erased = await api.create();
  await api.complete(accountId, erased, PDF, ['a secret warning']);
  await api.keyring.erase(accountId);
  const left = await bundleOf(api, erased);
  t.strictSame(new Set(Object.values(left.absent)), new Set(['The account was erased.']));
  t.equal((await verifyEvidence(left.zip, [left.key])).events.length, 3, 'the events still prove');
  t.notMatch(textOf(filesOf(left.zip), 'report.html'), 'a secret warning');

  await expire(api, accountId, erased);
  const deleted = await bundleOf(api, erased);
  t.strictSame(deleted.absent, left.absent, 'not by the end of its retention');
  await t.rejects(readRenderManifest(api, erased), {
    name: 'KeyErased',
  });
});

void test('the file of a picture has the name of its format', async (t) => {
  const api = await startWithConversion(t);
  const body = { html: '<p>x</p>', format: 'png' };
  const { body: made } = await api.call('POST', `${BASE}/pdf/`, { key: api.account.key, body });
  await api.complete(api.account.id, String(made['id']), Buffer.from('a picture'));
  const { zip, key } = await bundleOf(api, String(made['id']));
  t.match((await verifyEvidence(zip, [key])).proved, ['document.png', 'request.json']);
});

void test('an API key gets no passwords by a bundle', async (t) => {
  const { account, ...api } = await startWithConversion(t);
  const body = { html: '<p>x</p>', pdf: { encrypt: { user_password: 'correct horse' } } };
  const { body: made } = await api.call('POST', `${BASE}/pdf/`, { key: account.key, body });
  const id = String(made['id']);
  const signedIn = await api.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { email: account.email, password: PASSWORD },
  });
  const bundle = async (headers: Record<string, string>) => {
    const answer = await fetch(`${api.origin}${BASE}/conversions/${id}/evidence/`, { headers });
    return filesOf(Buffer.from(await answer.arrayBuffer()));
  };
  const ofKey = await bundle({ 'X-API-Key': account.key });
  t.notOk(ofKey.has('request.json'));
  t.match(textOf(ofKey, 'README.txt'), 'which an API key does not get');
  const ofSession = await bundle({ Authorization: `Bearer ${String(signedIn.body['access'])}` });
  t.match(textOf(ofSession, 'request.json'), 'correct horse');
});

void test('a rotation leaves older keys in force, and then not', async (t) => {
  const { api, id, zip, key } = await completed(t);
  await api.signer.rotate(api.context());
  const rotated = await bundleOf(api, id);
  t.not(rotated.key, key);
  for (const each of [key, rotated.key]) t.ok((await verifyEvidence(rotated.zip, [each])).ok);
  t.match(await differenceIn(zip, rotated.key), { at: { of: 'signed by' } }, 'an older bundle');
  await api.signer.rotate(api.context());
  const later = await bundleOf(api, id);
  t.match(await differenceIn(later.zip, key), { at: { of: 'signed by' } }, 'two rotations on');
  t.ok((await verifyEvidence(later.zip, [key, later.key])).ok, 'one of the keys will do');
});

void test('cosignatures and a timestamp of the checkpoint', async (t) => {
  const { api, id, zip, key } = await completed(t);
  const note = textOf(filesOf(zip), 'checkpoint');
  const { text } = openNote(note);
  const { size } = parseCheckpoint(text);
  const { publicKey, sign } = noteSigner(7, 'witness.example');
  const witness = verifierKey('witness.example', publicKey, 4);
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(1_795_345_885n);
  const cosignature = Buffer.concat([time, sign(cosignedMessage(text, 1_795_345_885n))]);
  const line = signatureLine('witness.example', parseVerifierKey(witness).keyId, cosignature);
  const token = Buffer.concat([Buffer.from('DER'), createHash('sha256').update(note).digest()]);
  const at = api.clock.now();
  for (const command of [
    { type: 'RecordCosignatures', size, signatures: [line], at },
    { type: 'RecordTimestamp', size, token: token.toString('base64'), at },
  ] as const) {
    await api.actors.send(logAggregate, LOG_ID, command, api.context());
  }
  const attested = await bundleOf(api, id);
  const files = filesOf(attested.zip);
  t.strictSame(files.get('checkpoint.tst'), token);
  t.match(textOf(files, 'README.txt'), /openssl ts -verify/);
  t.match(textOf(files, 'report.html'), 'witness.example');
  const unchecked = await verifyEvidence(attested.zip, [key]);
  t.match(unchecked.not_checked, [/^witness\.example\+/], 'it is told without its key');
  t.strictSame((await verifyEvidence(attested.zip, [key], [witness])).not_checked, []);
  const other = verifierKey('witness.example', noteSigner(8, 'x').publicKey, 4);
  t.match(await differenceIn(attested.zip, key, [other]), { at: { of: 'signed by' } });
  t.match(
    await differenceIn(zip, key, [witness]),
    { at: { of: 'signed by' } },
    'not cosigned then',
  );
});

void test('what is not a list is not signed as one', async (t) => {
  const { api, key } = await completed(t);
  const [origin = ''] = key.split('+');
  const root = Buffer.alloc(32).toString('base64');
  await t.rejects(api.signer.signText(`${origin}\n999\n${root}\n`), /signed by sign\(\) alone/);
});
