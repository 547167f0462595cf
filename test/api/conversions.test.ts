import { test } from 'tap';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { type Answer, BASE, refusal } from '../support/api.ts';
import { countListeners, fileUrl, PDF, startWithConversion } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';

const idsOf = (answer: Answer) => (JSON.parse(answer.text) as { id: string }[]).map((c) => c.id);

void test('a record from its request to its file', async (t) => {
  const api = await startWithConversion(t);
  const id = await api.create();
  const pending = await api.get(id);
  t.equal(pending.status, 200);
  t.strictSame(Object.keys(pending.body), ['id', 'status', 'created_at']);
  t.match(pending.body, { id, status: 'pending' });
  t.equal(pending.headers.get('cache-control'), 'no-store');

  await api.complete(api.account.id, id, PDF);
  const completed = await api.get(id);
  t.strictSame(Object.keys(completed.body), [
    'id',
    'status',
    'created_at',
    'file_url',
    'completed_at',
    'pages',
    'bytes',
    'sha256',
    'duration_ms',
  ]);
  t.equal(completed.body['status'], 'completed');
  t.ok(fileUrl(completed).startsWith(`${api.origin}/files/${id}.pdf?token=v4.public.`));

  const lacking = await api.create();
  const warnings = ['logo.png was answered with status 404.'];
  await api.complete(api.account.id, lacking, PDF, warnings);
  t.strictSame((await api.get(lacking)).body['warnings'], warnings);
  const ofLacking = `${BASE}/conversions/${lacking}/file/`;
  const answer = await api.call('GET', ofLacking, { key: api.account.key });
  t.equal(answer.headers.get('x-conversion-warnings'), '1');
  const failing = await api.create();
  await api.fail(api.account.id, failing, 'The page took too long.');
  const failed = (await api.get(failing)).body;
  t.strictSame(Object.keys(failed), [
    'id',
    'status',
    'created_at',
    'error_message',
    'failed_at',
    'failure_code',
    'duration_ms',
  ]);
  t.equal(failed['error_message'], 'The page took too long.');
});

void test('what is not there, and what is another account’s', async (t) => {
  const api = await startWithConversion(t);
  const { key } = await api.newAccount();
  const id = await api.create();
  const foreign = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  const unknown = await api.get('conv_00000000000000000000000000');
  t.strictSame(refusal(foreign), { status: 404, error: 'not_found' });
  t.equal(foreign.text, unknown.text, 'the same answer');
  for (const bad of ['x', '%00', '..%2f..%2fetc', `${id}%20`, id.toUpperCase()]) {
    t.equal((await api.get(bad)).status, 404, bad);
  }
});

void test('Prefer: wait', async (t) => {
  const api = await startWithConversion(t);
  const id = await api.create();
  const waiting = api.get(id, { Prefer: 'respond-async, wait=20; x=1' });
  await api.complete(api.account.id, id, PDF);
  const answer = await waiting;
  t.equal(answer.body['status'], 'completed');
  t.equal(answer.headers.get('preference-applied'), 'wait=20');
  const long = await api.get(id, { Prefer: 'Wait="100"' });
  t.equal(long.headers.get('preference-applied'), 'wait=30', 'at most 30 seconds');

  const slow = await api.create();
  const started = performance.now();
  const over = await api.get(slow, { Prefer: 'wait=1' });
  t.equal(over.body['status'], 'pending', 'it answers when the time is over');
  t.ok(performance.now() - started >= 990);
  for (const bad of ['wait', 'wait=-1', 'wait=soon', 'waiting=3']) {
    const ignored = await api.get(slow, { Prefer: bad });
    t.equal(ignored.headers.get('preference-applied'), null, bad);
  }
  t.equal((await api.get(slow, { Prefer: 'wait=0' })).body['status'], 'pending');

  const listeners = countListeners(api.runner);
  const gone = new AbortController();
  const url = `${api.origin}${BASE}/conversions/${slow}/`;
  const headers = { 'X-API-Key': api.account.key, Prefer: 'wait=30' };
  const cut = fetch(url, { headers, signal: gone.signal });
  await listeners.reached(1);
  gone.abort();
  await t.rejects(cut);
  await listeners.reached(0);
  t.pass('a client that goes away is waited for no longer');
});

void test('many who wait cost nothing until what they wait for ends', async (t) => {
  const waiters = 20;
  const api = await startWithConversion(t);
  const { key, id: accountId } = api.account;
  const ids = [await api.create(), await api.create()];
  const caughtUp = async () => api.runner.waitFor(await api.store.head());
  await caughtUp();
  let queries = 0;
  const query = api.readModel.query.bind(api.readModel);
  api.readModel.query = (factory) => {
    // A request to convert asks how much its account has stored: that is not a cost of waiting.
    if (!Object.is(factory, storedBlobQueries)) queries += 1;
    return query(factory);
  };
  const waiting = Array.from({ length: waiters }, (_, n) =>
    api.get(ids[n % 2] ?? '', { Prefer: 'wait=30' }),
  );
  await eventually('all have looked twice', () => queries >= 2 * waiters || undefined);
  queries = 0;
  for (let n = 0; n < 5; n += 1) await api.create();
  await caughtUp();
  t.equal(queries, 0, 'commits that do not concern them');
  await api.complete(accountId, ids[0] ?? '', PDF);
  await api.fail(accountId, ids[1] ?? '', 'The page took too long.');
  const answers = await Promise.all(waiting);
  t.strictSame(
    answers.map(({ body }) => body['status']),
    answers.map((_, n) => (n % 2 === 0 ? 'completed' : 'failed')),
  );
  t.ok(queries <= 2 * waiters, `${queries} queries`);
  const again = await api.create();
  const late = api.get(again, { Prefer: 'wait=30' });
  await api.call('GET', `${BASE}/account/`, { key });
  await api.complete(accountId, again, PDF);
  t.equal((await late).body['status'], 'completed', 'after the first have gone');
});

