/** Test keys are kept with less care than others: one that leaks must not reach what is not a test. */
import { test } from 'tap';
import { type Api, BASE, startApi } from '../support/api.ts';
import { pdfOf } from '../support/written-pdf.ts';

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
const HTML = { html: '<p>secret</p>', reference: 'order-4711' };

async function newKey(api: Api, maker: string, bounds: object): Promise<string> {
  const body = { name: 'x', ...bounds };
  const made = await api.call('POST', `${BASE}/api-keys/`, { key: maker, body });
  if (made.status !== 201) throw new Error(made.text);
  return String(made.body['key']);
}

async function start(api: Api) {
  const { id: accountId, key, keyId } = await api.newAccount();
  const tester = await newKey(api, key, { test: true });
  const ask = async (by: string, method: string, path: string, body?: object, headers = {}) =>
    await api.call(method, BASE + path, { key: by, headers, ...(body && { body }) });
  const made = async (by: string, path: string, body: object) =>
    String((await ask(by, 'POST', path, body)).body['id']);
  return { accountId, key, keyId, tester, ask, made };
}

void test('a test key neither sees nor deletes what is not a test', async (t) => {
  const api = await startApi(t);
  const { accountId, key, tester, ask, made } = await start(api);
  const [live, own] = [await made(key, '/pdf/', HTML), await made(tester, '/pdf/', HTML)];
  const batch = { requests: [HTML] };
  const liveBatch = await made(key, '/batches/', batch);
  const ownBatch = await made(tester, '/batches/', batch);
  await api.complete(accountId, live, PDF);
  await api.complete(accountId, own, Buffer.concat([PDF, PDF]));

  const parts = ['', 'file/', 'request/', 'manifest/', 'events/', 'proof/', 'evidence/', 'links/'];
  for (const part of parts) {
    t.equal((await ask(tester, 'GET', `/conversions/${live}/${part}`)).status, 404, part);
    t.equal((await ask(tester, 'GET', `/conversions/${own}/${part}`)).status, 200, part);
  }
  for (const part of ['picture/', 'thumbnail/']) {
    const answer = await ask(tester, 'GET', `/conversions/${live}/${part}`);
    t.equal(answer.body['message'], 'There is no such conversion.', part);
  }
  const earlier = `/conversions/${live}/?as_of=${await api.store.head()}`;
  t.equal((await ask(tester, 'GET', earlier)).status, 404, 'at an earlier moment');
  for (const act of ['retry/', 'rerender/']) {
    t.equal((await ask(tester, 'POST', `/conversions/${live}/${act}`)).status, 404, act);
    t.equal((await ask(tester, 'POST', `/conversions/${own}/${act}`)).status, 202, act);
  }
  t.equal((await ask(tester, 'GET', `/conversions/zip/?id=${own}&id=${live}`)).status, 404);
  const sources = [{ conversion: live }];
  t.equal((await ask(tester, 'POST', '/documents/', { sources })).status, 404);
  for (const [method, part] of [
    ['GET', ''],
    ['GET', 'events/'],
    ['GET', 'zip/?partial=true'],
    ['DELETE', ''],
  ] as const) {
    const path = `/batches/${liveBatch}/${part}`;
    t.equal((await ask(tester, method, path)).status, 404, `${method} ${part}`);
  }
  const sha256 = String((await ask(key, 'GET', `/conversions/${live}/`)).body['sha256']);
  t.strictSame((await ask(tester, 'POST', '/verify/', { sha256 })).body, { known: false });
  t.match((await ask(key, 'POST', '/verify/', { sha256 })).body, { known: true });
  t.equal((await ask(tester, 'DELETE', `/conversions/${live}/`)).status, 404);
  t.equal((await ask(key, 'GET', `/conversions/${live}/file/`)).status, 200, 'it is still there');

  const idsOf = async (path: string) => {
    const { text, headers } = await ask(tester, 'GET', path);
    t.equal(headers.get('x-total-count'), String((JSON.parse(text) as object[]).length), path);
    return text;
  };
  for (const query of ['', '?reference=order-4711', '?q=order', `?id=${live}`, '?order=oldest']) {
    t.notMatch(await idsOf(`/conversions/${query}`), live, query);
  }
  t.match(await idsOf('/conversions/'), own);
  t.notMatch(await idsOf(`/conversions/?as_of=${await api.store.head()}`), live);
  const csv = await ask(tester, 'GET', '/conversions/', undefined, { Accept: 'text/csv' });
  t.match(csv.text, own);
  t.notMatch(csv.text, live);
  const batches = await idsOf('/batches/');
  t.match(batches, ownBatch);
  t.notMatch(batches, liveBatch);
  t.match((await ask(key, 'GET', '/batches/')).text, liveBatch);
  t.equal((await ask(tester, 'DELETE', `/batches/${ownBatch}/`)).status, 204);
  t.equal((await ask(tester, 'DELETE', `/conversions/${own}/`)).status, 204);
});

