/** `POST /documents/`: what is taken and refused, what is kept, and what the history says of the sources. */
import { createHash } from 'node:crypto';
import { test } from 'tap';
import { readContent } from '../../src/documents/decryption.ts';
import type { ConversionFailureCode } from '../../src/domain/choices.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import type { EventOf } from '../../src/domain/events.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { type Api, BASE, type CallOptions, refusal, startApi } from '../support/api.ts';
import { JPEG } from '../support/tiny-images.ts';
import { pdfOf } from '../support/written-pdf.ts';

const PATH = `${BASE}/documents/`;
const ONE = pdfOf(['One']);
const TWO = pdfOf(['Two', 'Three']);
const base64 = (content: Buffer): string => content.toString('base64');
const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const file = base64(ONE);
const IMAGE = JPEG.replace(/^data:[^,]*,/, '');

const post = async (api: Api, key: string, body: unknown, headers: CallOptions['headers'] = {}) =>
  await api.call('POST', PATH, { key, body, headers });

/** The newest requests of an account, with their documents as they are stored. */
async function requested(api: Api, accountId: string, count = 1) {
  const events = (await api.store.readStream(`account-${accountId}`))
    .filter(({ type }) => type === 'ConversionRequested')
    .slice(-count);
  return await Promise.all(
    events.map(async (event) => {
      const { data } = decodeEvent(event) as EventOf<'ConversionRequested'>;
      const contentKey = await api.vault.contentKey(accountId, data.conversionId);
      const text = (await readContent(api.blobs, contentKey, data.request)).toString();
      return { data, stored: JSON.parse(text) as RequestDocument };
    }),
  );
}

const countRequested = async (api: Api, accountId: string): Promise<number> =>
  (await api.store.readStream(`account-${accountId}`)).filter(
    ({ type }) => type === 'ConversionRequested',
  ).length;

const step = (...steps: readonly object[]) => ({ sources: [{ file }], steps });
const stamp = (fields: object) => step({ type: 'stamp', ...fields });
const FIRST = 'steps.0';

