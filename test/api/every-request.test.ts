import { test } from 'tap';
import { revokeApiKey } from '../../src/accounts/api-keys.ts';
import type { ActorSystem } from '../../src/actors/system.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { listen } from '../../src/http/server.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { partsOf, rawHttp } from '../support/raw-http.ts';

const shown = (answer: { headers: Headers }) =>
  ['limit', 'remaining', 'reset'].map((name) => answer.headers.get(`x-ratelimit-${name}`));

const LIST = `${BASE}/conversions/`;
const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

void test('credentials', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const expected = { status: 401, error: 'unauthorized' };
  const { key } = account;
  const bad: Record<string, string>[] = [
    {},
    { 'X-API-Key': '' },
    { 'X-API-Key': 'pk_live_' },
    { 'X-API-Key': `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}` },
    { 'X-API-Key': `${key}, ${key}` },
    { 'X-API-Key': key.toUpperCase() },
    { Authorization: `Bearer ${key}` },
    { Authorization: 'Basic eDp5' },
  ];
  for (const headers of bad) {
    const answer = await api.call('GET', LIST, { headers });
    t.strictSame(refusal(answer), expected, JSON.stringify(headers));
    t.ok(answer.headers.get('www-authenticate'));
  }
  const hints: [headers: Record<string, string>, message: RegExp, query?: string][] = [
    [{}, /^A valid credential is needed/],
    [{ 'X-API-Key': 'x' }, /the API key is wrong or was revoked/],
    [{ 'X-API-Key': 'Bearer a.b.c' }, /^This is an access token: send it in .*Authorization/],
    [{ Authorization: 'Bearer a.b.c' }, /the access token is wrong or has expired/],
    [{ Authorization: `Bearer ${key}` }, /^This is an API key: send it in X-API-Key, not in Auth/],
    [{ Authorization: key }, /^This is an API key/],
    [{ Authorization: basic(`${key}:`) }, /^This is an API key/],
    [{ Authorization: basic(`api:${key}`) }, /^This is an API key/],
    [{}, /^This is an API key: send it in X-API-Key, not in the address/, `?api_key=${key}`],
  ];
  for (const [headers, message, query = ''] of hints) {
    const answer = await api.call('GET', LIST + query, { headers });
    t.strictSame(refusal(answer), expected);
    t.match(answer.body['message'], message);
    t.notOk(answer.text.includes(key), 'the key is not repeated');
    const bearer = headers['Authorization']?.startsWith('Bearer') === true;
    const challenge = `Bearer realm="pressledger"${bearer ? ', error="invalid_token"' : ''}`;
    t.equal(answer.headers.get('www-authenticate'), challenge);
  }
  t.equal((await api.call('GET', LIST, { key })).status, 200);
  await revokeApiKey(api, account.keyId, { accountId: account.id }, api.context());
  t.strictSame(refusal(await api.call('GET', LIST, { key })), expected, 'revoked: at once');
});

void test('a key’s use is recorded at most once a minute', async (t) => {
  const api = await startApi(t);
  const { key, keyId } = await api.newAccount();
  const uses = async () =>
    (await api.store.readStream(`apikey-${keyId}`)).filter(({ type }) => type === 'KeyUsed');
  const recorded = async (count: number) => {
    while ((await uses()).length < count) await new Promise(setImmediate);
  };
  await Promise.all(Array.from({ length: 10 }, () => api.call('GET', LIST, { key })));
  await recorded(1);
  api.clock.time += 59_999;
  await api.call('GET', LIST, { key });
  api.clock.time += 1;
  await api.call('GET', LIST, { key });
  await recorded(2);
  t.equal((await uses()).length, 2);
  t.match((await uses())[0]?.metadata, { actor: { kind: 'key', id: keyId } });
});

