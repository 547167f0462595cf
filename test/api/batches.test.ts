import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { unzipSync } from 'fflate';
import { test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import { webhookQueries } from '../../projections/webhook-queries.ts';
import { exportAccount } from '../../src/accounts/account-export.ts';
import { beginErasure } from '../../src/accounts/erasure.ts';
import { verifyLog } from '../../src/log/verify-log.ts';
import { startBatches } from '../../src/process-managers/batches.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { startRetention } from '../../src/process-managers/retention.ts';
import { type Api, BASE, type CallOptions, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { violations } from '../support/invariants.ts';

const BATCHES = `${BASE}/batches/`;
const PDF = Buffer.from('%PDF-1.7\nx\n%%EOF\n');

const post = (api: Api, key: string, body: unknown, headers: CallOptions['headers'] = {}) =>
  api.call('POST', BATCHES, { key, body, headers });
const letters = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ html: `<p>Letter ${n}</p>` }));
const idsOf = ({ body }: { readonly body: Readonly<Record<string, unknown>> }) =>
  body['conversions'] as readonly string[];
const creditsOf = async (api: Api, key: string) =>
  (await api.call('GET', `${BASE}/account/`, { key })).body['credits'];

void test('a batch is accepted in one append, followed, listed and ended once', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key, keyId } = await api.newAccount();
  const before = (await api.store.readStream(`account-${accountId}`)).length;
  const answer = await post(api, key, {
    requests: [
      { html: '<p>1</p>', filename: 'First.pdf', priority: 'normal', reference: 'Own' },
      { html: '<p>2</p><img src="a.png">', files: { 'a.png': 'AAAA' }, scale: 0.5 },
      { url: 'https://example.com/', priority: null },
    ],
    priority: 'low',
    reference: 'Monthly',
    tags: { month: '11' },
  });
  t.equal(answer.status, 202, answer.text);
  const [first = '', second = '', third = ''] = idsOf(answer);
  const id = String(answer.body['id']);
  const counts = { total: 3, pending: 3, completed: 0, failed: 0 };
  t.match(answer.body, { id: /^batch_[0-9a-z]{26}$/, status: 'running', ...counts });
  const fields = ['id', 'status', 'total', 'pending', 'completed', 'failed', 'created_at'];
  t.strictSame(Object.keys(answer.body), [...fields, 'conversions']);
  t.equal(answer.headers.get('location'), `${api.origin}${BATCHES}${id}/`);
  const events = (await api.store.readStream(`account-${accountId}`)).slice(before);
  const pair = ['CreditDebited', 'ConversionRequested'];
  t.strictSame(
    events.map(({ type }) => type),
    ['BatchRequested', ...pair, ...pair, ...pair],
  );
  t.match(events[0]?.metadata, {
    actor: { kind: 'key', id: keyId },
    correlationId: id,
    client: /./,
  });
  t.strictSame(
    events.flatMap(({ data }) => ('batchId' in data && 'conversionId' in data ? data : [])).length,
    3,
  );
  const priorities = events.flatMap(({ type, data }) =>
    type === 'ConversionRequested' ? [(data as { priority?: string }).priority] : [],
  );
  t.strictSame(priorities, [undefined, 'low', 'low'], 'its own where it has one');
  t.equal(await creditsOf(api, key), 97);

  const record = await api.call('GET', `${BATCHES}${id}/`, { key });
  const { conversions, ...accepted } = answer.body;
  const naming = { reference: 'Monthly', tags: { month: '11' } };
  t.strictSame(record.body, { ...accepted, ...naming, conversions });
  for (const [of, reference] of [
    [first, 'Own'],
    [second, 'Monthly'],
  ]) {
    const { body } = await api.call('GET', `${BASE}/conversions/${of}/`, { key });
    t.match(body, { reference, tags: { month: '11' } });
  }
  const ledger = await api.call('GET', `${BASE}/account/ledger/`, { key });
  t.match(ledger.body, [
    { conversion_id: third },
    { conversion_id: second },
    { conversion_id: first },
  ]);
  const request = await api.call('GET', `${BASE}/conversions/${second}/request/`, { key });
  t.match(request.body, { options: { priority: 'low', scale: 0.5, files: { 'a.png': 'AAAA' } } });

  const managers = startBatches(api);
  await api.complete(accountId, first, PDF);
  await api.fail(accountId, second, 'x');
  const half = await api.call('GET', `${BATCHES}${id}/`, { key });
  t.match(half.body, { status: 'running', pending: 1, completed: 1, failed: 1 });
  const waiting = api.call('GET', `${BATCHES}${id}/`, { key, headers: { Prefer: 'wait=30' } });
  await api.complete(accountId, third, PDF);
  const ended = await waiting;
  t.match(ended.body, { status: 'ended', pending: 0, completed: 2, failed: 1, ended_at: /Z$/ });
  t.equal(ended.headers.get('preference-applied'), 'wait=30');
  await managers.stop();
  const again = startBatches(api);
  await again.stop();
  const ends = await api.store.readStream(`batch-${id}`);
  t.match(ends, [{ type: 'BatchEnded', data: { total: 3, completed: 2, failed: 1 } }]);
  t.equal(ends.length, 1);

  const history = await api.call('GET', `${BATCHES}${id}/events/`, { key });
  const entries = JSON.parse(history.text) as readonly {
    readonly type: string;
    readonly summary: string;
    readonly name?: string;
  }[];
  t.strictSame(
    entries.map(({ type }) => type),
    [
      'BatchRequested',
      ...pair,
      ...pair,
      ...pair,
      'ConversionCompleted',
      'ConversionFailed',
      'ConversionCompleted',
      'BatchEnded',
    ],
    'its own events and those of its conversions, oldest first',
  );
  t.match(entries.at(0), { summary: `The batch ${id} of 3 PDFs was requested.` });
  const asked = `A PDF was requested, from HTML, with a file name, a reference and tags, in the batch ${id}.`;
  t.match(entries.at(2), { summary: asked, name: 'First.pdf' });
  t.match(entries.at(-1), { summary: `The batch ${id} ended: 2 completed, 1 failed.` });
  const since = `${BASE}/account/events/?batch_id=${id}&type=BatchEnded`;
  t.match((await api.call('GET', since, { key })).body, [{ type: 'BatchEnded' }]);

  const exported = new Map<string, string>();
  for await (const { name, content } of exportAccount(
    { ...api, streams: api.store },
    accountId,
    api.clock.time,
  )) {
    if (name.endsWith('.jsonl')) exported.set(name, await text(content));
  }
  t.strictSame(JSON.parse(exported.get('batches.jsonl') ?? ''), {
    ...(ended.body as object),
    ...naming,
    conversions,
  });
  const records = exported.get('conversions.jsonl')?.trim().split('\n') ?? [];
  const { month } = naming.tags;
  t.match(JSON.parse(records.at(-1) ?? ''), {
    id: first,
    batch_id: id,
    filename: 'First.pdf',
    reference: 'Own',
    tags: { month },
  });

  const next = await post(api, key, { requests: letters(1) });
  const list = await api.call('GET', `${BATCHES}?page_size=1`, { key });
  t.equal(list.headers.get('x-total-count'), '2');
  t.strictSame(
    list.body,
    [{ ...next.body, conversions: undefined }].map(
      (each) => JSON.parse(JSON.stringify(each)) as object,
    ),
  );
  const other = await api.newAccount();
  for (const [asker, path] of [
    [other.key, `${BATCHES}${id}/`],
    [key, `${BATCHES}batch_00000000000000000000000000/`],
  ] as const) {
    t.strictSame(refusal(await api.call('GET', path, { key: asker })), {
      status: 404,
      error: 'not_found',
    });
  }
  t.strictSame((await api.call('GET', BATCHES, { key: other.key })).body, []);
  t.strictSame(violations(await api.log(), { settled: false }), []);
});