const REFUSED: readonly (readonly [string, unknown, readonly string[]])[] = [
  ['nothing', {}, ['sources']],
  ['no sources', { sources: [] }, ['sources']],
  ['too many sources', { sources: Array.from({ length: 101 }, () => ({ file })) }, ['sources']],
  ['an empty source', { sources: [{}] }, ['sources.0']],
  [
    'a source of two kinds',
    { sources: [{ file, conversion: `conv_${'0'.repeat(26)}` }] },
    ['sources.0'],
  ],
  ['no base64', { sources: [{ file: '%PDF' }] }, ['sources.0.file']],
  ['an empty file', { sources: [{ file: '' }] }, ['sources.0.file']],
  ['no id', { sources: [{ conversion: 'x' }] }, ['sources.0.conversion']],
  ['an empty password', { sources: [{ file, password: '' }] }, ['sources.0.password']],
  ['an unknown field', { sources: [{ file, name: 'x' }] }, ['sources.0.name']],
  ['a text of steps', { sources: [{ file }], steps: 'optimize' }, ['steps']],
  ['a step that is a text', { sources: [{ file }], steps: ['optimize'] }, ['steps.0']],
  ['a source that is a text', { sources: ['x'] }, ['sources.0']],
  ['a text of sources', { sources: 'x' }, ['sources']],
  ['an object of steps', { sources: [{ file }], steps: { type: 'rotate' } }, ['steps']],
  ['a step of nothing', { sources: [{ file }], steps: [null] }, ['steps.0']],
  ['a source of nothing', { sources: [null] }, ['sources.0']],
  ['a part of nothing', step({ type: 'split', parts: [null] }), ['steps.0.parts.0']],
  [
    'an attachment of nothing',
    step({ type: 'attach', attachments: [null] }),
    ['steps.0.attachments.0'],
  ],
  ['a keyword of nothing', step({ type: 'metadata', keywords: [null] }), ['steps.0.keywords.0']],
  ['pages as a number', step({ type: 'pages', pages: 1 }), ['steps.0.pages']],
  ['an unknown step', step({ type: 'sign' }), ['steps.0.type']],
  ['a step without a type', step({}), ['steps.0.type']],
  ['too many steps', step(...Array.from({ length: 21 }, () => ({ type: 'optimize' }))), ['steps']],
  ['a late merge', step({ type: 'rotate', rotate: 90 }, { type: 'merge' }), ['steps.1']],
  [
    'work after encryption',
    step({ type: 'encrypt', user_password: 'x' }, { type: 'rotate', rotate: 90 }),
    ['steps.1'],
  ],
  ['twice at the end', step({ type: 'optimize' }, { type: 'optimize' }), ['steps.1']],
  ['a step after split', step({ type: 'split', parts: ['1'] }, { type: 'optimize' }), ['steps.1']],
  ['no pages', step({ type: 'pages' }), ['steps.0.pages']],
  ['pages backwards', step({ type: 'pages', pages: '2-1' }), ['steps.0.pages']],
  ['no angle', step({ type: 'rotate' }), ['steps.0.rotate']],
  ['another angle', step({ type: 'rotate', rotate: 45 }), ['steps.0.rotate']],
  ['a field of another step', step({ type: 'optimize', rotate: 90 }), ['steps.0.rotate']],
  ['no password', step({ type: 'encrypt' }), [FIRST]],
  [
    'an unknown permission',
    step({ type: 'encrypt', user_password: 'x', permissions: { sing: false } }),
    ['steps.0.permissions.sing'],
  ],
  ['no file', step({ type: 'attach' }), ['steps.0.attachments']],
  ['an empty list of files', step({ type: 'attach', attachments: [] }), ['steps.0.attachments']],
  [
    'a file by a path',
    step({ type: 'attach', attachments: [{ filename: 'a/b', content: 'MQ==', type: 'text' }] }),
    ['steps.0.attachments.0.type'],
  ],
  [
    'a path',
    step({ type: 'attach', attachments: [{ filename: 'a/b', content: 'MQ==', type: 'a/b' }] }),
    ['steps.0.attachments.0.filename'],
  ],
  ['no property', step({ type: 'metadata' }), [FIRST]],
  ['a stamp of nothing', stamp({}), [FIRST]],
  ['a stamp of two kinds', stamp({ html: '<p>x', image: IMAGE }), [FIRST]],
  ['a stamp that loads', stamp({ html: '<img src="https://example.com/a">' }), ['steps.0.html']],
  ['a stamp of no picture', stamp({ image: file }), ['steps.0.image']],
  ['a stamp not in base64', stamp({ image: '%' }), ['steps.0.image']],
  ['a stamp that is too strong', stamp({ html: '<p>x', opacity: 2 }), ['steps.0.opacity']],
  ['a stamp on no page', stamp({ html: '<p>x', pages: '0' }), ['steps.0.pages']],
  ['no parts', step({ type: 'split' }), ['steps.0.parts']],
  ['an empty list of parts', step({ type: 'split', parts: [] }), ['steps.0.parts']],
  ['a part of no page', step({ type: 'split', parts: ['1', 'x'] }), ['steps.0.parts.1']],
  ['a blank name', { sources: [{ file }], filename: ' ' }, ['filename']],
  ['a tag in capitals', { sources: [{ file }], tags: { A: 'b' } }, ['tags.A']],
  ['too long', { sources: [{ file }], retention_seconds: 1e9 }, ['retention_seconds']],
  ['a local address', { sources: [{ file }], webhook_url: 'https://127.0.0.1/' }, ['webhook_url']],
  ['an option of a page', { sources: [{ file }], html: '<p>x' }, ['html']],
];

void test('what is asked for is checked field by field', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  for (const [name, body, details] of REFUSED) {
    const answer = await post(api, key, body);
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details }, name);
    api.clock.time += 1_000;
  }
});

void test('uploads are kept for the renderer, and the history names them by hash', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const steps = [
    { type: 'merge' },
    { type: 'rotate', rotate: 90, pages: '1' },
    { type: 'encrypt', user_password: 'pass' },
  ];
  const sources = [{ file }, { file: base64(TWO), password: 'old' }];
  const answer = await post(api, key, { sources, steps, filename: 'Both', reference: 'R 1' });
  t.equal(answer.status, 202, answer.text);
  t.strictSame(Object.keys(answer.body), ['id', 'status', 'created_at']);
  const id = String(answer.body['id']);
  t.equal(answer.headers.get('location'), `${api.origin}${BASE}/conversions/${id}/`);
  const [request] = await requested(api, accountId);
  t.strictSame(request?.stored, { document: { sources, steps } });
  t.equal(request?.data.source, 'document');
  t.notMatch(
    JSON.stringify(request?.data),
    sha256(ONE),
    'who knows a file cannot find it in the log',
  );
  const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  t.match(record.body, { kind: 'document', filename: 'Both.pdf', reference: 'R 1' });
  const history = await api.call('GET', `${BASE}/conversions/${id}/events/`, { key });
  const [, entry] = history.body as unknown as readonly { summary: string; data: object }[];
  const shown = [ONE, TWO].map((each) => `a file with the SHA-256 ${sha256(each).slice(0, 12)}…`);
  t.match(entry?.summary, 'A PDF was requested, from finished documents');
  t.match(entry?.summary, ` Its sources are ${shown.join(', ')}.`);
  const { sources: named } = (entry?.data ?? {}) as { readonly sources?: string };
  t.strictSame(JSON.parse(named ?? '[]'), [
    { sha256: sha256(ONE), bytes: ONE.length },
    { sha256: sha256(TWO), bytes: TWO.length },
  ]);
  const found = await api.call('GET', `${BASE}/conversions/?source=document`, { key });
  t.match(found.body, [{ id, kind: 'document' }]);
  const told = await api.call('GET', `${BASE}/conversions/${id}/request/`, { key });
  const ofKey = { sources: sources.map((each) => ({ file: each.file })), steps: steps.slice(0, 2) };
  t.strictSame(told.body['document'], ofKey, 'a key learns no password');
});

