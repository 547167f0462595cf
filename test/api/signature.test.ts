import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { createSigner } from '../../src/process-managers/signatures.ts';
import { digestAround, fillSignature } from '../../src/pdf/signature.ts';
import { signDigest } from '../../src/signing/cms.ts';
import { openPkcs12 } from '../../src/signing/identity.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { PDF } from '../support/conversion.ts';
import { bundleOf, differenceIn } from '../support/evidence.ts';
import { pdfToSign } from '../support/signed-pdf.ts';
import { pdfOf } from '../support/written-pdf.ts';

const PATH = `${BASE}/account/signature/`;

void test('a certificate is set, shown without its key, replaced and removed', async (t) => {
  const { p12 } = makeSigner(t);
  const api = await startApi(t);
  const [account, other] = [await api.newAccount(), await api.newAccount()];
  const { key } = account;
  const body = { p12: p12.toString('base64'), password: P12_PASSWORD };
  t.match(refusal(await api.call('GET', PATH, { key })), { status: 404, error: 'not_found' });
  const set = await api.call('PUT', PATH, { key, body });
  t.equal(set.status, 200);
  t.strictSame(Object.keys(set.body), ['subject', 'issuer', 'not_after']);
  t.match(set.body, { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE', issuer: 'CN=Test CA' });
  t.strictSame((await api.call('GET', PATH, { key })).body, set.body);
  t.equal((await api.call('GET', PATH, { key: other.key })).status, 404);

  const wrong = await api.call('PUT', PATH, { key, body: { ...body, password: 'x' } });
  t.strictSame(refusal(wrong), {
    status: 400,
    error: 'validation_error',
    details: ['password'],
  });
  const noFile = await api.call('PUT', PATH, { key, body: { ...body, p12: 'bm8=' } });
  t.match(noFile.body, { details: { p12: ['This is not a PKCS#12 file (.p12 or .pfx).'] } });
  const text = await api.call('PUT', PATH, { key, body: { ...body, p12: 'no base64' } });
  t.match(refusal(text), { details: ['p12'] });
  t.strictSame((await api.call('GET', PATH, { key })).body, set.body, 'the first is still there');

  const { body: entries } = await api.call('GET', `${BASE}/account/events/?type=SignatureSet`, {
    key,
  });
  const [entry] = entries as unknown as readonly { readonly data: object }[];
  t.match(entry, { data: { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE' } });
  t.notOk('secret' in (entry?.data ?? {}), 'nobody reads the key in the history');
  const stored = (await api.log()).find(({ type }) => type === 'SignatureSet');
  t.notMatch(JSON.stringify(stored?.data), /Lovelace|Test CA/, 'the log has nothing readable');

  t.equal((await api.call('DELETE', PATH, { key })).status, 204);
  t.equal((await api.call('DELETE', PATH, { key })).status, 404);
  t.equal((await api.call('GET', PATH, { key })).status, 404);
});

void test('a certificate that has expired, or is not valid yet, is refused', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const body = { p12: makeSigner(t).p12.toString('base64'), password: P12_PASSWORD };
  const put = async (): Promise<unknown> => {
    const answer = await api.call('PUT', PATH, { key, body });
    return (answer.body['details'] as { readonly p12?: unknown } | undefined)?.p12;
  };
  api.clock.time = Date.now() - 86_400_000;
  t.match(await put(), [/^The certificate is not valid before \d{4}-\d\d-\d\d\. Give one/]);
  api.clock.time = Date.now() + 31 * 86_400_000;
  t.match(await put(), [/^The certificate expired on \d{4}-\d\d-\d\d\. Give one/]);
});

const FIELD = { x: '10mm', y: '10mm', width: '70mm', height: '20mm' };
const HTML = '<p>x</p>';

void test('a request says who signs, and is refused where nobody can', async (t) => {
  const { p12 } = makeSigner(t);
  const seal = await openPkcs12(makeSigner(t).p12, P12_PASSWORD);
  const api = await startApi(t, { replace: () => ({ seal }) });
  const { key } = await api.newAccount();
  const post = async (pdf: object, more: object = {}) =>
    await api.call('POST', `${BASE}/pdf/`, { key, body: { html: HTML, pdf, ...more } });
  const signers = async (): Promise<unknown[]> =>
    (await api.log()).flatMap(({ type, data }) =>
      type === 'ConversionRequested'
        ? [(JSON.parse(data) as { readonly signedBy?: string }).signedBy]
        : [],
    );
  t.equal((await post({ sign: true })).status, 202);
  t.equal((await post({ sign: false })).status, 202);
  await api.call('PUT', PATH, {
    key,
    body: { p12: p12.toString('base64'), password: P12_PASSWORD },
  });
  t.equal((await post({ sign: { reason: 'Approved' } })).status, 202);
  t.strictSame(await signers(), ['service', undefined, 'account']);

  const file = pdfOf(['x']).toString('base64');
  const onThere = async (pdf: object) =>
    await api.call('POST', `${BASE}/documents/`, { key, body: { sources: [{ file }], pdf } });
  t.equal((await onThere({ sign: { field: { ...FIELD, x: '400mm' } } })).status, 202);
  t.equal((await onThere({ sign: false })).status, 202);
  t.strictSame((await signers()).slice(3), ['account', undefined]);
  t.match(refusal(await onThere({ sign: { reason: 'a\nb' } })), { details: ['pdf.sign.reason'] });
  t.match(refusal(await onThere({ rotate: 90 })), { status: 400, details: ['pdf.rotate'] });

  const same = await post({ sign: true }, { deterministic: true });
  t.match(refusal(same), { status: 400, details: ['deterministic'] });
  const lines = await post({ sign: { reason: 'a\nb' } });
  t.match(refusal(lines), { status: 400, details: ['pdf.sign.reason'] });
  api.clock.time += 31 * 86_400_000;
  const expired = await post({ sign: true });
  t.match(expired.body, {
    details: { 'pdf.sign': [/^The certificate expired on .* Set another with PUT/] },
  });
});

void test('a request is asked for once more by the certificate and the retention of now', async (t) => {
  const seal = await openPkcs12(makeSigner(t).p12, P12_PASSWORD);
  const api = await startApi(t, { replace: () => ({ seal }) });
  const { id: accountId, key } = await api.newAccount();
  const setRetention = async (retentionSeconds?: number): Promise<void> => {
    const changed = retentionSeconds === undefined ? {} : { retentionSeconds };
    const command = { type: 'ChangeRetention', accountId, ...changed } as const;
    await sendToAccount(api, command, api.context());
  };
  api.clock.time = seal.notAfter - 60_000;
  await setRetention(3600);
  const { body: first } = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { html: HTML, pdf: { sign: true } },
  });
  const id = String(first['id']);
  await api.complete(accountId, id, PDF);
  await setRetention();
  const p12 = makeSigner(t).p12.toString('base64');
  await api.call('PUT', PATH, { key, body: { p12, password: P12_PASSWORD } });
  const again = async (act: string) =>
    await api.call('POST', `${BASE}/conversions/${id}/${act}/`, { key });
  t.equal((await again('retry')).status, 202);
  t.equal((await again('rerender')).status, 202);
  const requested = (await api.store.readAll()).flatMap((event) =>
    event.type === 'ConversionRequested' ? [decodeEvent(event).data] : [],
  );
  t.match(requested[0], { signedBy: 'service', retentionSeconds: 3600, retentionOfAccount: true });
  for (const data of requested.slice(1)) {
    t.match(data, { signedBy: 'account' });
    t.notOk('retentionSeconds' in data, 'the operator has lifted it');
  }
  api.clock.time += 180_000;
  for (const act of ['retry', 'rerender']) {
    const { status, body } = await again(act);
    t.equal(status, 400);
    t.match(body, { details: { 'pdf.sign': [/^The certificate expired on /] } });
  }
});

void test('a repetition with its Idempotency-Key gets its answer after the certificate has expired', async (t) => {
  const seal = await openPkcs12(makeSigner(t).p12, P12_PASSWORD);
  const api = await startApi(t, { replace: () => ({ seal }) });
  const { key } = await api.newAccount();
  api.clock.time = seal.notAfter - 1000;
  const request = { html: HTML, pdf: { sign: true } };
  for (const [path, body] of [
    ['pdf', request],
    ['batches', { requests: [request] }],
  ] as const) {
    const headers = { 'Idempotency-Key': `for ${path}` };
    const post = async (own: Readonly<Record<string, string>>) =>
      await api.call('POST', `${BASE}/${path}/`, { key, body, headers: own });
    api.clock.time = seal.notAfter - 1000;
    const first = await post(headers);
    t.equal(first.status, 202, path);
    api.clock.time = seal.notAfter + 1000;
    const repeated = await post(headers);
    t.match(repeated, { status: 202, body: { id: first.body['id'] } }, path);
    t.equal((await post({ 'Idempotency-Key': 'another' })).status, 400, path);
  }
});

void test('a renderer gets one signature for each try that is due one, and no other', async (t) => {
  const { p12 } = makeSigner(t);
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const body = { p12: p12.toString('base64'), password: P12_PASSWORD };
  await api.call('PUT', PATH, { key, body });
  const request = async (pdf: object): Promise<string> => {
    const answer = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: HTML, pdf } });
    const conversionId = String(answer.body['id']);
    const by = { renderer: 'test', attempt: 1, delivery: 'one', at: api.clock.now() };
    const command = { type: 'StartConversion', accountId, conversionId, ...by } as const;
    await api.actors.send(conversionAggregate, conversionId, command, api.context());
    return conversionId;
  };
  const { signal: stopping } = new AbortController();
  const sign = createSigner({ ...api, seal: undefined, stopping });
  const another = createSigner({ ...api, seal: undefined, stopping });
  const ask = async (conversionId: string, digest: string, delivery = 'one', asked = sign) => {
    const by = { renderer: 'test', delivery, at: api.clock.now() };
    const about = { kind: 'sign', conversionId, accountId, digest, ...by } as const;
    const answer = await asked(about);
    return answer.kind === 'signed' ? answer.facts.level : answer.message;
  };
  const [due, plain] = [await request({ sign: true }), await request({ optimize: true })];
  const [one, two] = ['1'.repeat(64), '2'.repeat(64)];
  const refused = 'The PDF could not be signed.';
  t.equal(await ask(due, one, 'another'), refused, 'a try that nobody started');
  t.equal(await ask(due, one), 'B-B');
  t.equal(await ask(due, one), 'B-B', 'the answer may have been lost');
  t.equal(await ask(due, two), refused, 'a second document');
  t.equal(await ask(due, one, 'one', another), 'B-B', 'another node has the log');
  t.equal(await ask(due, two, 'one', another), refused, 'a second document of another node');
  const made = (await api.log()).flatMap(({ type, data }) =>
    type === 'SignatureMade' ? [JSON.parse(data) as object] : [],
  );
  const entry = { conversionId: due, attempt: 1, delivery: 'one', digest: one, level: 'B-B' };
  t.match(made, [{ ...entry, certificate: /^[0-9a-f]{64}$/ }], 'each signature once');
  t.equal(await ask(plain, one), refused, 'nobody asked for it');
  await api.fail(accountId, due, 'x');
  t.equal(await ask(due, one), refused, 'it has ended');

  const named = await request({ sign: { field: FIELD } });
  const askNamed = async (signer: string) => {
    const by = { renderer: 'test', delivery: 'one', at: api.clock.now() };
    return await sign({ kind: 'sign', conversionId: named, accountId, digest: one, signer, ...by });
  };
  const other = { kind: 'unsigned', retryable: false, message: /shows the name of another signer/ };
  t.match(await askNamed('Grace Hopper'), other, 'the certificate was changed since');
  t.match(await askNamed('Ada Lovelace'), { kind: 'signed' });

  const late = await request({ sign: true });
  const [set] = (await api.store.readAll()).flatMap((event) =>
    event.type === 'SignatureSet' ? [event.data as EventOf<'SignatureSet'>['data']] : [],
  );
  if (set === undefined) throw new TypeError('There is one.');
  const { accountId: _, setAt: __, certificateId = '', ...kept } = set;
  const { secret } = kept;
  const identity = await api.vault.unsealExactly(certificateId, secret);
  t.match(JSON.parse(identity), { key: String, certificates: [String] });
  await t.rejects(api.vault.unsealExactly(accountId, secret), { name: 'SealBroken' });
  await api.vault.erase(certificateId);
  t.match(await ask(late, one), /removed after the request/, 'its key is just destroyed');
  await api.call('DELETE', PATH, { key });
  t.match(await ask(late, one), /removed after the request/);

  // As it was stored before certificates had keys of their own.
  const signature = { ...kept, secret: await api.vault.seal(accountId, identity) };
  const now = api.clock.now();
  await sendToAccount(api, { type: 'SetSignature', accountId, signature, now }, api.context());
  t.equal(await ask(late, one), 'B-B');
});