void test('what is wrong: nothing is accepted, and each fault is named by the number of its request', async (t) => {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '300000', MAX_HTML_BYTES: '2000' } });
  const { id, key } = await api.newAccount({ credits: 2000 });
  const many = (count: number, wrong: Readonly<Record<number, unknown>>) =>
    letters(count).map((each, n) => wrong[n] ?? each);
  const cases: [what: string, body: unknown, details: string[]][] = [
    ['no requests', {}, ['requests']],
    ['null', { requests: null }, ['requests']],
    [
      'an unknown field of a request that is null',
      { requests: [{ html: '<p>x</p>', nope: null }] },
      ['requests.0.nope'],
    ],
    ['none', { requests: [] }, ['requests']],
    ['too many', { requests: letters(1001) }, ['requests']],
    ['an object', { requests: { 0: { html: '<p>x</p>' } } }, ['requests']],
    ['a text', { requests: 'html' }, ['requests']],
    [
      'the 500th',
      { requests: many(1000, { 499: { html: '<p>x</p>', scale: 3 } }) },
      ['requests.499.scale'],
    ],
    [
      'two with errors',
      { requests: many(3, { 0: { url: 'ftp://x' }, 2: { html: ' ', pageSize: 'A4' } }) },
      ['requests.0.url', 'requests.2.html', 'requests.2.pageSize'],
    ],
    [
      'items of other types',
      { requests: ['<p>x</p>', null, 7, [], true] },
      ['requests.0', 'requests.1', 'requests.2', 'requests.3', 'requests.4'],
    ],
    ['neither html nor url', { requests: [{}] }, ['requests.0.html', 'requests.0.url']],
    [
      'wrong defaults',
      { requests: letters(2), priority: 'high', reference: '', tags: { 'A B': 'c', d: '' } },
      ['priority', 'reference', 'tags.A B', 'tags.d'],
    ],
    [
      'too long a retention',
      { requests: [{ html: '<p>x</p>', retention_seconds: 604_801 }] },
      ['requests.0.retention_seconds'],
    ],
    ['webhook_url', { requests: letters(1), webhook_url: 'ftp://x' }, ['webhook_url']],
    [
      'a wrong priority',
      { requests: [{ html: '<p>x</p>', priority: 'high' }] },
      ['requests.0.priority'],
    ],
    ['an unknown field', { request: letters(1) }, ['request', 'requests']],
    ['a field of one', { html: '<p>x</p>', requests: letters(1) }, ['html']],
    ['a file', { requests: [{ html: '<p>x</p>', files: { '../a': 'AA' } }] }, ['requests.0.files']],
  ];
  for (const [what, body, details] of cases) {
    const expected = { status: 400, error: 'validation_error', details };
    const answer = await post(api, key, body);
    const found = refusal(answer) as { details?: string[] };
    t.strictSame(
      { ...found, details: found.details?.map((each) => each.replace(/\.\.\.\/a$|\.\.\/a$/, '')) },
      expected,
      what,
    );
  }
  const all = await post(api, key, { requests: Array.from({ length: 1000 }, () => ({ html: 7 })) });
  t.equal(Object.keys(all.body['details'] as object).length, 1000, 'all mistakes at once');
  const unknown = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`x${n}`, 1]));
  const crowded = await post(api, key, {
    requests: Array.from({ length: 1000 }, () => ({ html: '<p>x</p>', ...unknown })),
  });
  const named = Object.keys(crowded.body['details'] as object);
  t.equal(named.length, 2000);
  const numbers = new Set(named.map((each) => each.split('.')[1]));
  t.equal(numbers.size, 1000, 'something of each request');
  t.match(crowded.body['message'], /See details for 1997 more fields\. Not listed: 4000 more/);
  const large = `<p>${'x'.repeat(2000)}</p>`;
  const tooLarge = await post(api, key, { requests: many(2, { 1: { html: large } }) });
  const details = ['requests.1.html'];
  t.strictSame(refusal(tooLarge), { status: 413, error: 'payload_too_large', details });
  t.match(tooLarge.body['message'], /^requests\.1\.html: /);
  const whole = await post(api, key, { requests: letters(1), x: 'x'.repeat(300_000) });
  t.strictSame(refusal(whole), { status: 413, error: 'payload_too_large' });
  const badKey = await post(api, key, { requests: letters(1) }, { 'Idempotency-Key': 'ä' });
  t.equal(badKey.status, 400);
  const events = await api.store.readStream(`account-${id}`);
  t.notOk(events.some(({ type }) => type === 'BatchRequested' || type === 'CreditDebited'));
  t.equal(await creditsOf(api, key), 2000);
});