void test('a form has the PDFs as parts, in their order', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const send = async (fields: Readonly<Record<string, string>>, files: readonly Buffer[]) => {
    const form = new FormData();
    for (const content of files) form.append('files', new Blob([new Uint8Array(content)]), 'a.pdf');
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    const headers = { 'X-API-Key': key };
    const answer = await fetch(`${api.origin}${PATH}`, { method: 'POST', headers, body: form });
    return { status: answer.status, body: (await answer.json()) as { details?: object } };
  };
  const steps = JSON.stringify([{ type: 'optimize' }]);
  t.equal((await send({ steps, priority: 'low' }, [ONE, TWO])).status, 202);
  const [plain] = await requested(api, accountId);
  t.strictSame(plain?.stored.document, {
    sources: [{ file }, { file: base64(TWO) }],
    steps: [{ type: 'optimize' }],
  });
  t.equal(plain?.data.priority, 'low');
  const mixed = JSON.stringify([{ password: 'p' }, { file: base64(TWO) }, {}]);
  t.equal((await send({ sources: mixed }, [ONE, ONE])).status, 202);
  const [own] = await requested(api, accountId);
  t.strictSame(own?.stored.document?.sources, [
    { password: 'p', file },
    { file: base64(TWO) },
    { file },
  ]);
  const refused = async (fields: Readonly<Record<string, string>>, files: readonly Buffer[]) => {
    const { status, body } = await send(fields, files);
    return { status, details: Object.keys(body.details ?? {}) };
  };
  t.strictSame(await refused({ sources: '[{}]' }, []), { status: 400, details: ['sources.0'] });
  t.strictSame(await refused({ sources: '[{}]' }, [ONE, TWO]), { status: 400, details: ['files'] });
  t.strictSame(await refused({}, []), { status: 400, details: ['sources'] });
  t.strictSame(await refused({ sources: 'x' }, [ONE]), { status: 400, details: ['sources'] });
  t.strictSame(await refused({ html: 'x' }, [ONE]), { status: 400, details: ['html'] });
  for (const text of ['rotate', '[{"type": "rotate"', '{"type": "rotate"}', '"merge"', '[null]']) {
    const { status, details } = await refused({ steps: text }, [ONE]);
    t.equal(status, 400, text);
    t.match(details, [/^steps(\.0)?$/], text);
  }
  t.strictSame(await refused({ sources: '[null]' }, []), { status: 400, details: ['sources.0'] });
  const { body } = await send({ file: 'x' }, [ONE]);
  t.strictSame(body.details, { file: ['Is not a known field. Did you mean files?'] });
});

