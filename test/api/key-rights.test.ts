/** What API keys may do: their scopes, by every route, and what else bounds them. */
import { request as httpRequest, Agent } from 'node:http';
import { test } from 'tap';
import { KEY_SCOPES } from '../../src/domain/choices.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { drives } from '../support/documented.ts';
import { violations } from '../support/invariants.ts';

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

/** Makes a key with a key that may do everything. */
async function keyWith(api: Api, maker: string, bounds: object): Promise<string> {
  const body = { name: 'bounded', ...bounds };
  const made = await api.call('POST', `${BASE}/api-keys/`, { key: maker, body });
  if (made.status !== 201) throw new Error(made.text);
  return String(made.body['key']);
}

/** The scopes that each let a key through alone; `read + history`: both are needed; `any`: none is. */
const NEEDED: Readonly<Record<string, string>> = {
  'POST /pdf/': 'convert',
  'POST /documents/': 'convert',
  'GET /conversions/stream/': 'read',
  'GET /conversions/{id}/': 'read, convert',
  'DELETE /conversions/{id}/': 'convert',
  'POST /conversions/{id}/retry/': 'convert',
  'POST /conversions/{id}/rerender/': 'convert',
  'GET /conversions/{id}/links/': 'read, convert',
  'POST /conversions/{id}/links/': 'read, convert',
  'DELETE /conversions/{id}/links/{link_id}/': 'read, convert',
  'GET /conversions/{id}/events/': 'history',
  'GET /conversions/{id}/file/': 'read, convert',
  'GET /conversions/{id}/request/': 'read, convert',
  'GET /conversions/{id}/manifest/': 'read, convert',
  'GET /conversions/{id}/picture/': 'read, convert',
  'GET /conversions/{id}/thumbnail/': 'read, convert',
  'GET /conversions/zip/': 'read, convert',
  'GET /conversions/{id}/proof/': 'history',
  'GET /conversions/{id}/evidence/': 'read + history',
  'GET /conversions/': 'read',
  'POST /batches/': 'convert',
  'GET /batches/': 'read',
  'GET /batches/{id}/': 'read, convert',
  'DELETE /batches/{id}/': 'convert',
  'GET /batches/{id}/events/': 'history',
  'GET /batches/{id}/zip/': 'read, convert',
  'POST /verify/': 'read + history',
  'GET /account/': 'any',
  'GET /account/ledger/': 'read',
  'GET /account/usage/': 'read',
  'POST /usage/statements/': 'convert + history',
  'GET /account/events/': 'history',
  'GET /account/low-credits/': 'read',
  'PUT /account/low-credits/': 'keys',
  'DELETE /account/low-credits/': 'keys',
  'GET /account/public-name/': 'read',
  'PUT /account/public-name/': 'keys',
  'DELETE /account/public-name/': 'keys',
  'GET /account/signature/': 'read',
  'PUT /account/signature/': 'keys',
  'DELETE /account/signature/': 'keys',
  'GET /api-keys/': 'keys',
  'POST /api-keys/': 'keys',
  'DELETE /api-keys/{id}/': 'keys',
  'GET /webhooks/': 'webhooks',
  'GET /templates/': 'read',
  'POST /templates/': 'templates',
  'POST /templates/preview/': 'read',
  'GET /templates/{id}/': 'read',
  'PATCH /templates/{id}/': 'templates',
  'DELETE /templates/{id}/': 'templates',
  'GET /templates/{id}/versions/': 'read',
  'POST /templates/{id}/versions/': 'templates',
  'GET /templates/{id}/versions/{version}/': 'read',
  'POST /templates/{id}/preview/': 'read',
  'POST /webhooks/': 'webhooks',
  'GET /webhooks/secret/': 'webhooks',
  'POST /webhooks/secret/rotate/': 'webhooks',
  'GET /webhooks/deliveries/': 'webhooks',
  'GET /webhooks/deliveries/{id}/': 'webhooks',
  'POST /webhooks/deliveries/{id}/redeliver/': 'webhooks',
  'GET /webhooks/{id}/': 'webhooks',
  'PATCH /webhooks/{id}/': 'webhooks',
  'DELETE /webhooks/{id}/': 'webhooks',
  'POST /webhooks/{id}/rotate/': 'webhooks',
  'POST /webhooks/{id}/test/': 'webhooks',
  'POST /webhooks/{id}/redeliver/': 'webhooks',
};

