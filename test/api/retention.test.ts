/** `retention_seconds` of a request: how long its PDF can be had, and what counts as its first download. */
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { startRetention } from '../../src/process-managers/retention.ts';
import { type Api, BASE, refusal } from '../support/api.ts';
import { fileUrl, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';
import { pdfOf } from '../support/written-pdf.ts';

type Started = Awaited<ReturnType<typeof startWithConversion>>;

async function request(api: Started, retention: number, more: object = {}): Promise<string> {
  const body = { html: '<p>x</p>', retention_seconds: retention, ...more };
  const answer = await api.call('POST', `${BASE}/pdf/`, { key: api.account.key, body });
  return answer.body['id'] as string;
}

async function completed(api: Started, retention: number, pdf = PDF): Promise<string> {
  const id = await request(api, retention);
  await api.complete(api.account.id, id, pdf);
  return id;
}

const deletionsOf = async (api: Api, id: string) =>
  (await api.log()).filter(
    ({ stream, type }) => stream === `conversion-${id}` && type === 'ConversionDeleted',
  );

const deleted = (api: Api, id: string) =>
  eventually('the deletion', async () => (await deletionsOf(api, id))[0]);

/** Resolves when no answer with a file is under way. */
const allSent = (api: Api) =>
  eventually('the end of all downloads', () =>
    api.budgets.counts().every(({ name, used }) => name !== 'maxDownloads' || used === 0)
      ? true
      : undefined,
  );

void test('a PDF with retention 0 is deleted after its first complete download', async (t) => {
  const api = await startWithConversion(t);
  const { key } = api.account;
  const size = PDF.length;
  const file = (id: string, headers = {}) =>
    api.call('GET', `${BASE}/conversions/${id}/file/`, { key, headers });

  const id = await completed(api, 0);
  const url = fileUrl(await api.get(id));
  t.equal((await api.call('HEAD', url)).status, 200);
  const etag = (await api.call('HEAD', url)).headers.get('etag') ?? '';
  t.equal((await file(id, { 'If-None-Match': etag })).status, 304);
  for (const part of ['bytes=0-9', 'bytes=-5', `bytes=9-${size - 1}`, `bytes=${size}-`]) {
    t.not((await file(id, { Range: part })).status, 200, part);
    await allSent(api);
    t.equal((await api.call('HEAD', url)).status, 200, `${part} is not all of it`);
  }
  t.strictSame(await deletionsOf(api, id), []);
  t.equal((await api.call('GET', url)).text, PDF.toString());
  const event = await deleted(api, id);
  t.match(JSON.parse(event.data), { afterDownload: true });
  t.match(JSON.parse(event.metadata), { actor: { kind: 'anonymous' } });
  t.strictSame(refusal(await file(id)), { status: 410, error: 'gone' });
  t.match((await api.get(id)).body, { status: 'completed', retention_seconds: 0 });
  const history = await api.call('GET', `${BASE}/conversions/${id}/events/`, { key });
  t.match(history.text, /The PDF was downloaded, and the request asked for the deletion/);

  for (const [what, headers] of [
    ['with a key', {}],
    ['the rest', { Range: 'bytes=10-' }],
    ['all as a range', { Range: `bytes=0-${size - 1}` }],
  ] as const) {
    const one = await completed(api, 0);
    await file(one, headers);
    t.match(JSON.parse((await deleted(api, one)).metadata), { actor: { kind: 'key' } }, what);
  }

  const body = { html: '<p>x</p>', retention_seconds: 0 };
  const headers = { Prefer: 'wait=30', Accept: 'application/pdf' };
  const waiting = api.call('POST', `${BASE}/pdf/`, { key, body, headers });
  const own = await eventually('the request', async () => {
    const list = await api.call('GET', `${BASE}/conversions/?status=pending`, { key });
    return (list.body as unknown as { id: string }[])[0]?.id;
  });
  await api.complete(api.account.id, own, PDF);
  t.equal((await waiting).text, PDF.toString());
  t.ok(await deleted(api, own), 'the answer to the request');

  const kept = await completed(api, 60);
  t.equal((await file(kept)).status, 200);
  await allSent(api);
  t.equal((await file(kept)).status, 200, 'what has another retention stays');
  t.strictSame(await deletionsOf(api, kept), []);
});

void test('a download that breaks off deletes nothing, nor does one under a hold', async (t) => {
  const api = await startWithConversion(t);
  const large = Buffer.concat([PDF, Buffer.alloc(32_000_000, 1)]);
  const id = await completed(api, 0, large);
  const url = fileUrl(await api.get(id));
  const away = new AbortController();
  const answer = await fetch(url, { signal: away.signal });
  await answer.body?.getReader().read();
  away.abort();
  await allSent(api);
  t.equal((await api.call('HEAD', url)).status, 200);

  const hold = (type: 'PlaceHold' | 'ReleaseHold') =>
    sendToAccount(api, { type, accountId: api.account.id, now: api.clock.now() }, api.context());
  await hold('PlaceHold');
  t.equal((await api.call('GET', url)).status, 200);
  await allSent(api);
  t.equal((await api.call('GET', url)).status, 200);
  await allSent(api);
  await hold('ReleaseHold');
  t.strictSame(await deletionsOf(api, id), []);
  t.equal((await api.call('GET', url)).status, 200);
  t.ok(await deleted(api, id));
});

void test('what a request asked for ends by the clock, and is kept through a retry', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const [unread, short, long] = [
    await completed(api, 0),
    await completed(api, 60),
    await completed(api, 7200),
  ];
  const status = async (id: string) =>
    (
      await api.call('GET', `${BASE}/conversions/${id}/file/`, {
        key,
        headers: { Range: 'bytes=0-1' },
      })
    ).status;
  const retry = await api.call('POST', `${BASE}/conversions/${short}/retry/`, { key });
  const again = retry.body['id'] as string;
  t.match(
    (await api.log()).filter(
      ({ type, data }) => type === 'ConversionRequested' && data.includes(again),
    ),
    [{ data: /"retentionSeconds":60/ }],
  );
  await api.complete(accountId, again, PDF);
  t.strictSame(await Promise.all([unread, short, long, again].map(status)), [206, 206, 206, 206]);
  api.clock.time += 60_000;
  t.strictSame(await Promise.all([unread, short, long, again].map(status)), [206, 410, 206, 410]);
  api.clock.time += 3_540_000;
  t.strictSame(await Promise.all([unread, long].map(status)), [410, 206], 'an hour at the latest');
  await api.runner.waitFor(await api.store.head());
  const retention = startRetention({
    ...api,
    retentionSeconds: 604_800,
    failedRetentionSeconds: 60,
  });
  const expired = await eventually('three deletions', async () => {
    const all = (await api.log()).filter(({ type }) => type === 'ConversionExpired');
    return all.length === 3 ? all : undefined;
  });
  await retention.stop();
  t.notOk(expired.some(({ stream }) => stream.endsWith(long)));
});