void test('credits, keys and the account, at the same time', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount({ credits: 10 });
  const both = await Promise.all([1, 2].map(() => post(api, key, { requests: letters(6) })));
  t.strictSame(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [202, 402],
  );
  const poor = both.find(({ status }) => status === 402);
  t.match(poor?.body, { error: 'insufficient_credits', message: /takes 6 credits.* has 4\./ });
  t.equal(await creditsOf(api, key), 4);

  const headers = { 'Idempotency-Key': 'monthly' };
  const same = await Promise.all(
    Array.from({ length: 5 }, () => post(api, key, { requests: letters(2) }, headers)),
  );
  t.equal(new Set(same.map((each) => each.text)).size, 1, 'byte for byte');
  const replayed = same.filter((each) => each.headers.get('idempotent-replayed') === 'true');
  t.equal(replayed.length, 4);
  t.equal(await creditsOf(api, key), 2);
  const [conversion = ''] = idsOf(same[0] ?? { body: {} });
  await api.complete(id, conversion, PDF);
  const later = await post(api, key, { requests: letters(1) }, headers);
  t.equal(later.text, same[0]?.text, 'whatever it asks for, and whatever has become of it');
  t.equal((await post(api, key, { requests: [] }, headers)).status, 400);
  const single = await api.call('POST', `${BASE}/pdf/`, {
    key,
    headers,
    body: { html: '<p>x</p>' },
  });
  t.match(single.body, { id: /^conv_/ }, 'the key of a batch is not that of a conversion');
  api.clock.time += 24 * 60 * 60_000;
  const fresh = await post(api, key, { requests: letters(1) }, headers);
  t.not(fresh.body['id'], later.body['id'], 'a day later it is new');
  t.equal(fresh.status, 202);

  const rich = await api.newAccount();
  const [answer] = await Promise.all([
    post(api, rich.key, { requests: letters(50) }),
    beginErasure(api, rich.id, api.context()).catch(() => {}),
  ]);
  t.ok([202, 401, 404].includes(answer.status), answer.text);
  t.notOk((await post(api, rich.key, { requests: letters(1) })).status === 202);
  t.strictSame(violations(await api.log(), { settled: false }), []);
});