void test('each route of keys lets those through that have its scope, and no others', async (t) => {
  const routes = ROUTES.filter(({ auth }) => auth === 'caller').map(
    ({ method, path }) => `${method.toUpperCase()} ${path.slice(BASE.length)}`,
  );
  t.strictSame(Object.keys(NEEDED).toSorted(), routes.toSorted(), 'the table has every route');
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const all = drives(api.document);
  const lets = async (name: string, scopes: readonly string[]): Promise<boolean> => {
    const drive = all.find(({ method, template }) => `${method} ${template}` === name);
    if (drive === undefined) throw new Error(`${name} is not in the document.`);
    // A stream would not end.
    const method = drive.path.endsWith('/stream/') ? 'HEAD' : drive.method;
    const credential = { key: await ofScopes(scopes) };
    // The body is wrong: whether the scope is judged before it shows in the status.
    const answer = await api.call(method, drive.path, {
      ...credential,
      ...(drive.body && { body: '{' }),
    });
    if (answer.status !== 403) return true;
    if (method !== 'HEAD') {
      t.strictSame(refusal(answer), { status: 403, error: 'forbidden', details: ['scopes'] }, name);
      t.match(answer.body['message'], /^This API key lacks the scope \w+/);
    }
    return false;
  };
  const made = new Map<string, string>();
  const ofScopes = async (scopes: readonly string[]): Promise<string> => {
    const known = made.get(scopes.join()) ?? (await keyWith(api, key, { scopes }));
    made.set(scopes.join(), known);
    return known;
  };
  for (const [name, needed] of Object.entries(NEEDED)) {
    const full = name.replace(' ', ` ${BASE}`);
    for (const scope of KEY_SCOPES) {
      const expected = needed === 'any' || needed.split(', ').includes(scope);
      t.equal(await lets(full, [scope]), expected, `${name} with ${scope} alone`);
    }
    t.ok(await lets(full, KEY_SCOPES), `${name} with all`);
    if (needed.includes('+')) t.ok(await lets(full, needed.split(' + ')), `${name} with ${needed}`);
  }
  t.equal((await api.call('GET', `${BASE}/api-keys/`, { key })).status, 200, 'no key was touched');
});

/** The routes that a test key is let through; what it sees there is in `test/attack/test-keys.test.ts`. */
const FOR_TESTS: ReadonlySet<string> = new Set([
  'POST /pdf/',
  'POST /documents/',
  'GET /conversions/stream/',
  'GET /conversions/{id}/',
  'DELETE /conversions/{id}/',
  'POST /conversions/{id}/retry/',
  'POST /conversions/{id}/rerender/',
  'GET /conversions/{id}/links/',
  'POST /conversions/{id}/links/',
  'DELETE /conversions/{id}/links/{link_id}/',
  'GET /conversions/{id}/events/',
  'GET /conversions/{id}/file/',
  'GET /conversions/{id}/request/',
  'GET /conversions/{id}/manifest/',
  'GET /conversions/{id}/picture/',
  'GET /conversions/{id}/thumbnail/',
  'GET /conversions/zip/',
  'GET /conversions/{id}/proof/',
  'GET /conversions/{id}/evidence/',
  'GET /conversions/',
  'POST /batches/',
  'GET /batches/',
  'GET /batches/{id}/',
  'DELETE /batches/{id}/',
  'GET /batches/{id}/events/',
  'GET /batches/{id}/zip/',
  'POST /verify/',
  'GET /account/',
  'GET /api-keys/',
  'POST /api-keys/',
  'DELETE /api-keys/{id}/',
  'POST /templates/preview/',
  'POST /templates/{id}/preview/',
]);