void test('routes', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const cases: [string, string, object, RegExp?][] = [
    ['POST', '/', { status: 404, error: 'not_found' }],
    ['GET', `${BASE}/nothing/`, { status: 404, error: 'not_found' }],
    ['POST', `${BASE}/pdf`, { status: 404, error: 'not_found' }, /\/api\/v1\/pdf\//],
    [
      'DELETE',
      `${BASE}/api-keys/x`,
      { status: 404, error: 'not_found' },
      /mean .*\/api-keys\/x\/\?$/,
    ],
    ['GET', `${BASE}/conversions/x`, { status: 404, error: 'not_found' }, /conversions\/x\//],
    ['GET', '/healthz/', { status: 404, error: 'not_found' }, /mean \/healthz\?/],
    ['POST', '/pdf', { status: 404, error: 'not_found' }, /mean \/api\/v1\/pdf\/\?/],
    ['GET', '/account/', { status: 404, error: 'not_found' }, /mean \/api\/v1\/account\/\?/],
    ['GET', '/metrics', { status: 404, error: 'not_found' }, /described at \/docs\./],
    ['POST', '/pdf/', { status: 404, error: 'not_found' }, /Did you mean \/api\/v1\/pdf\/\?$/],
    ['POST', '/v1/pdf', { status: 404, error: 'not_found' }, /Did you mean \/api\/v1\/pdf\/\?$/],
    ['GET', '/ledger', { status: 404, error: 'not_found' }],
    ['GET', '/api', { status: 404, error: 'not_found' }, /described at \/docs\.$/],
    ['GET', `${BASE}/`, { status: 404, error: 'not_found' }, /described at \/docs\.$/],
    ['GET', LIST.toUpperCase(), { status: 404, error: 'not_found' }],
    ['GET', `${BASE}/pdf/`, { status: 405, error: 'method_not_allowed' }],
    ['PUT', `${BASE}/pdf/`, { status: 405, error: 'method_not_allowed' }],
    ['OPTIONS', `${BASE}/pdf/`, { status: 405, error: 'method_not_allowed' }],
    ['DELETE', LIST, { status: 405, error: 'method_not_allowed' }],
    ['POST', '/healthz', { status: 405, error: 'method_not_allowed' }],
  ];
  for (const [method, path, expected, message = /./] of cases) {
    for (const options of [{ key }, {}]) {
      const answer = await api.call(method, path, options);
      t.strictSame(refusal(answer), expected, `${method} ${path}`);
      t.match(answer.body['message'], message);
      t.ok(answer.headers.get('x-ratelimit-limit'), `${method} ${path}: rate limit headers`);
    }
  }
  t.equal((await api.call('GET', `${BASE}/pdf/`)).headers.get('allow'), 'POST');
  t.equal((await api.call('POST', LIST)).headers.get('allow'), 'HEAD, GET');
  t.equal((await api.call('HEAD', LIST, { key })).status, 200);

  const methods = Map.groupBy(ROUTES, ({ path }) => path);
  for (const [path, routes] of methods) {
    if (path.includes('{') || routes.some(({ needs }) => needs !== undefined)) continue;
    const { status, headers } = await api.call('PURGE', path);
    const allowed = (headers.get('allow') ?? '').split(', ').filter((each) => each !== 'HEAD');
    const own = routes.map(({ method }) => method.toUpperCase());
    t.strictSame([status, allowed.toSorted()], [405, own.toSorted()], path);
  }
});

void test('a browser that comes to the door is led to the documentation', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '7' } });
  const open = async (path: string, method = 'GET') =>
    await fetch(api.origin + path, { method, redirect: 'manual' });
  for (const [path, place] of [
    ['/docs/', '/docs'],
    ['/openapi.yaml', '/openapi.json'],
  ] as const) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await open(path, method);
      t.match([answer.status, answer.headers.get('location')], [302, place]);
      t.strictSame(shown(answer).slice(0, 2), ['7', '7'], 'nothing is counted');
    }
  }
});

void test('a credential tried where there is nothing to ask for counts like any other', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '2', RATE_LIMIT_PRO: '3' } });
  const { key } = await api.newAccount();
  t.equal((await api.call('GET', LIST, { key })).status, 200);
  const nowhere = async (headers: Record<string, string>) =>
    (await api.call('GET', `${BASE}/nothing/`, { headers })).status;
  t.equal(await nowhere({}), 404);
  t.equal(await nowhere({ 'X-API-Key': `pk_live_${'x'.repeat(24)}` }), 404);
  t.equal(await nowhere({ Authorization: 'Bearer x.y.z' }), 404);
  t.equal(await nowhere({ 'X-API-Key': `pk_live_${'y'.repeat(24)}` }), 429);
  t.equal(await nowhere({}), 404, 'nothing is tried');
  t.equal(await nowhere({ 'X-API-Key': key }), 404);
  t.equal((await api.call('PUT', LIST, { key })).status, 405);
  t.equal(await nowhere({ 'X-API-Key': key }), 429, 'a good one counts for its account');
  t.equal((await api.call('PUT', LIST, { key })).status, 429);
});

void test('what anybody may ask says how the rate limit stands, and takes nothing of it', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_ANONYMOUS: '7' } });
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
    const { status, headers } = await api.call('GET', path);
    t.equal(status, 200);
    t.strictSame(shown({ headers }).slice(0, 2), ['7', '7'], path);
  }
});

void test('a host that is not an address of this machine is named', async (t) => {
  for (const host of ['192.0.2.1', 'no-such-name.invalid']) {
    const listening = listen({ host, port: 0, rateLimitHeaders: async () => ({}) });
    await t.rejects(listening, {
      message: new RegExp(`^Cannot listen on ${host}: .*Set HOST to `),
    });
  }
});