void test('a batch is cancelled: what has not ended fails, and its credit comes back', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount({ credits: 5 });
  const batch = await post(api, key, { requests: letters(5) });
  const [done = '', ...open] = idsOf(batch);
  await api.complete(accountId, done, PDF);
  const own = `${BATCHES}${String(batch.body['id'])}/`;
  const asked = () => api.call('GET', own, { key });
  const cancel = () => api.call('DELETE', own, { key });
  const stranger = await api.newAccount();
  t.equal((await api.call('DELETE', own, { key: stranger.key })).status, 404);
  t.same([(await cancel()).status, (await cancel()).status], [204, 204]);
  const now = await asked();
  t.match(now.body, { status: 'cancelled', pending: 4, completed: 1, cancelled_at: /Z$/ });
  t.notOk('ended_at' in now.body);
  // As after a crash: the leader begins with what the log says.
  const kept = { retentionSeconds: 3600, failedRetentionSeconds: 60 };
  const managers = [startBatches(api), startRefunds(api), startRetention({ ...api, ...kept })];
  const waited = await api.call('GET', own, { key, headers: { Prefer: 'wait=30' } });
  t.match(waited.body, {
    status: 'cancelled',
    pending: 0,
    completed: 1,
    failed: 4,
    ended_at: /Z$/,
  });
  for (const id of open) {
    const { body } = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
    const told = { failure_code: 'cancelled', error_message: 'Cancelled by the key test.' };
    t.match(body, { status: 'failed', batch: batch.body['id'], ...told });
  }
  await eventually('credits', async () => ((await creditsOf(api, key)) === 4 ? true : undefined));
  await eventually('the deletion of the requests', async () => {
    const expired = (await api.log()).filter(({ type }) => type === 'ConversionExpired');
    return expired.length === open.length ? true : undefined;
  });
  for (const manager of managers) await manager.stop();
  t.equal((await cancel()).status, 204, 'after its end, too');
  t.equal((await asked()).text, waited.text);
  const types = (await api.store.readStream(`batch-${String(batch.body['id'])}`)).map(
    ({ type, data }) => [type, 'cancelled' in data],
  );
  t.strictSame(types, [
    ['BatchCancelled', false],
    ['BatchEnded', true],
  ]);
  const filter = `${BASE}/conversions/?batch=${String(batch.body['id'])}`;
  const list = await api.call('GET', `${filter}&status=failed`, { key });
  t.strictSame(
    (list.body as unknown as { id: string }[]).map(({ id }) => id).toSorted(),
    open.toSorted(),
  );
  t.equal((await api.call('GET', `${BASE}/conversions/?batch=x`, { key })).status, 400);
  t.strictSame(violations(await api.log(), { settled: true }), []);
  const read = async () =>
    await verifyLog({ store: api.streams, retentionMs: 0 }, { now: api.clock.now() });
  t.match(await read(), { ok: true });
});

