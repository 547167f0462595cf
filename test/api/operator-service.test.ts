import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { test } from 'tap';
import { beginErasure } from '../../src/accounts/erasure.ts';
import { signatureLine } from '../../src/transparency-log/signed-note.ts';
import { BASE, startApi } from '../support/api.ts';
import { recordCosignature, recordTimestamp } from '../support/attested.ts';
import { newOperator, signedIn } from '../support/operator.ts';

void test('the state of the service', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const account = await api.newAccount();
  const create = async (key: string) =>
    String(
      (await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } })).body['id'],
    );
  await create(account.key);
  await create(account.key);
  await api.fail(account.id, await create(account.key), 'It failed.');
  const status = await operator.call('GET', '/status/');
  t.equal(status.status, 200);
  const time = new Date(api.clock.time).toISOString();
  t.match(status.body, {
    version: '1.2.3',
    uptime_seconds: Number,
    memory: { rss_bytes: Number },
    ready: true,
    missing: [],
    leads: true,
    led: true,
    time,
    nodes: [{ id: 'here', slots: 2 }],
    slots: { total: 2, busy: 0 },
    queue: {
      depth: 2,
      oldest_at: time,
      by_account: [{ account_id: account.id, email: account.email, pending: 2, processing: 0 }],
    },
    lag: { events: 0, seconds: 0 },
    recent: { failures: [{ code: 'timeout', count: 1 }], per_minute: { accepted: 0.6 } },
  });
  t.equal(status.headers.get('cache-control'), 'no-store');

  api.clock.time += 3_600_000;
  await create(account.key);
  const headers = await signedIn(api, operator.email);
  const look = () => api.call('GET', `${BASE}/operator/status/`, { headers });
  const later = await look();
  t.match(later.body, { recent: { failures: [], per_minute: { accepted: 0.2 } } });

  await beginErasure(api, account.id, api.context());
  await api.vault.erase(account.id);
  const erased = await look();
  t.equal(erased.status, 200, 'an erasure that is under way does not end it');
  t.match(erased.body, { queue: { by_account: [{ account_id: account.id, email: null }] } });
});

void test('failures of all accounts, newest first, without a text of theirs', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const accounts = [await api.newAccount(), await api.newAccount()];
  const ids = [];
  for (const { id, key } of accounts) {
    const body = { html: '<p>x</p>' };
    const created = await api.call('POST', `${BASE}/pdf/`, { key, body });
    ids.push(String(created.body['id']));
    await api.fail(id, ids.at(-1) ?? '', 'There is no #secret.');
  }
  const page = await operator.call('GET', '/failures/?page_size=1');
  t.equal(page.headers.get('x-total-count'), '2');
  t.strictSame(JSON.parse(page.text), [
    {
      conversion_id: ids[1],
      account_id: accounts[1]?.id,
      email: accounts[1]?.email,
      time: new Date(api.clock.time).toISOString(),
      code: 'timeout',
      source: 'html',
      attempt: 1,
      renderer: 'test',
    },
  ]);
  const second = await operator.call('GET', '/failures/?page_size=1&page=2');
  t.match(JSON.parse(second.text), [{ conversion_id: ids[0] }]);

  const { key = '', id = '' } = accounts[0] ?? {};
  const body = { url: 'https://example.com/' };
  const other = String((await api.call('POST', `${BASE}/pdf/`, { key, body })).body['id']);
  api.clock.time += 1_000;
  await api.fail(id, other, 'It failed.');
  const time = new Date(api.clock.time).toISOString();
  const groups = async (query = '') =>
    JSON.parse((await operator.call('GET', `/failures/groups/${query}`)).text) as unknown;
  const byUrl = {
    code: 'timeout',
    source: 'url',
    renderer: 'test',
    count: 1,
    last_at: time,
    last_conversion_id: other,
  };
  t.match(await groups(), [{ source: 'html', count: 2, last_conversion_id: ids[1] }, byUrl]);
  t.strictSame(await groups(`?from=${time}`), [byUrl]);
  for (const filter of ['source=url', `from=${time}`, 'source=url&code=timeout&renderer=test']) {
    const found = await operator.call('GET', `/failures/?${filter}`);
    t.equal(found.headers.get('x-total-count'), '1', filter);
    t.match(JSON.parse(found.text), [{ conversion_id: other, source: 'url' }]);
  }
  const none = await operator.call('GET', '/failures/?renderer=other&code=timeout');
  t.equal(none.text, '[]');
  const wrong = await operator.call('GET', '/failures/?code=late&source=pdf');
  t.match(wrong.body, { details: { code: [/timeout/], source: [/html, url/] } });
});

