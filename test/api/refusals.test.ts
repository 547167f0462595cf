/** What each endpoint refuses, beside the bodies of POST /pdf/ and the tokens, which have tests of their own. */
import { test } from 'tap';
import { BASE, type CallOptions, PASSWORD, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';

const LISTS = ['conversions', 'account/ledger', 'api-keys', 'webhooks', 'webhooks/deliveries'].map(
  (name) => `${BASE}/${name}/`,
);
const invalid = (...details: string[]) => ({
  status: 400,
  error: 'validation_error',
  ...(details.length === 0 ? {} : { details }),
});
const notFound = { status: 404, error: 'not_found' };
const unauthorized = { status: 401, error: 'unauthorized' };

void test('the query of a list', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const pages: [query: string, details: string[]][] = [
    ['page=', ['page']],
    ['page=0', ['page']],
    ['page=-1', ['page']],
    ['page=+1', ['page']],
    ['page=1.0', ['page']],
    ['page=1e1', ['page']],
    ['page=0x1', ['page']],
    ['page=one', ['page']],
    ['page=%201', ['page']],
    ['page=%00', ['page']],
    ['page=%EF%BC%91', ['page']],
    ['page=1000000001', ['page']],
    ['page=99999999999999999999', ['page']],
    ['page=1&page=1', ['page']],
    ['page_size=', ['page_size']],
    ['page_size=0', ['page_size']],
    ['page_size=101', ['page_size']],
    ['page_size=20.5', ['page_size']],
    ['page_size=true', ['page_size']],
    ['page_size=5&page_size=6', ['page_size']],
    ['page[]=1', ['page[]']],
    ['Page=1', ['Page']],
    ['limit=5&offset=1', ['limit', 'offset']],
    ['__proto__=1&constructor=2', ['__proto__', 'constructor']],
    ['page=0&page_size=0&x=1', ['page', 'page_size', 'x']],
  ];
  for (const path of LISTS) {
    for (const [query, details] of pages) {
      const answer = await api.call('GET', `${path}?${query}`, { key });
      t.strictSame(refusal(answer), invalid(...details), `${path}?${query}`);
    }
    for (const query of ['', 'page=1&page_size=100', 'page=1000000000', 'page=007', '&&']) {
      t.equal((await api.call('GET', `${path}?${query}`, { key })).status, 200, `?${query}`);
    }
  }
  const [conversions = '', ledger = '', keys = ''] = LISTS;
  for (const status of ['', 'Completed', 'done', 'failed,pending', 'pending&status=failed']) {
    const answer = await api.call('GET', `${conversions}?status=${status}`, { key });
    t.strictSame(refusal(answer), invalid('status'), `status=${status}`);
  }
  const all = await api.call('GET', `${conversions}?status=x&page=x&page_size=x&y=1`, { key });
  t.strictSame(refusal(all), invalid('page', 'page_size', 'status', 'y'));
  const deliveries: [query: string, details: string[]][] = [
    ['status=pending', ['status']],
    ['status=waiting&status=failed', ['status']],
    ['webhook=x', ['webhook']],
    ['webhook=conv_00000000000000000000000000', ['webhook']],
    ['conversion=', ['conversion']],
    ['conversion=webhook_00000000000000000000000000', ['conversion']],
    ['status=&webhook=&conversion=%00&since=x', ['conversion', 'since', 'status', 'webhook']],
  ];
  for (const [query, details] of deliveries) {
    const answer = await api.call('GET', `${BASE}/webhooks/deliveries/?${query}`, { key });
    t.strictSame(refusal(answer), invalid(...details), query);
  }
  for (const path of [ledger, keys]) {
    const answer = await api.call('GET', `${path}?status=pending`, { key });
    t.strictSame(refusal(answer), invalid('status'), 'a filter of another list');
  }
});