void test('a test key is let through where something is a test, and nowhere else', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const tester = await keyWith(api, key, { test: true });
  const all = drives(api.document);
  for (const name of Object.keys(NEEDED)) {
    const full = name.replace(' ', ` ${BASE}`);
    const drive = all.find(({ method, template }) => `${method} ${template}` === full);
    if (drive === undefined) throw new Error(`${full} is not in the document.`);
    const method = drive.path.endsWith('/stream/') ? 'HEAD' : drive.method;
    const answer = await api.call(method, drive.path, {
      key: tester,
      ...(drive.body && { body: '{' }),
    });
    t.equal(answer.status !== 403, FOR_TESTS.has(name), name);
    if (answer.status === 403) t.match(answer.body['message'], /^A test key sees and changes only/);
  }
});

const sources = (conversion: string) => ({ sources: [{ conversion }] });

void test('a key with convert sees what it made, and nothing else', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const [own, other, both] = [
    await keyWith(api, key, { scopes: ['convert'] }),
    await keyWith(api, key, { scopes: ['convert'] }),
    await keyWith(api, key, { scopes: ['convert', 'read'] }),
  ];
  const html = { html: '<p>x</p>' };
  const post = async (by: string) =>
    String((await api.call('POST', `${BASE}/pdf/`, { key: by, body: html })).body['id']);
  const [mine, theirs] = [await post(own), await post(other)];
  await api.complete(accountId, mine, PDF);
  await api.complete(accountId, theirs, Buffer.concat([PDF, PDF]));
  const ask = async (by: string, method: string, path: string, body?: object) =>
    (await api.call(method, BASE + path, { key: by, ...(body && { body }) })).status;
  for (const part of ['', 'file/', 'request/', 'manifest/']) {
    t.equal(await ask(own, 'GET', `/conversions/${mine}/${part}`), 200, `its own ${part}`);
    t.equal(await ask(own, 'GET', `/conversions/${theirs}/${part}`), 404, `another's ${part}`);
    t.equal(await ask(both, 'GET', `/conversions/${theirs}/${part}`), 200, 'with read');
  }
  const unknown = await api.call('GET', `${BASE}/conversions/conv_${'0'.repeat(26)}/`, {
    key: own,
  });
  const hidden = await api.call('GET', `${BASE}/conversions/${theirs}/`, { key: own });
  t.strictSame(hidden.body, unknown.body, 'as if there was none');
  t.equal(await ask(own, 'GET', `/conversions/${theirs}/?as_of=${await api.store.head()}`), 404);
  for (const act of ['retry/', 'rerender/']) {
    t.equal(await ask(own, 'POST', `/conversions/${theirs}/${act}`), 404, act);
    t.equal(await ask(own, 'POST', `/conversions/${mine}/${act}`), 202, act);
  }
  t.equal(await ask(own, 'POST', '/documents/', sources(theirs)), 404, 'not as a source either');
  t.equal(await ask(own, 'POST', '/documents/', sources(mine)), 202);
  t.equal(await ask(own, 'DELETE', `/conversions/${theirs}/`), 404);
  t.equal(await ask(own, 'DELETE', `/conversions/${mine}/`), 204);

  const batch = async (by: string) =>
    String(
      (await api.call('POST', `${BASE}/batches/`, { key: by, body: { requests: [html] } })).body[
        'id'
      ],
    );
  const [myBatch, theirBatch] = [await batch(own), await batch(other)];
  t.equal(await ask(own, 'GET', `/batches/${myBatch}/`), 200);
  t.equal(await ask(own, 'GET', `/conversions/zip/?id=${theirs}`), 404);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', 'zip/'],
    ['DELETE', ''],
  ] as const) {
    t.equal(await ask(own, method, `/batches/${theirBatch}/${path}`), 404, `${method} ${path}`);
  }
  t.equal(await ask(both, 'DELETE', `/batches/${theirBatch}/`), 204);
  t.equal(await ask(own, 'DELETE', `/batches/${myBatch}/`), 204);
  const record = await api.call('GET', `${BASE}/conversions/${theirs}/`, { key });
  const link = await api.call('GET', String(record.body['file_url']));
  t.equal(link.status, 200, 'the signed link needs no key');
});