void test('conversions of the account are sources while their PDF is there', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const other = await api.newAccount();
  const converted = async (request: object): Promise<string> =>
    String((await api.call('POST', `${BASE}/pdf/`, { key, body: request })).body['id']);
  const conversion = await converted({ html: '<p>x</p>' });
  const body = { sources: [{ file }, { conversion }] };
  const field = ['sources.1.conversion'];
  const early = refusal(await post(api, key, body));
  t.strictSame(early, { status: 409, error: 'not_ready', details: field });
  await api.complete(accountId, conversion, TWO);
  const failed = await converted({ html: '<p>x</p>' });
  await api.fail(accountId, failed, 'It failed.');
  const ofFailed = refusal(await post(api, key, { sources: [{ file }, { conversion: failed }] }));
  t.strictSame(ofFailed, { status: 422, error: 'conversion_failed', details: field });
  const picture = await converted({ html: '<p>x</p>', format: 'png' });
  await api.complete(accountId, picture, Buffer.from('a picture'));
  const ofPicture = refusal(await post(api, key, { sources: [{ file }, { conversion: picture }] }));
  t.strictSame(ofPicture, { status: 400, error: 'validation_error', details: field });
  const strange = refusal(await post(api, other.key, body));
  t.strictSame(strange, { status: 404, error: 'not_found', details: field });
  const unknown = { sources: [{ conversion: `conv_${'0'.repeat(26)}` }] };
  const none = { status: 404, error: 'not_found', details: ['sources.0.conversion'] };
  t.strictSame(refusal(await post(api, key, unknown)), none);
  const once = await post(api, key, body, { 'Idempotency-Key': 'k' });
  t.equal(once.status, 202, once.text);
  const [request] = await requested(api, accountId);
  t.strictSame(request?.stored.document?.sources, [{ file }, { file: base64(TWO) }]);
  const history = await api.call('GET', `${BASE}/conversions/${String(once.body['id'])}/events/`, {
    key,
  });
  const [, entry] = history.body as unknown as readonly { summary: string }[];
  t.match(entry?.summary, `SHA-256 ${sha256(ONE).slice(0, 12)}…, ${conversion}.`);
  await api.call('DELETE', `${BASE}/conversions/${conversion}/`, { key });
  const gone = refusal(await post(api, key, body));
  t.strictSame(gone, { status: 410, error: 'gone', details: field });
  const again = await post(api, key, body, { 'Idempotency-Key': 'k' });
  t.equal(again.text, once.text, 'what was accepted stays so');
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.equal(await countRequested(api, accountId), 4);
  const page = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { html: '<p>x</p>' },
    headers: { 'Idempotency-Key': 'k' },
  });
  t.not(page.body['id'], once.body['id'], 'the key of a page is another');
  await api.fail(accountId, String(once.body['id']), 'x', 'unreadable_pdf');
  const retry = `${BASE}/conversions/${String(once.body['id'])}/retry/`;
  const retried = await api.call('POST', retry, { key });
  t.equal(retried.status, 202, retried.text);
  const [repeated] = await requested(api, accountId);
  t.strictSame(repeated?.stored, request?.stored, 'a retry needs the sources no more');
  t.equal(repeated?.data.sources, request?.data.sources);
});

void test('work that fails or is cancelled has its time, of each account', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_FAILED_WORK_MS: '10000' } });
  const [mallory, ada] = [await api.newAccount(), await api.newAccount()];
  const body = { sources: [{ file: base64(ONE) }] };
  const ask = async (key: string, sent: object = body, headers = {}) =>
    await post(api, key, sent, headers);
  const endAfter = async (
    ms: number,
    { id: accountId, key }: typeof ada,
    end: (id: string) => Promise<unknown>,
    headers = {},
  ): Promise<void> => {
    const conversionId = String((await ask(key, body, headers)).body['id']);
    const by = { renderer: 'test', delivery: 'one', at: api.clock.now() };
    const command = { type: 'StartConversion', accountId, conversionId, ...by } as const;
    await api.actors.send(conversionAggregate, conversionId, command, api.context());
    api.clock.time += ms;
    await end(conversionId);
  };
  const fail =
    ({ id }: typeof ada, code?: 'renderer_failed') =>
    async (conversionId: string) =>
      await api.fail(id, conversionId, 'x', code);
  await endAfter(30_000, ada, fail(ada, 'renderer_failed'));
  t.equal((await ask(ada.key)).status, 202, 'faults of the renderer are not theirs');
  const cancel = async (id: string) =>
    await api.call('DELETE', `${BASE}/conversions/${id}/`, { key: mallory.key });
  await endAfter(6_000, mallory, cancel, { 'Idempotency-Key': 'k' });
  await endAfter(6_000, mallory, fail(mallory));
  const refused = await ask(mallory.key);
  t.match(refusal(refused), { status: 429, error: 'rate_limit_exceeded' });
  t.match(refused.body, { message: /^Conversions of PDFs.* that failed .* 10 s a minute/ });
  const seconds = Number(refused.headers.get('retry-after'));
  t.ok(seconds >= 1 && seconds <= 12, `${seconds} s`);
  const again = await ask(mallory.key, body, { 'Idempotency-Key': 'k' });
  t.equal(again.status, 202, 'what was accepted stays so');
  t.equal((await ask(ada.key)).status, 202, 'others have their own');
  api.clock.time += seconds * 1000;
  t.equal((await ask(mallory.key)).status, 202);
});