void test('request ids', async (t) => {
  const api = await startApi(t);
  const ask = async (id: string) =>
    (await api.call('GET', '/healthz', { headers: { 'X-Request-Id': id } })).headers.get(
      'x-request-id',
    );
  t.equal(await ask('my request 1~'), 'my request 1~');
  t.match(await ask('x'.repeat(129)), /^[0-9a-f-]{36}$/);
  t.match(await ask('é'), /^[0-9a-f-]{36}$/);
});

void test('rate limits', async (t) => {
  const env = { RATE_LIMIT_FREE: '3', RATE_LIMIT_PRO: '5', RATE_LIMIT_ANONYMOUS: '2' };
  const api = await startApi(t, { env });
  api.clock.time = Math.ceil(api.clock.time / 60_000) * 60_000 + 20_000;
  const reset = String((api.clock.time + 40_000) / 1000);
  const free = await api.newAccount({ plan: 'free' });
  const pro = await api.newAccount();
  for (const remaining of ['2', '1', '0']) {
    const answer = await api.call('GET', LIST, { key: free.key });
    t.strictSame(shown(answer), ['3', remaining, reset]);
  }
  const over = await api.call('GET', LIST, { key: free.key });
  t.strictSame(refusal(over), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(over.headers.get('retry-after'), '40');
  t.equal(
    over.body['message'],
    'Only 3 requests a minute are allowed on the plan free. Try again in 40 seconds.',
  );
  t.strictSame(shown(over), ['3', '0', reset]);
  const before = await api.call('POST', `${BASE}/pdf/`, { key: free.key, body: 'x' });
  t.equal(before.status, 429, 'before the body is looked at');
  t.strictSame(shown(await api.call('GET', LIST, { key: pro.key })), ['5', '4', reset]);

  t.strictSame(shown(await api.call('GET', LIST)), ['2', '1', reset], 'an address of its own');
  t.equal((await api.call('GET', LIST)).status, 401);
  const forged = { 'X-Forwarded-For': '203.0.113.9', Forwarded: 'for=203.0.113.9' };
  const unknown = await api.call('GET', LIST, { headers: forged });
  t.equal(unknown.status, 429);
  t.match(unknown.body['message'], /^Only 2 requests a minute .* without a valid credential\./);
  t.equal((await api.call('GET', LIST, { key: pro.key })).status, 200, 'a good key still works');
  t.equal((await api.call('GET', '/healthz')).status, 200);
  api.clock.time += 40_000;
  t.equal((await api.call('GET', LIST, { key: free.key })).status, 200, 'a new minute');
});

void test('behind a trusted proxy the last forwarder’s word counts', async (t) => {
  const api = await startApi(t, { env: { TRUST_PROXY: 'true', RATE_LIMIT_ANONYMOUS: '1' } });
  const from = async (chain: string) =>
    (await api.call('GET', LIST, { headers: { 'X-Forwarded-For': chain } })).status;
  t.equal(await from('203.0.113.9'), 401);
  t.equal(await from('198.51.100.1, 203.0.113.9'), 429, 'what the client sent is passed over');
  t.equal(await from('203.0.113.10'), 401);
  t.equal(await from('2001:db8::1'), 401);
  t.equal(await from('2001:db8::2'), 429, 'one network of 64 bits');
});

void test('an entry of a forwarder is one address, however it is written', async (t) => {
  const api = await startApi(t, { env: { TRUST_PROXY: 'true', RATE_LIMIT_ANONYMOUS: '1' } });
  const from = async (entry: string) =>
    (await api.call('GET', LIST, { headers: { 'X-Forwarded-For': entry } })).status;
  const same: string[][] = [
    ['203.0.113.9', '203.0.113.9:1234', '::ffff:203.0.113.9', '[::ffff:cb00:7109]:80'],
    ['0:0:0:0:0:FFFF:203.0.113.10', '203.0.113.10'],
    ['7.7.7.7:1234', '7.7.7.7:9'],
    [
      '2001:DB8::1',
      '2001:0db8:0:0::ffff',
      '[2001:db8::1]:443',
      '[2001:db8::2]',
      '2001:db8::3%eth0',
    ],
    ['1:2:3::', '1:2:3:0:1::', '1:2:3:0:0:0:0:1'],
    ['', 'unknown', '_hidden', '7.7.7.7:x', '[7.7.7', '1.2.3.4.5', '::1::', '2130706433', '0x7f.1'],
  ];
  for (const [first = '', ...others] of same) {
    t.equal(await from(first), 401, first);
    for (const other of others) t.equal(await from(other), 429, `${first} is ${other}`);
  }
});

void test('guesses of an address that has used up its own are not looked up', async (t) => {
  let lookups = 0;
  const api = await startApi(t, {
    env: { RATE_LIMIT_ANONYMOUS: '2' },
    replace: ({ actors, store }) => ({
      actors: Object.assign(Object.create(actors) as ActorSystem, {
        read: (...which: Parameters<ActorSystem['read']>) => {
          lookups += 1;
          return actors.read(...which);
        },
      }),
      store: {
        head: () => {
          lookups += 1;
          return store.head();
        },
      },
    }),
  });
  api.clock.time = Math.ceil(api.clock.time / 60_000) * 60_000 + 20_000;
  const [known, unknown] = [await api.newAccount(), await api.newAccount()];
  const ask = async (key: string) => await api.call('GET', LIST, { key });
  t.equal((await ask(known.key)).status, 200);
  for (const guess of ['a', 'b']) t.equal((await ask(`pk_live_${guess.repeat(24)}`)).status, 401);
  lookups = 0;
  const refused = await ask(`pk_live_${'c'.repeat(24)}`);
  t.strictSame(refusal(refused), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(refused.headers.get('retry-after'), '40');
  t.strictSame(shown(refused).slice(0, 2), ['2', '0']);
  const forged = { Authorization: 'Bearer eyJhbGciOiJFZERTQSJ9.e30.AAAA' };
  t.equal((await api.call('GET', LIST, { headers: forged })).status, 429);
  t.equal((await ask(unknown.key)).status, 429, 'a key never seen may be a guess');
  t.equal(lookups, 0);
  t.equal((await ask(known.key)).status, 200, 'who is known goes on');
  await revokeApiKey(api, known.keyId, { accountId: known.id }, api.context());
  t.equal((await ask(known.key)).status, 429, 'until the key is revoked');
  api.clock.time += 40_000;
  t.equal((await ask(unknown.key)).status, 200, 'in the next minute');
});

void test('health', async (t) => {
  const missing = ['the renderer is starting'];
  const api = await startApi(t, {
    replace: () => ({ readiness: () => ({ ready: missing.length === 0, missing }) }),
  });
  t.strictSame((await api.call('GET', '/healthz')).body, { status: 'ok' });
  const starting = await api.call('GET', '/readyz');
  t.strictSame(refusal(starting), {
    status: 503,
    error: 'service_unavailable',
    details: ['missing'],
  });
  t.strictSame(starting.body['details'], { missing });
  t.ok(starting.headers.get('retry-after'));
  missing.pop();
  t.strictSame((await api.call('GET', '/readyz')).body, { status: 'ready' });
});

void test('failures inside say nothing of the inside', async (t) => {
  let failure: Error = new TypeError('secret path /var/lib/x');
  const api = await startApi(t, {
    replace: () => ({ store: { head: () => Promise.reject(failure) } }),
  });
  const { key } = await api.newAccount();
  const headers = { 'X-Request-Id': 'r-1' };
  const broken = await api.call('GET', LIST, { key, headers });
  t.strictSame(refusal(broken), { status: 500, error: 'internal_error' });
  const [, named = ''] =
    /name the request ([0-9a-f]{16})\./.exec(String(broken.body['message'])) ?? [];
  t.notMatch(broken.text, /secret/);
  t.match(api.logged.join(''), new RegExp(`"requestId":"${named}".*secret path`));
  t.notMatch(api.logged.join(''), 'r-1', 'what a client chose freely stays out of the log');
  failure = new EventStoreUnavailable('SQLITE_FULL');
  const away = await api.call('GET', LIST, { key });
  t.strictSame(refusal(away), { status: 503, error: 'service_unavailable' });
  t.ok(away.headers.get('retry-after'));
  t.notMatch(away.text, /SQLITE/);
});

void test('what is not HTTP is answered in the same shape', async (t) => {
  const api = await startApi(t);
  const port = Number(new URL(api.origin).port);
  const garbage = await rawHttp(port, 'nonsense\r\n\r\n');
  t.match(garbage, /^HTTP\/1\.1 400 [\s\S]*\r\n\r\n\{"error":"validation_error"/);
  const huge = await rawHttp(port, `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  t.match(huge, /^HTTP\/1\.1 400 [\s\S]*headers are larger/);
  const smuggled = await rawHttp(
    port,
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  );
  t.match(smuggled, /^HTTP\/1\.1 400 /);
  for (const { headers } of [garbage, huge, smuggled].map(partsOf)) {
    t.match(headers.get('x-request-id'), /^[0-9a-f-]{36}$/);
    const limit = String(api.config.rateLimitAnonymous);
    t.strictSame(shown({ headers }).slice(0, 2), [limit, limit], 'how its address stands');
    t.ok(Number(headers.get('x-ratelimit-reset')) * 1000 > api.clock.time);
  }
});