void test('keys make no stronger ones', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const expires_at = new Date(api.clock.time + 60_000).toISOString();
  const maker = await keyWith(api, key, { scopes: ['keys', 'read'], expires_at });
  const make = (bounds: object) =>
    api.call('POST', `${BASE}/api-keys/`, { key: maker, body: { name: 'x', ...bounds } });
  t.equal((await make({ scopes: ['read'], expires_at })).status, 201);
  const cases: [bounds: object, details: string[]][] = [
    [{ expires_at }, ['scopes']],
    [{ scopes: ['convert'], expires_at }, ['scopes']],
    [{ scopes: ['read'] }, ['expires_at']],
    [{}, ['expires_at', 'scopes']],
  ];
  for (const [bounds, details] of cases) {
    const answer = await make(bounds);
    t.strictSame(refusal(answer), { status: 403, error: 'forbidden', details });
  }
  const plain = await make({ scopes: ['read', 'keys'], expires_at });
  t.equal(plain.status, 201, 'its own scopes');
});

void test('a request for a key without bounds is answered as it always was', async (t) => {
  const api = await startApi(t);
  const { email, key } = await api.newAccount();
  const made = await api.call('POST', `${BASE}/api-keys/`, { key, body: { name: 'plain' } });
  t.strictSame(Object.keys(made.body), ['id', 'name', 'key', 'created_at']);
  const plain = String(made.body['key']);
  const listed = await api.call('GET', `${BASE}/api-keys/`, { key: plain });
  const [first] = listed.body as unknown as readonly object[];
  t.strictSame(Object.keys(first ?? {}), ['id', 'name', 'prefix', 'created_at', 'last_used_at']);
  t.equal((await api.call('GET', `${BASE}/account/events/`, { key: plain })).status, 200);
  const pair = { email, password: PASSWORD };
  const access = String(
    (await api.call('POST', `${BASE}/auth/jwt/create/`, { body: pair })).body['access'],
  );
  const headers = { Authorization: `Bearer ${access}` };
  for (const path of ['/api-keys/', '/conversions/', '/webhooks/', '/account/events/']) {
    t.equal((await api.call('GET', BASE + path, { headers })).status, 200, `a session: ${path}`);
  }
});

void test('wrong bounds are refused, all at once', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const cases: [bounds: object, details: string[]][] = [
    [{ scopes: [] }, ['scopes']],
    [{ scopes: ['everything'] }, ['scopes.0']],
    [{ scopes: ['read', 'read'] }, ['scopes']],
    [{ scopes: 'read' }, ['scopes']],
    [{ scopes: -1 }, ['scopes']],
    [{ addresses: [1, null] }, ['addresses.0', 'addresses.1']],
    [{ expires_at: 'tomorrow' }, ['expires_at']],
    [{ expires_at: '2026-02-30T00:00:00Z' }, ['expires_at']],
    [{ expires_at: '2020-01-01T00:00:00Z' }, ['expires_at']],
    [{ expires_at: 4_000_000_000_000 }, ['expires_at']],
    [{ addresses: [] }, ['addresses']],
    [
      { addresses: ['203.0.113.0/24', 'example.com', '203.0.113.9/24'] },
      ['addresses.1', 'addresses.2'],
    ],
    [{ addresses: Array.from({ length: 51 }, () => '::1') }, ['addresses']],
    [{ rate_limit: 0 }, ['rate_limit']],
    [{ rate_limit: 1.5 }, ['rate_limit']],
    [{ scope: ['read'] }, ['scope']],
    [
      { rate_limit: -1, addresses: ['x'], expires_at: 'x' },
      ['addresses.0', 'expires_at', 'rate_limit'],
    ],
  ];
  for (const [bounds, details] of cases) {
    const body = { name: 'x', ...bounds };
    const answer = await api.call('POST', `${BASE}/api-keys/`, { key, body });
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(answer), expected, JSON.stringify(bounds).slice(0, 80));
  }
});