void test('a stop ends the wait for a timestamp, and the try is asked for again', async (t) => {
  // Made first: it is not valid before the second in which it is made, and the clock of the API stands.
  const p12 = makeSigner(t).p12.toString('base64');
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  await api.call('PUT', PATH, { key, body: { p12, password: P12_PASSWORD } });
  const { body } = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { html: HTML, pdf: { sign: true } },
  });
  const conversionId = String(body['id']);
  const by = { renderer: 'test', delivery: 'one', at: api.clock.now() };
  const about = { accountId, conversionId, ...by };
  const command = { type: 'StartConversion', ...about } as const;
  await api.actors.send(conversionAggregate, conversionId, command, api.context());
  const stop = new AbortController();
  const { promise: isAsked, resolve: onAsked } = Promise.withResolvers<void>();
  const timestampAuthority = {
    name: 'tsa.example',
    timestamp: (_: unknown, stopping: AbortSignal) =>
      new Promise<Buffer>((_resolve, reject) => {
        stopping.addEventListener('abort', () => reject(new Error('stopped')));
        onAsked();
      }),
  };
  const sign = createSigner({ ...api, seal: undefined, timestampAuthority, stopping: stop.signal });
  const answer = sign({ kind: 'sign', ...about, digest: '1'.repeat(64) });
  await isAsked;
  stop.abort();
  await t.rejects(answer, { message: 'stopped' });
  const types = (await api.log()).map(({ type }) => type);
  t.notOk(types.includes('SignatureMade'), 'nothing was given, and nothing is recorded');
});