const pdfOf = (n: number) => Buffer.from(`%PDF-1.7\n${String(n).repeat(70_000)}`);

void test('all PDFs of a batch in one ZIP', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const names = ['Brief.pdf', 'brief', undefined, 'Grüße.pdf', 'x.pdf', 'y.pdf'];
  const requests = names.map((filename, n) => ({
    html: `<p>${n}</p>`,
    filename: filename ?? null,
  }));
  const batch = await post(api, key, { requests });
  const ids = idsOf(batch);
  const zip = `${BATCHES}${String(batch.body['id'])}/zip/`;
  const early = await api.call('GET', zip, { key });
  t.strictSame(refusal(early), { status: 409, error: 'not_ready' });
  t.equal(early.headers.get('retry-after'), '1');
  t.equal((await api.call('GET', `${zip}?partial=true`, { key })).status, 409, 'nothing is there');
  const managers = startBatches(api);
  for (const [n, id] of ids.slice(0, 4).entries()) await api.complete(accountId, id, pdfOf(n));
  const unpacked = async (query = '') => {
    const response = await fetch(api.origin + zip + query, { headers: { 'X-API-Key': key } });
    t.equal(response.headers.get('content-type'), 'application/zip');
    t.match(response.headers.get('content-disposition'), /filename="batch_\w+\.zip"/);
    return unzipSync(new Uint8Array(await response.arrayBuffer()));
  };
  const expected = ['Brief.pdf', 'brief (2).pdf', `${ids[2]}.pdf`, 'Grüße.pdf'];
  const part = await unpacked('?partial=true');
  t.strictSame(Object.keys(part), expected);
  for (const [n, name] of expected.entries()) t.ok(pdfOf(n).equals(part[name] ?? Buffer.alloc(0)));
  await api.fail(accountId, ids[4] ?? '', 'x');
  await api.fail(accountId, ids[5] ?? '', 'x');
  await api.call('GET', `${BATCHES}${String(batch.body['id'])}/`, {
    key,
    headers: { Prefer: 'wait=30' },
  });
  await managers.stop();
  t.strictSame(Object.keys(await unpacked()), expected);
  const downloads = (await api.log()).filter(({ type }) => type === 'DocumentDownloaded');
  t.equal(downloads.length, 4, 'one of each in a minute');
  t.equal((await api.call('HEAD', zip, { key })).status, 200);
  await api.call('DELETE', `${BASE}/conversions/${ids[0]}/`, { key });
  t.strictSame(Object.keys(await unpacked()), ['brief.pdf', ...expected.slice(2)], 'what is left');
  const other = await api.newAccount();
  t.equal((await api.call('GET', zip, { key: other.key })).status, 404);
});

const ask = (...ids: readonly string[]) =>
  `${BASE}/conversions/zip/?${ids.map((id) => `id=${encodeURIComponent(id)}`).join('&')}`;

void test('the PDFs of chosen conversions in one ZIP, each a download', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const requests = ['a', 'a', 'b', 'c'].map((filename) => ({ html: '<p>x</p>', filename }));
  const [first = '', second = '', third = ''] = idsOf(await post(api, key, { requests }));
  for (const wrong of [ask(), ask(...Array.from({ length: 101 }, (_, n) => `conv_${n}`))]) {
    const { status, body } = await api.call('GET', wrong, { key });
    t.match({ status, body }, { status: 400, body: { details: { id: [/1 to 100 times/] } } });
  }
  const early = await api.call('GET', ask(first), { key });
  t.strictSame(refusal(early), { status: 409, error: 'not_ready' });
  for (const [n, id] of [first, second].entries()) await api.complete(accountId, id, pdfOf(n));
  const client = new PressledgerClient({ server: api.origin, apiKey: key });
  const zip = await new Response(await client.zip([second, third, first, second])).arrayBuffer();
  const files = unzipSync(new Uint8Array(zip));
  t.strictSame(Object.keys(files), ['a.pdf', 'a (2).pdf'], 'in the order asked for');
  t.ok(pdfOf(1).equals(files['a.pdf'] ?? Buffer.alloc(0)));
  const downloads = (await api.log()).filter(({ type }) => type === 'DocumentDownloaded');
  t.equal(downloads.length, 2);
  const other = await api.newAccount();
  t.equal((await api.call('GET', ask(first), { key: other.key })).status, 404);
});