void test('bodies of the other endpoints', async (t) => {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '4096' } });
  const { key } = await api.newAccount();
  const unsupported = { status: 415, error: 'unsupported_media_type' };
  const cases: [what: string, options: CallOptions, expected: object][] = [
    ['none', {}, invalid()],
    ['empty', { body: '' }, invalid()],
    ['cut off', { body: '{"name":"x"' }, invalid()],
    ['two values', { body: '{}{}' }, invalid()],
    ['a comment', { body: '{} // x' }, invalid()],
    ['an array', { body: [{}] }, invalid()],
    ['null', { body: null }, invalid()],
    ['a string', { body: '"x"' }, invalid()],
    ['bad UTF-8', { body: Buffer.from([0x7b, 0xc0, 0x80, 0x7d]) }, invalid()],
    ['UTF-16', { body: Buffer.from('{"name":"x"}', 'utf16le') }, invalid()],
    ['text', { body: '{}', headers: { 'Content-Type': 'text/plain' } }, unsupported],
    ['a form', { body: 'a=b', headers: { 'Content-Type': 'multipart/form-data' } }, unsupported],
    [
      'two types',
      { body: '{}', headers: { 'Content-Type': 'application/json, text/html' } },
      unsupported,
    ],
    [
      'JSON by another name',
      { body: '{}', headers: { 'Content-Type': 'application/problem+json' } },
      unsupported,
    ],
    ['encoded', { body: '{}', headers: { 'Content-Encoding': 'br' } }, unsupported],
    [
      'too large',
      { body: { name: 'x'.repeat(5000) } },
      { status: 413, error: 'payload_too_large' },
    ],
  ];
  const paths = ['api-keys', 'webhooks', 'auth/jwt/create', 'auth/jwt/refresh', 'auth/jwt/revoke'];
  for (const path of paths) {
    for (const [what, options, expected] of cases) {
      const answer = await api.call('POST', `${BASE}/${path}/`, { key, ...options });
      t.strictSame(refusal(answer), expected, `${path}: ${what}`);
    }
  }
  const fields: [path: string, body: object, details: string[]][] = [
    ['api-keys', { name: null }, ['name']],
    ['api-keys', { name: ['x'] }, ['name']],
    ['api-keys', { name: { toString: 'x' } }, ['name']],
    ['api-keys', { name: true, Name: 'x', id: 'key_1' }, ['Name', 'id', 'name']],
    ['api-keys', { name: '🂡'.repeat(101) }, ['name']],
    ['auth/jwt/create', { email: 'a@b.c' }, ['password']],
    ['auth/jwt/create', { password: 'x' }, ['email']],
    ['auth/jwt/create', { email: ['a@b.c'], password: { $ne: '' } }, ['email', 'password']],
    ['auth/jwt/create', { email: 'a\0@b.c', password: '\ud800' }, ['email', 'password']],
    ['auth/jwt/create', { username: 'a@b.c', password: 'x' }, ['email', 'username']],
    ['auth/jwt/refresh', { refresh: null }, ['refresh']],
    ['auth/jwt/refresh', { refresh: ['x'] }, ['refresh']],
    ['auth/jwt/refresh', { refresh: 'a\0b' }, ['refresh']],
    ['auth/jwt/refresh', { token: 'x' }, ['refresh', 'token']],
    ['auth/jwt/revoke', { refresh: {} }, ['refresh']],
    ['auth/jwt/revoke', { refresh: 'x', all: true }, ['all']],
  ];
  for (const [path, body, details] of fields) {
    const answer = await api.call('POST', `${BASE}/${path}/`, { key, body });
    t.strictSame(refusal(answer), invalid(...details), `${path}: ${JSON.stringify(body)}`);
    if (Object.values(body).includes(null)) t.match(answer.body['message'], /: Is required\.$/);
  }
});