void test('evidence tells a PDF whose signature is not the one that was made for it', async (t) => {
  const p12 = makeSigner(t).p12.toString('base64');
  const other = await openPkcs12(makeSigner(t).p12, P12_PASSWORD);
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  await api.call('PUT', PATH, { key, body: { p12, password: P12_PASSWORD } });
  const sign = createSigner({ ...api, seal: undefined, stopping: new AbortController().signal });
  /** Ends a conversion with a PDF that has what `forge` makes of its signature. */
  const complete = async (
    said: string,
    forge: (cms: Buffer, digest: Buffer) => Promise<Buffer>,
  ) => {
    const body = { html: HTML, pdf: { sign: true } };
    const conversionId = String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
    const by = { renderer: 'test', delivery: said, at: api.clock.now() };
    const about = { accountId, conversionId, ...by };
    const start = { type: 'StartConversion', ...about } as const;
    await api.actors.send(conversionAggregate, conversionId, start, api.context());
    const { pdf, ...place } = pdfToSign(said);
    const digest = digestAround(pdf, place);
    const answer = await sign({ kind: 'sign', ...about, digest: digest.toString('hex') });
    if (answer.kind === 'unsigned') throw new Error(answer.message);
    fillSignature(pdf, place, await forge(Buffer.from(answer.cms, 'base64'), digest));
    const found = { signature: answer.facts };
    await api.complete(accountId, conversionId, pdf, undefined, undefined, found);
    const bundle = await bundleOf(api, conversionId);
    return await differenceIn(bundle.zip, bundle.key);
  };
  t.equal(await complete('as it was signed', async (cms) => cms), undefined);
  t.match(
    await complete('signed by another', async (_, digest) => await signDigest(other, digest)),
    {
      message:
        /^document\.pdf, certificate of its signature: expected [0-9a-f]{64}, found [0-9a-f]{64}$/,
    },
  );
  t.match(await complete('not signed', async () => Buffer.alloc(0)), {
    message: /^document\.pdf, signature that can be read: expected true, found false$/,
  });
});