void test('the list', async (t) => {
  const api = await startWithConversion(t);
  const { key } = api.account;
  const list = (query: string) => api.call('GET', `${BASE}/conversions/${query}`, { key });
  t.strictSame(JSON.parse((await list('')).text), [], 'empty at first');
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift(await api.create());
  await api.complete(api.account.id, ids[1] ?? '', PDF);

  const all = await list('');
  t.strictSame(idsOf(all), ids, 'newest first');
  t.equal(all.headers.get('x-total-count'), '5');
  const middle = await list('?page=2&page_size=2');
  t.strictSame(idsOf(middle), ids.slice(2, 4));
  const at = (page: number) => `<${api.origin}${BASE}/conversions/?page=${page}&page_size=2>`;
  t.equal(
    middle.headers.get('link'),
    `${at(1)}; rel="first", ${at(1)}; rel="prev", ${at(3)}; rel="next", ${at(3)}; rel="last"`,
  );
  t.strictSame(idsOf(await list('?page=9')), [], 'past the last');
  const completed = await list('?status=completed');
  t.strictSame(idsOf(completed), [ids[1]]);
  t.equal(completed.headers.get('x-total-count'), '1');
  t.match(completed.text, /file_url/);
  const oldest = ids.toReversed();
  const inPages = [1, 2, 3, 4].map((n) => list(`?order=oldest&page_size=2&page=${n}`));
  const pages = await Promise.all(inPages);
  t.strictSame(pages.map(idsOf), [oldest.slice(0, 2), oldest.slice(2, 4), oldest.slice(4), []]);
  t.match(pages[1]?.headers.get('link'), /order=oldest&page_size=2&page=3>; rel="next"/);
  t.strictSame(idsOf(await list('?order=newest')), ids);
  const pending = oldest.filter((id) => id !== ids[1]);
  t.strictSame(idsOf(await list('?order=oldest&status=pending&page=2&page_size=3')), [pending[3]]);
  t.strictSame(idsOf(await list(`?order=oldest&id=${ids[0]?.slice(0, 11)}`)), oldest);
  const headers = { Accept: 'text/csv' };
  const csv = await api.call('GET', `${BASE}/conversions/?order=oldest`, { key, headers });
  const [, ...lines] = csv.text.trim().split('\r\n');
  t.strictSame(
    lines.map((line) => line.split(',')[0]),
    oldest,
  );
  const newest = ids[0] ?? '';
  t.strictSame(idsOf(await list(`?id=${newest}`)), [newest], 'the whole id');
  t.strictSame(idsOf(await list(`?id=${newest.slice(0, 30)}`)), [newest], 'its start');
  t.strictSame(idsOf(await list(`?id=${newest}&status=completed`)), [], 'with another filter');
  t.strictSame(idsOf(await list(`?id=${ids[1]}&status=completed`)), [ids[1]]);
  const stranger = await api.newAccount();
  const foreign = await api.call('GET', `${BASE}/conversions/?id=${newest}`, {
    key: stranger.key,
  });
  t.strictSame(idsOf(foreign), [], 'and never another account’s');
  const time = (ms: number) => encodeURIComponent(new Date(api.clock.time + ms).toISOString());
  api.clock.time += 60_000;
  const late = await api.create();
  t.strictSame(idsOf(await list(`?from=${time(0)}`)), [late], 'created from a time on');
  const earlier = await list(`?to=${time(0)}&page_size=2`);
  t.strictSame(idsOf(earlier), ids.slice(0, 2), 'before it');
  t.equal(earlier.headers.get('x-total-count'), '5');
  t.strictSame(idsOf(await list(`?from=${time(1)}`)), []);
  t.strictSame(idsOf(await list(`?to=${time(0)}&status=completed`)), [ids[1]]);
  t.strictSame(idsOf(await list(`?from=${time(0)}&status=completed`)), []);
  const bad: [string, string[]][] = [
    ['?page=0', ['page']],
    ['?page=-1', ['page']],
    ['?page=1.5', ['page']],
    ['?page=', ['page']],
    ['?page=1&page=2', ['page']],
    ['?page=99999999999', ['page']],
    ['?page_size=0', ['page_size']],
    ['?page_size=101&status=x&p=1', ['p', 'page_size', 'status']],
    ['?status=', ['status']],
    ['?id=conv_06f3k', ['id']],
    ['?id=acct_06f3k8r1v2', ['id']],
    ['?from=yesterday&to=2026-11-21', ['from', 'to']],
    ['?from=2026-11-22T00:00:00Z&to=2026-11-21T00:00:00Z', ['from']],
  ];
  for (const [query, details] of bad) {
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(await list(query)), expected, query);
  }
});