void test('an expired key is refused, also over a connection that it was good on', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '3' } });
  const { key } = await api.newAccount();
  const at = api.clock.time + 60_000;
  const short = await keyWith(api, key, { expires_at: new Date(at).toISOString() });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = () =>
    new Promise<{ status: number | undefined; reused: boolean; text: string }>(
      (resolve, reject) => {
        const headers = { 'X-API-Key': short };
        const asked = httpRequest(`${api.origin}${BASE}/account/`, { agent, headers }, (answer) => {
          let text = '';
          answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
          answer.on('end', () =>
            resolve({ status: answer.statusCode, reused: asked.reusedSocket, text }),
          );
        });
        asked.on('error', reject);
        asked.end();
      },
    );
  t.match(await ask(), { status: 200 });
  api.clock.time = at - 1;
  t.match(await ask(), { status: 200, reused: true });
  api.clock.time = at;
  const { status, reused, text } = await ask();
  t.strictSame([status, reused], [401, true]);
  t.match(JSON.parse(text), {
    error: 'unauthorized',
    message: `The API key expired at ${new Date(at).toISOString()}. Create another, and revoke this one.`,
  });
  t.match(await ask(), { status: 401 });
  const listed = await api.call('GET', `${BASE}/api-keys/`, { key });
  t.match(listed.text, new Date(at).toISOString(), 'it is listed until it is revoked');
  t.match(await ask(), { status: 401 });
  t.match(await ask(), { status: 429 }, 'its requests count against the address');
});

void test('a key is good from its addresses alone', async (t) => {
  const api = await startApi(t, { env: { TRUST_PROXY: 'true' } });
  const { key } = await api.newAccount();
  const addresses = ['203.0.113.0/24', '2001:db8::/32', '::ffff:198.51.100.7'];
  const bound = await keyWith(api, key, { addresses });
  const from = (client: string, by = bound) =>
    api.call('GET', `${BASE}/account/`, { key: by, headers: { 'X-Forwarded-For': client } });
  for (const client of ['203.0.113.9', '::ffff:203.0.113.9', '198.51.100.7', '2001:DB8::1']) {
    t.equal((await from(client)).status, 200, client);
  }
  const others = [
    '203.0.112.9',
    '198.51.100.8',
    '2001:db9::1',
    'unknown',
    '203.0.113.9, 192.0.2.1',
  ];
  for (const client of others) {
    const answer = await from(client);
    t.strictSame(refusal(answer), { status: 403, error: 'forbidden' }, client);
    t.match(answer.body['message'], /^This API key may not be used from the address/);
    t.equal((await from(client, key)).status, 200, 'a key for everywhere');
  }
  const uses = (await api.log()).filter(({ type }) => type === 'KeyUsed');
  t.equal(new Set(uses.map(({ stream }) => stream)).size, 2);
  const created = (await api.log()).filter(({ type }) => type === 'KeyCreated');
  const stored = JSON.stringify(created.map(({ data }) => data));
  t.match(stored, /addresses/);
  t.notMatch(stored, /203\.0\.113/, 'sealed in the log');
});

void test('a key has a rate limit of its own beside that of its account', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_FREE: '5' } });
  api.clock.time = Math.ceil(api.clock.time / 60_000) * 60_000;
  const { key } = await api.newAccount({ plan: 'free' });
  const slow = await keyWith(api, key, { rate_limit: 2 });
  const ask = async (by: string) => {
    const { status, headers, body } = await api.call('GET', `${BASE}/account/`, { key: by });
    const shown = ['limit', 'remaining'].map((name) => headers.get(`x-ratelimit-${name}`));
    return [status, ...shown, ...(status === 429 ? [body['message']] : [])];
  };
  t.strictSame(await ask(slow), [200, '2', '1']);
  t.strictSame(await ask(slow), [200, '2', '0']);
  const refused = await ask(slow);
  t.match(refused, [429, '2', '0', /^Only 2 requests a minute are allowed with this API key\./]);
  t.strictSame(await ask(key), [200, '5', '1'], 'what was refused did not count for the account');
  t.strictSame(await ask(key), [200, '5', '0']);
  api.clock.time += 60_000;
  for (const left of ['4', '3', '2', '1']) t.strictSame(await ask(key), [200, '5', left]);
  t.strictSame(await ask(slow), [200, '5', '0'], 'the tighter one is shown');
  t.match(await ask(slow), [429, '5', '0', /on the plan free/]);
});