void test('what the service did over time', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const account = await api.newAccount();
  const minute = 60_000;
  api.clock.time = Math.ceil(api.clock.time / (60 * minute)) * 60 * minute;
  const create = async () =>
    String(
      (await api.call('POST', `${BASE}/pdf/`, { key: account.key, body: { html: '<p>x</p>' } }))
        .body['id'],
    );
  const at = (minutes: number) => new Date(api.clock.time + minutes * minute).toISOString();
  const begin = at(0);
  const failing = await create();
  await create();
  api.clock.time += 2 * minute;
  await api.fail(account.id, failing, 'It failed.');
  api.clock.time += 30_000;
  // The access token of the operator is too old by now.
  const headers = await signedIn(api, operator.email);
  const look = (query: string) =>
    api.call('GET', `${BASE}/operator/activity/${query}`, { headers });
  const first = await look(`?from=${begin}`);
  t.equal(first.status, 200);
  const quiet = { accepted: 0, completed: 0, failed: 0, cancelled: 0, completion_ms: null };
  const { steps } = first.body as { steps: { rendering: number; waiting: number }[] };
  t.match(first.body, {
    step_minutes: 1,
    steps: [{ ...quiet, time: begin, accepted: 2 }, quiet, { ...quiet, failed: 1 }],
  });
  t.strictSame(
    steps.map(({ waiting, rendering }) => waiting + rendering),
    [2, 2, 1],
  );
  t.strictSame((await look('')).body['step_minutes'], 1, 'the last hour by minutes');
  const past = await look(`?from=${begin}&to=${at(-1.5)}`);
  t.match(past.body, { steps: steps.slice(0, 1) }, 'the past is as it was');
  t.equal((past.body['steps'] as unknown[]).length, 1);
  const day = await look(`?from=${at(-1440)}`);
  t.equal(day.body['step_minutes'], 10);
  t.equal((await look(`?from=${at(-30 * 1440)}&step=1440`)).status, 200);
  for (const [query, details] of [
    [`?from=${at(-3000)}&step=1`, { step: [/^Gives 3000 steps, more than 1500/] }],
    ['?from=1970-01-01T00:00:00Z', { step: [/ask for a shorter time/] }],
    ['?step=2', { step: [/^Must be one of 1, 5, /] }],
    [`?from=${at(5)}`, { from: [/earlier than to/] }],
    ['?from=today&stop=1', { from: [/ISO 8601/], stop: [/not a known/] }],
  ] as const) {
    t.match(await look(query), { status: 400, body: { details } }, query);
  }
});

void test('the projections are listed, and rebuilt beside the service', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const list = async () => {
    const { text } = await operator.call('GET', '/projections/');
    return JSON.parse(text) as readonly Record<string, unknown>[];
  };
  const [first] = await list();
  t.match(first, { name: 'accounts', version: 7, lag: 0, last_rebuild: null });
  t.notOk('rebuilding' in Object(first));
  const generation = () => readFileSync(join(api.root, 'read-model/CURRENT'), 'utf8');
  const before = generation();
  for (let time = 0; time < 2; time += 1) {
    const begun = await operator.call('POST', '/projections/rebuild/');
    t.equal(begun.status, 202);
  }
  t.match((await list())[0], { rebuilding: { position: /^\d+$/, target: /^\d+$/ } });
  while ((await list())[0]?.['rebuilding'] !== undefined) await setImmediate();
  t.match((await list())[0], { last_rebuild: { error: null } });
  t.not(generation(), before);
  const found = await operator.call('GET', `/accounts/${operator.id}/`);
  t.match(found.body, { id: operator.id, operator: true }, 'the service reads the new ones');
});

void test('checkpoints are listed with those who vouch for them', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const first = await recordTimestamp(api, Buffer.from('made up'));
  await api.newAccount();
  await api.signer.sign();
  const time = 1_795_000_000n;
  const second = await recordCosignature(api, () => {
    const signature = Buffer.alloc(72);
    signature.writeBigUInt64BE(time);
    return signatureLine('witness.example/w1', '01234567', signature);
  });
  const newest = await operator.call('GET', '/checkpoints/?page_size=1');
  t.equal(newest.headers.get('x-total-count'), '2');
  const now = new Date(api.clock.time).toISOString();
  const witnessed = new Date(Number(time) * 1000).toISOString();
  t.strictSame(JSON.parse(newest.text), [
    {
      size: second.size,
      root: second.root.toString('base64'),
      time: now,
      origin: second.note.split('\n')[0],
      witnesses: [{ name: 'witness.example/w1', time: witnessed }],
      timestamped_at: null,
    },
  ]);
  const older = await operator.call('GET', '/checkpoints/?page_size=1&page=2');
  t.match(JSON.parse(older.text), [{ size: first.size, witnesses: [], timestamped_at: now }]);
});