void test('work on a printed PDF that fails has its time, too', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_FAILED_WORK_MS: '10000' } });
  const { id: accountId, key } = await api.newAccount();
  const page = { html: '<p>x</p>' };
  const work = { ...page, pdf: { conformance: ['pdfa-2b'] } };
  const ask = async (path: string, body?: object, headers = {}) =>
    await api.call('POST', `${BASE}${path}`, { key, headers, ...(body && { body }) });
  const failAfter = async (
    ms: number,
    asked: Awaited<ReturnType<typeof ask>>,
    code: ConversionFailureCode,
  ): Promise<string> => {
    t.equal(asked.status, 202, asked.text);
    const conversionId = String(asked.body['id']);
    const by = { renderer: 'test', delivery: 'one', at: api.clock.now() };
    const command = { type: 'StartConversion', accountId, conversionId, ...by } as const;
    await api.actors.send(conversionAggregate, conversionId, command, api.context());
    api.clock.time += ms;
    await api.fail(accountId, conversionId, 'x', code);
    return conversionId;
  };
  await failAfter(15_000, await ask('/pdf/', page), 'timeout');
  await failAfter(15_000, await ask('/pdf/', work), 'navigation_failed');
  const first = await ask('/pdf/', work, { 'Idempotency-Key': 'k' });
  const id = await failAfter(15_000, first, 'not_conforming');
  for (const refused of [
    await ask('/pdf/', work),
    await ask('/batches/', { requests: [page, work] }),
    await ask(`/conversions/${id}/retry/`),
  ]) {
    t.match(refusal(refused), { status: 429, error: 'rate_limit_exceeded' });
    t.match(refused.body, { message: /with work on their PDF, .* 10 s a minute/ });
  }
  const again = await ask('/pdf/', work, { 'Idempotency-Key': 'k' });
  t.equal(again.status, 202, 'what was accepted stays so');
  t.equal((await ask('/pdf/', page)).status, 202, 'pages without work go on');
  t.equal((await ask('/batches/', { requests: [page] })).status, 202);
  api.clock.time += 60_000;
  t.equal((await ask('/pdf/', work)).status, 202);
});

const pagesOf = (pages: string) => [
  { type: 'rotate', rotate: 90 },
  { type: 'pages', pages },
  { type: 'optimize' },
];

void test('split makes a conversion of each part', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const body = {
    sources: [{ file: base64(TWO) }],
    steps: [
      { type: 'rotate', rotate: 90 },
      { type: 'optimize' },
      { type: 'split', parts: ['2', '1, 2'] },
    ],
    filename: 'Part.pdf',
    reference: 'R',
  };
  const answer = await post(api, key, body, { 'Idempotency-Key': 'split' });
  t.equal(answer.status, 202, answer.text);
  t.match(answer.body, { id: /^batch_/, status: 'running', total: 2, pending: 2 });
  const id = String(answer.body['id']);
  t.equal(answer.headers.get('location'), `${api.origin}${BASE}/batches/${id}/`);
  const parts = await requested(api, accountId, 2);
  t.strictSame(
    parts.map(({ stored }) => stored.document?.steps),
    [pagesOf('2'), pagesOf('1, 2')],
  );
  const [first] = answer.body['conversions'] as readonly string[];
  const record = await api.call('GET', `${BASE}/conversions/${first}/`, { key });
  t.match(record.body, { kind: 'document', filename: 'Part 1.pdf', batch: id, reference: 'R' });
  const again = await post(api, key, body, { 'Idempotency-Key': 'split' });
  t.equal(again.text, answer.text);
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).body['credits'], 98);
});

void test('all PDFs together are bounded as a body is', async (t) => {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '4096' } });
  const { id: accountId, key } = await api.newAccount();
  const { body: made } = await api.call('POST', `${BASE}/pdf/`, {
    key,
    body: { html: '<p>x</p>' },
  });
  const conversion = String(made['id']);
  await api.complete(accountId, conversion, Buffer.concat([ONE, Buffer.alloc(2_000, ' ')]));
  const twice = { sources: [{ conversion }, { conversion }] };
  const large = { status: 413, error: 'payload_too_large', details: ['sources'] };
  t.strictSame(refusal(await post(api, key, twice)), large);
  const parts = Array.from({ length: 20 }, () => '1');
  const many = { sources: [{ conversion }], steps: [{ type: 'split', parts }] };
  const copies = { status: 413, error: 'payload_too_large', details: ['steps'] };
  t.strictSame(refusal(await post(api, key, many)), copies);
  t.equal(await countRequested(api, accountId), 1, 'nothing of them was accepted');
});