/** The credits that the listing says of the only key with a limit. */
async function usedOf(api: Api, key: string): Promise<unknown> {
  const listed = await api.call('GET', `${BASE}/api-keys/`, { key });
  const keys = listed.body as unknown as readonly Readonly<Record<string, unknown>>[];
  return keys.find((each) => 'credit_limit' in each)?.['credits_used'];
}

void test('of 50 parallel requests a key with a limit of 3 credits gets 3', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const limited = await keyWith(api, key, { credit_limit: 3 });
  const post = (by: string, headers: Record<string, string> = {}) =>
    api.call('POST', `${BASE}/pdf/`, { key: by, body: { html: '<p>x</p>' }, headers });
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(limited)));
  const accepted = answers.filter(({ status }) => status === 202);
  const refused = answers.filter(({ status }) => status === 402);
  t.strictSame([accepted.length, refused.length], [3, 47]);
  const [first] = refused;
  t.match(first?.body, {
    error: 'insufficient_credits',
    message:
      /^This API key may use 3 credits in a month and has used 3; .* from \d{4}-\d\d-01T00:00:00\.000Z on\./,
  });
  t.equal(await usedOf(api, key), 3);
  t.equal((await post(key)).status, 202, 'the account has credits');
  const requests = [{ html: '<p>x</p>' }];
  const others: [path: string, body: object][] = [
    ['/batches/', { requests }],
    ['/documents/', { sources: [{ file: PDF.toString('base64') }] }],
  ];
  for (const [path, body] of others) {
    t.equal((await api.call('POST', BASE + path, { key: limited, body })).status, 402, path);
  }
  const [one] = accepted.map(({ body }) => String(body['id']));
  await api.fail(accountId, one ?? '', 'x');
  const refunds = startRefunds(api);
  t.teardown(() => refunds.stop());
  await eventually('the refund', async () => (await usedOf(api, key)) === 2 || undefined);
  const again = { 'Idempotency-Key': 'again' };
  t.equal((await post(limited, again)).status, 202, 'what was refunded may be used again');
  t.equal((await post(limited, again)).status, 202, 'a repeat counts nothing');
  t.equal((await post(limited)).status, 402);
  api.clock.time += 31 * 24 * 60 * 60 * 1000;
  t.equal(await usedOf(api, key), 0, 'the next month');
  const three = await api.call('POST', `${BASE}/batches/`, {
    key: limited,
    body: { requests: [...requests, ...requests, ...requests, ...requests] },
  });
  t.equal(three.status, 402, 'all of a batch or nothing');
  t.equal(await usedOf(api, key), 0);
  for (const status of [202, 202, 202, 402]) t.equal((await post(limited)).status, status);
});