void test('webhook endpoints', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const url = 'https://example.com/hook';
  const call = (method: string, path: string, body?: object) =>
    api.call(method, `${BASE}/webhooks/${path}`, { key, ...(body && { body }) });
  const urls = [
    'http://example.com/',
    'ftp://example.com/',
    'https://me:pw@example.com/',
    'https://localhost/',
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/',
    'https://10.0.0.1/',
    'https://metadata/',
    'https://example.com:25/',
    'example.com',
    '',
    `https://example.com/${'x'.repeat(2048)}`,
    `https://example.com/${'é'.repeat(400)}`,
    'https://example.com/\0',
  ];
  const bodies: [body: object, details: string[]][] = [
    ...urls.map((each): [object, string[]] => [{ url: each }, ['url']]),
    [{ url: 7 }, ['url']],
    [{ url: [url] }, ['url']],
    [{ url, types: [] }, ['types']],
    [{ url, types: 'batch.ended' }, ['types']],
    [{ url, types: ['webhook.test'] }, ['types.0']],
    [{ url, types: ['batch.ended', 'batch.ended'] }, ['types']],
    [{ url, types: Array.from({ length: 9 }, () => 'batch.ended') }, ['types']],
    [{ url, description: 'x'.repeat(201) }, ['description']],
    [{ url, description: 'a\u202eb' }, ['description']],
    [{ url, description: 'a\nb' }, ['description']],
    [{ url, secret: 'whsec_x', id: 'x' }, ['id', 'secret']],
  ];
  const { body: made } = await call('POST', '', { url });
  const own = `${String(made['id'])}/`;
  for (const [body, details] of bodies) {
    const told = JSON.stringify(body).slice(0, 60);
    t.strictSame(refusal(await call('POST', '', body)), invalid(...details), told);
    t.strictSame(refusal(await call('PATCH', own, body)), invalid(...details), `PATCH ${told}`);
  }
  t.strictSame(refusal(await call('POST', '', {})), invalid('url'));
  t.strictSame(refusal(await call('POST', '', { url, enabled: true })), invalid('enabled'));
  t.strictSame(refusal(await call('PATCH', own, { enabled: 'no' })), invalid('enabled'));
  t.equal((await call('PATCH', own, {})).status, 200, 'nothing is changed');
  const untidy = await call('PATCH', own, { url: ' https://EXAMPLE.com/a\r\nb\tc ' });
  t.equal(untidy.body['url'], 'https://example.com/abc', 'kept as it will be asked for');
  for (const query of [
    '',
    '?since=',
    '?since=yesterday',
    '?since=2026-01-01',
    '?since=1&since=2',
  ]) {
    const answer = await call('POST', `${own}redeliver/${query}`);
    t.strictSame(refusal(answer), invalid('since'), query);
  }
  const unknown = [
    'x',
    '%00',
    'secret',
    'deliveries',
    'webhook_00000000000000000000000000',
    `${own}%2F`,
  ];
  for (const id of [...unknown, '__proto__', 'x'.repeat(4000)]) {
    const asked: [string, string, object?][] = [
      ['GET', `${id}x/`],
      ['PATCH', `${id}/`, { enabled: true }],
      ['DELETE', `${id}/`],
      ['POST', `${id}x/rotate/`],
      ['POST', `${id}/test/`],
      ['POST', `${id}/redeliver/?since=2026-01-01T00:00:00Z`],
      ['GET', `deliveries/${id}/`],
      ['POST', `deliveries/${id}/redeliver/`],
    ];
    for (const [method, path, body] of asked) {
      t.strictSame(
        refusal(await call(method, path, body)),
        notFound,
        `${method} ${path.slice(0, 60)}`,
      );
    }
  }
  t.equal((await call('GET', '')).headers.get('x-total-count'), '1', 'refusals make nothing');
});

void test('ids in a path', async (t) => {
  const api = await startApi(t);
  const { key, keyId } = await api.newAccount();
  const other = await api.newAccount();
  const ids = [
    'x',
    '%00',
    '%',
    '%ff',
    '%2e%2e',
    'conv_',
    'key_00000000000000000000000000',
    'conv_00000000000000000000000000',
    `${keyId}0`,
    keyId.toUpperCase(),
    `${keyId}%20`,
    `${keyId}%2F`,
    '__proto__',
    'x'.repeat(4000),
    "1'%20OR%20'1'='1",
    other.keyId,
    other.id,
  ];
  for (const id of ids) {
    const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
    t.strictSame(refusal(record), notFound, `conversions/${id.slice(0, 40)}`);
    const revoked = await api.call('DELETE', `${BASE}/api-keys/${id}/`, { key });
    t.strictSame(refusal(revoked), notFound, `api-keys/${id.slice(0, 40)}`);
  }
  t.equal((await api.call('GET', `${BASE}/account/`, { key: other.key })).status, 200);
});

void test('headers of POST /pdf/', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const post = (body: unknown, headers: Record<string, string>) =>
    api.call('POST', `${BASE}/pdf/`, { key, body, headers });
  const html = '<p>x</p>';
  const both = await post({ html, scale: 9 }, { 'Idempotency-Key': '' });
  t.strictSame(refusal(both), invalid('Idempotency-Key', 'scale'), 'said together');
  const twice = new Headers({ 'Content-Type': 'application/json', 'X-API-Key': key });
  twice.append('Idempotency-Key', 'a'.repeat(200));
  twice.append('Idempotency-Key', 'b'.repeat(200));
  const body = JSON.stringify({ html });
  const joined = await fetch(`${api.origin}${BASE}/pdf/`, { method: 'POST', headers: twice, body });
  t.equal(joined.status, 400, 'two keys are one that is too long');
  const accepted = await post(
    { html },
    { 'Idempotency-Key': ' ~!"{}'.repeat(42), Prefer: 'wait=x' },
  );
  t.equal(accepted.status, 202, accepted.text);
  t.equal(accepted.headers.get('preference-applied'), null);
  const requests = (await api.store.readStream(`account-${id}`)).filter(
    ({ type }) => type === 'ConversionRequested',
  );
  t.equal(requests.length, 1, 'refusals accept nothing');
});