void test('a test key neither lists nor revokes a key that is not for tests', async (t) => {
  const api = await startApi(t);
  const { key, keyId, tester, ask, made } = await start(api);
  const other = await made(key, '/api-keys/', { name: 'another', test: true });
  t.equal((await ask(tester, 'DELETE', `/api-keys/${keyId}/`)).status, 404);
  t.equal((await ask(key, 'GET', '/account/')).status, 200, 'it still works');
  const { text, headers } = await ask(tester, 'GET', '/api-keys/');
  t.notMatch(text, keyId);
  t.match(text, other);
  t.equal(headers.get('x-total-count'), '2');
  t.equal((await ask(tester, 'DELETE', `/api-keys/${other}/`)).status, 204);
});

void test('a test key is not told of what is not a test', async (t) => {
  const api = await startApi(t);
  const { tester, key, made } = await start(api);
  const response = await fetch(`${api.origin}${BASE}/conversions/stream/`, {
    headers: { 'X-API-Key': tester },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error('There is no stream.');
  t.teardown(() => reader.cancel());
  let text = (await reader.read()).value ?? '';
  const live = await made(key, '/pdf/', HTML);
  const own = await made(tester, '/pdf/', HTML);
  while (!text.includes(own)) text += (await reader.read()).value ?? '';
  t.notMatch(text, live);
});

void test('an Idempotency-Key of a test is not that of another request', async (t) => {
  const api = await startApi(t);
  const { tester, key, ask } = await start(api);
  const headers = { 'Idempotency-Key': 'order-4711' };
  const post = async (by: string, path: string, body: object = HTML) =>
    String((await ask(by, 'POST', path, body, headers)).body['id']);
  const live = await post(key, '/pdf/');
  const tested = await post(tester, '/pdf/');
  t.not(tested, live);
  t.equal(await post(tester, '/pdf/'), tested);
  t.equal(await post(key, '/pdf/?test=true'), tested);
  t.equal(await post(key, '/pdf/'), live);
  const batch = { requests: [HTML] };
  t.not(await post(tester, '/batches/', batch), await post(key, '/batches/', batch));
});

void test('test=true makes a test by each route that asks for conversions', async (t) => {
  const api = await startApi(t);
  const { accountId, key, made, ask } = await start(api);
  const first = await made(key, '/pdf/', HTML);
  await api.complete(accountId, first, PDF);
  const document = { sources: [{ file: pdfOf(['x']).toString('base64') }] };
  const split = { ...document, steps: [{ type: 'split', parts: ['1', '1'] }] };
  const routes: readonly (readonly [path: string, body?: object])[] = [
    ['/pdf/', HTML],
    ['/documents/', document],
    ['/documents/', split],
    ['/batches/', { requests: [HTML] }],
    [`/conversions/${first}/retry/`],
    [`/conversions/${first}/rerender/`],
  ];
  const credits = async () => (await ask(key, 'GET', '/account/')).body['credits'];
  const before = await credits();
  for (const [path, body] of routes) {
    const wrong = await ask(key, 'POST', `${path}?test=yes`, body);
    t.match(wrong.body, { details: { test: ['Must be true or false.'] } }, path);
    const asked = await ask(key, 'POST', `${path}?test=true`, body);
    t.equal(asked.status, 202, `${path}: ${asked.text}`);
    const id = String(asked.body['id']);
    const kind = id.startsWith('batch_') ? 'batches' : 'conversions';
    t.match((await ask(key, 'GET', `/${kind}/${id}/`)).body, { test: true }, path);
  }
  t.equal(await credits(), before, 'no credit is taken');
});