void test("a record by itself has the retention of its request, and lists also the account's", async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const change = { type: 'ChangeRetention', accountId, retentionSeconds: 60 } as const;
  await sendToAccount(api, change, api.context());
  const plain = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = plain.body['id'] as string;
  t.strictSame((await api.get(id)).body, plain.body, 'a plain request is answered as before');
  await api.complete(accountId, id, PDF);
  const retried = await api.call('POST', `${BASE}/conversions/${id}/retry/`, { key });
  const again = retried.body['id'] as string;
  const asked = await request(api, 30);
  const alone = async (each: string) => (await api.get(each)).body['retention_seconds'];
  t.strictSame(
    [await alone(id), await alone(again), await alone(asked)],
    [undefined, undefined, 30],
  );
  const list = await api.call('GET', `${BASE}/conversions/?page_size=3`, { key });
  t.match(list.body, [
    { id: asked, retention_seconds: 30 },
    { id: again, retention_seconds: 60 },
    { id, retention_seconds: 60 },
  ]);
});

void test('a repetition with its Idempotency-Key gets its answer after the retention of its account was shortened', async (t) => {
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const file = pdfOf(['One']).toString('base64');
  const requests = [
    ['pdf', { html: '<p>x</p>', retention_seconds: 60 }],
    ['documents', { sources: [{ file }], retention_seconds: 60 }],
  ] as const;
  const ask = async (n: number, idempotencyKey: string) => {
    const [path, body] = requests[n] ?? requests[0];
    const headers = { 'Idempotency-Key': idempotencyKey };
    return await api.call('POST', `${BASE}/${path}/`, { key, body, headers });
  };
  const first = [await ask(0, 'one'), await ask(1, 'one')];
  const change = { type: 'ChangeRetention', accountId, retentionSeconds: 30 } as const;
  await sendToAccount(api, change, api.context());
  for (const [n, { status, body }] of first.entries()) {
    t.equal(status, 202);
    t.match(await ask(n, 'one'), { status, body: { id: body['id'] } });
    t.match(await ask(n, 'other'), { status: 400, body: { details: { retention_seconds: [] } } });
  }
});