void test('checks come in their order', async (t) => {
  const api = await startApi(t, { env: { RATE_LIMIT_FREE: '1', MAX_BODY_BYTES: '64' } });
  const { key } = await api.newAccount({ plan: 'free', credits: 0 });
  const path = `${BASE}/pdf/`;
  const text = { 'Content-Type': 'text/plain' };
  const large = 'x'.repeat(100);
  const ask = (method: string, to: string, options: CallOptions) => api.call(method, to, options);
  t.equal((await ask('PUT', path, { body: large, headers: text })).status, 405, 'the route');
  t.equal((await ask('POST', path, { body: large, headers: text })).status, 401, 'the credential');
  t.equal((await ask('POST', path, { key, body: large, headers: text })).status, 413, 'the body');
  t.equal((await ask('POST', path, { key, body: large, headers: text })).status, 429, 'the rate');
  api.clock.time += 60_000;
  t.equal((await ask('POST', path, { key, body: 'x', headers: text })).status, 415, 'its type');
  api.clock.time += 60_000;
  const badKey = { 'Idempotency-Key': '' };
  const judged = await ask('POST', path, { key, body: { html: '<p>' }, headers: badKey });
  t.strictSame(refusal(judged), invalid('Idempotency-Key'), 'the request');
  api.clock.time += 60_000;
  const broke = await ask('POST', path, { key, body: { html: '<p>' } });
  t.strictSame(refusal(broke), { status: 402, error: 'insufficient_credits' }, 'the credits');
});

void test('credentials beside each other', async (t) => {
  const api = await startApi(t);
  const { email, key } = await api.newAccount();
  const pair = { email, password: PASSWORD };
  const signedIn = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: pair });
  const access = String(signedIn.body['access']);
  const get = (headers: Record<string, string>) => api.call('GET', `${BASE}/account/`, { headers });
  const bearer = `Bearer ${access}`;
  t.equal((await get({ Authorization: bearer })).status, 200);
  t.equal((await get({ Authorization: `bearer  ${access}` })).status, 200);
  t.equal(
    (await get({ 'X-API-Key': key, Authorization: 'Bearer x' })).status,
    200,
    'the key counts',
  );
  const bad: Record<string, string>[] = [
    { 'X-API-Key': 'pk_live_x', Authorization: bearer },
    { 'X-API-Key': access },
    { Authorization: access },
    { Authorization: `Basic ${access}` },
    { Authorization: `Bearer ${access} ${access}` },
    { Authorization: `Bearer ${access},` },
    { Authorization: `Bearer "${access}"` },
    { Authorization: 'Bearer' },
    { Cookie: `access=${access}` },
  ];
  for (const headers of bad) {
    t.strictSame(refusal(await get(headers)), unauthorized, JSON.stringify(headers).slice(0, 60));
  }
  for (const query of [`api_key=${key}`, `access_token=${access}`]) {
    t.equal((await api.call('GET', `${BASE}/account/?${query}`)).status, 401, 'not in the query');
  }
});

void test('what a client says of its way here is not believed', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const headers = {
    'X-Forwarded-For': '203.0.113.9',
    'X-Real-IP': '203.0.113.9',
    Forwarded: 'for=203.0.113.9;host=evil.example;proto=https',
    'X-Forwarded-Host': 'evil.example',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Prefix': '/evil',
    'X-HTTP-Method-Override': 'DELETE',
    'X-Original-URL': `${BASE}/account/`,
  };
  const posted = await api.call('POST', `${BASE}/pdf/`, {
    key,
    headers,
    body: { html: '<p>x</p>' },
  });
  t.equal(posted.status, 202, posted.text);
  const requested = await eventually('the event', async () =>
    (await api.store.readStream(`account-${id}`)).find(
      ({ type }) => type === 'ConversionRequested',
    ),
  );
  const { client } = requested.metadata as { client: string };
  t.equal(await api.vault.unseal(id, client), '127.0.0.1');
  await api.complete(id, String(posted.body['id']), Buffer.from('%PDF-1.7\n%%EOF\n'));
  const record = await api.call('GET', `${BASE}/conversions/${String(posted.body['id'])}/`, {
    key,
    headers,
  });
  t.ok(String(record.body['file_url']).startsWith(`${api.origin}/files/`));
  const list = await api.call('GET', `${BASE}/conversions/`, { key, headers });
  t.notMatch(`${list.text}${list.headers.get('link')}`, /evil/);
  t.match(list.headers.get('link'), `<${api.origin}${BASE}/conversions/`);
});