void test('a test key costs nothing, and all that it makes is a test', async (t) => {
  const api = await startApi(t, { env: { RETENTION_SECONDS: '604800' } });
  const { id: accountId, key } = await api.newAccount({ credits: 1 });
  const tester = await keyWith(api, key, { test: true });
  t.match(tester, /^pk_test_[0-9A-Za-z]{24}$/);
  const call = async (method: string, path: string, body?: object, by = tester) =>
    await api.call(method, BASE + path, { key: by, ...(body && { body }) });
  const html = { html: '<p>x</p>' };
  const made = await call('POST', '/pdf/', { ...html, retention_seconds: 604_800 });
  t.strictSame([made.status, Object.keys(made.body)], [202, ['id', 'status', 'created_at']]);
  const id = String(made.body['id']);
  await api.complete(accountId, id, PDF);
  const record = await call('GET', `/conversions/${id}/`);
  t.match(record.body, { test: true, retention_seconds: 86_400, status: 'completed' });
  const batch = await call('POST', '/batches/', { requests: [html, html] });
  t.match((await call('GET', `/batches/${String(batch.body['id'])}/`)).body, { test: true });
  await call('POST', '/documents/', { sources: [{ conversion: id }] });
  for (const by of [tester, key]) {
    for (const act of ['retry', 'rerender']) {
      t.equal((await call('POST', `/conversions/${id}/${act}/`, undefined, by)).status, 202);
    }
  }
  const listed = await call('GET', '/conversions/?page_size=100');
  const records = listed.body as unknown as readonly Readonly<Record<string, unknown>>[];
  t.equal(records.length, 8);
  t.ok(
    records.every((each) => each['test'] === true),
    'also what a key that is none retries',
  );
  t.match((await call('GET', '/account/')).body, { credits: 1 });
  const [conversion = ''] = batch.body['conversions'] as readonly string[];
  await api.fail(accountId, conversion, 'x');
  const events = await call('GET', `/conversions/${conversion}/events/`);
  t.match(
    events.text,
    /A test PDF was requested, from HTML, in the batch .*\. It costs no credit\./,
  );
  t.notMatch(events.text, /CreditDebited|CreditRefunded/);
  const unsigned = await call('POST', '/pdf/', { ...html, pdf: { sign: true } });
  t.match(unsigned.body, { error: 'validation_error', details: { 'pdf.sign': [/not signed/] } });
  const live = await call('POST', '/pdf/', html, key);
  await api.complete(accountId, String(live.body['id']), Buffer.concat([PDF, PDF]));
  t.notOk('test' in (await call('GET', `/conversions/${String(live.body['id'])}/`)).body);
  const asked = await call('POST', '/pdf/?test=true', html, key);
  const askedId = String(asked.body['id']);
  await api.complete(accountId, askedId, PDF);
  t.match((await call('GET', `/conversions/${askedId}/`, undefined, key)).body, {
    test: true,
    retention_seconds: 86_400,
  });
  const signed = { ...html, pdf: { sign: true } };
  t.match((await call('POST', '/pdf/?test=true', signed, key)).body, {
    details: { 'pdf.sign': [/without test/] },
  });
  t.match((await call('POST', '/pdf/?test=1', html, key)).body, {
    details: { test: ['Must be true or false.'] },
  });
  for (const [query, message] of [
    ['Test=true', /^Is not a known query parameter\. Did you mean test\?$/],
    ['dry_run=true', /^Is not a known query parameter\. Known: test\.$/],
  ] as const) {
    const [name = ''] = query.split('=');
    for (const [path, body] of [
      ['/pdf/', html],
      ['/batches/', { requests: [html] }],
      ['/documents/', { sources: [{ file: PDF.toString('base64') }] }],
      [`/conversions/${askedId}/retry/`],
      [`/conversions/${askedId}/rerender/`],
    ] as const) {
      const refused = await call('POST', `${path}?${query}`, body, key);
      t.match(refused, { status: 400, body: { error: 'validation_error' } }, path);
      t.match(refused.body['details'], { [name]: [message] });
    }
  }
  t.equal((await call('POST', '/pdf/', html)).status, 202, 'also without credits');
  t.equal((await call('POST', '/pdf/', html, key)).status, 402);
  for (const [bounds, status] of [
    [{}, 403],
    [{ test: false }, 403],
    [{ test: true }, 201],
  ] as const) {
    t.equal((await call('POST', '/api-keys/', { name: 'x', ...bounds })).status, status);
  }
  api.clock.time += 86_400_000;
  t.equal((await call('GET', `/conversions/${id}/file/`)).status, 410, 'after a day');
  const refunds = startRefunds(api);
  await refunds.stop();
  t.strictSame(violations(await api.log(), { settled: false }), []);
});