void test('names of any length are files for those who unpack a ZIP', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const names = ['ä'.repeat(200), 'ä'.repeat(200), `x${'👩‍👩‍👧'.repeat(20)}`, '請'.repeat(200)];
  const requests = names.map((filename) => ({ html: '<p>x</p>', filename }));
  const batch = await post(api, key, { requests });
  for (const [n, id] of idsOf(batch).entries()) await api.complete(accountId, id, pdfOf(n));
  const zip = await fetch(`${api.origin}${BATCHES}${String(batch.body['id'])}/zip/?partial=true`, {
    headers: { 'X-API-Key': key },
  });
  const folder = t.testdir({ unzipped: {}, python: {} });
  const file = join(folder, 'all.zip');
  writeFileSync(file, new Uint8Array(await zip.arrayBuffer()));
  const expected = [
    `${'ä'.repeat(122)}.pdf`,
    `${'ä'.repeat(122)} (2).pdf`,
    `x${'👩‍👩‍👧'.repeat(13)}.pdf`,
    `${'請'.repeat(81)}.pdf`,
  ];
  const unpackers = {
    unzipped: ['unzip', '-q', file, '-d'],
    python: ['python3', '-m', 'zipfile', '-e', file],
  };
  for (const [into, [command = '', ...given]] of Object.entries(unpackers)) {
    const { status, stderr, error } = spawnSync(command, [...given, join(folder, into)], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' },
    });
    if (error) {
      t.pass(`${command} is not installed`, { skip: `${command} is not installed` });
      continue;
    }
    t.equal(status, 0, stderr);
    const found = readdirSync(join(folder, into));
    t.strictSame(found.toSorted(), expected.toSorted(), command);
    for (const [n, name] of expected.entries()) {
      t.ok(pdfOf(n).equals(readFileSync(join(folder, into, name))), `${command} ${name}`);
      t.ok(statSync(join(folder, into, name)).mode & 0o400, 'its owner may read it');
    }
  }
});

void test('the client, and who is told of the end', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const client = new PressledgerClient({ server: api.origin, apiKey: key });
  const managers = startBatches(api);
  await client.webhooks.rotateSecret();
  const common = { reference: 'R', webhook_url: 'https://example.com/hook' };
  const made = await client.batches.create(letters(2), { ...common, idempotencyKey: 'k' });
  t.strictSame(await client.batches.create(letters(2), { idempotencyKey: 'k' }), made);
  const [first = '', second = ''] = made.conversions ?? [];
  await api.complete(accountId, first, PDF);
  t.match(await client.batches.get(made.id), { status: 'running', completed: 1, reference: 'R' });
  await api.complete(accountId, second, PDF);
  t.match(await client.batches.get(made.id, { waitSeconds: 30 }), { status: 'ended' });
  const zip = await client.batches.zip(made.id);
  const files = unzipSync(new Uint8Array(await new Response(zip).arrayBuffer()));
  t.strictSame(Object.keys(files), [`${first}.pdf`, `${second}.pdf`]);
  await client.batches.cancel(made.id);
  const listed = [];
  for await (const batch of client.batches.all()) listed.push(batch.id);
  t.strictSame(listed, [made.id]);
  const slice = { since: 0, offset: 0, limit: 10 };
  const { rows } = api.readModel.query(webhookQueries).deliveries(accountId, slice);
  t.match(rows, [{ message: 'batch.ended', subject: made.id, url: /^v1\./ }]);
  t.equal(rows.length, 1, 'of the batch alone');
  await managers.stop();
});
