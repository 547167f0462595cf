/** Bodies within every limit of bytes, made to cost the service more than they cost their sender. */
import { test } from 'tap';
import { BASE, refusal, startApi } from '../support/api.ts';

const PDF = `${BASE}/pdf/`;
const HTML = '<p>x</p>';
const MIB = 1024 * 1024;

const list = (count: number, item: string): string => Array<string>(count).fill(item).join(',');
const fields = (count: number): Record<string, unknown> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]));
const members = (count: number, value = '0'): string =>
  Array.from({ length: count }, (_, n) => `"k${n}":${value}`).join(',');

const part = (name: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${content}\r\n`;

void test('bodies of megabytes that hold too much are not read', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const head = '"url":"https://example.com/"';
  const many = /^The request body holds more than 20000 values\.$/;
  const deep = /more than 32 levels deep\.$/;
  const bodies: [name: string, body: string, message: RegExp][] = [
    ['unknown fields', `{${members(800_000)}}`, many],
    ['headers', `{${head},"headers":{${members(600_000, '""')}}}`, many],
    ['keywords', `{${head},"metadata":{"keywords":[${list(3_000_000, '""')}]}}`, many],
    ['cookies', `{${head},"cookies":[${list(3_000_000, '{}')}]}`, many],
    ['lists in lists', `{"html":${'['.repeat(4_900_000)}${']'.repeat(4_900_000)}}`, deep],
    ['objects in objects', '{"a":'.repeat(1_500_000), deep],
    [
      'a long margin',
      `{"html":"${HTML}","margin_top":"${'1'.repeat(9 * MIB)}"}`,
      /^margin_top: Must have at most 32 characters\.$/,
    ],
    [
      'a long header',
      `{${head},"headers":{"${'x'.repeat(9 * MIB)}":"x"}}`,
      /^headers\.x{92}…: Is not a header name\.$/,
    ],
  ];
  for (const [name, body, message] of bodies) {
    const answer = await api.call('POST', PDF, { key, body });
    t.match(refusal(answer), { status: 400, error: 'validation_error' }, name);
    t.match(answer.body['message'], message, name);
  }
});

void test('fields of a form that hold too much are not read', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
  const contents: [content: string, message: RegExp][] = [
    [`[${list(250_000, '1')}]`, /^The field holds more than 20000 values\.$/],
    [`${'['.repeat(260_000)}${']'.repeat(260_000)}`, /^The field has lists .* 32 levels deep\.$/],
    ['"'.repeat(600_000), /^Must have at most 524288 bytes in a form\.$/],
  ];
  for (const [content, message] of contents) {
    const names = ['cookies', 'metadata', 'scale'];
    const body = `${part('html', HTML)}${names.map((name) => part(name, content)).join('')}--b--`;
    const answer = await api.call('POST', PDF, { key, body, headers });
    t.match(refusal(answer), { status: 400, error: 'validation_error' });
    for (const name of names) t.match(answer.body['details'], { [name]: [message] }, name);
  }
});

void test('what is text may look like anything', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const html = `<p>${'[{,"\\'.repeat(50_000)}`;
  const answer = await api.call('POST', PDF, { key, body: { html } });
  t.equal(answer.status, 202, answer.text);
});

void test('bodies without a document are small', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  for (const path of ['auth/jwt/create', 'auth/jwt/refresh', 'auth/jwt/revoke', 'api-keys']) {
    const send = (bytes: number) =>
      api.call('POST', `${BASE}/${path}/`, { key, body: `{}${' '.repeat(bytes - 2)}` });
    t.match(refusal(await send(65_537)), { status: 413, error: 'payload_too_large' }, path);
    t.match(refusal(await send(65_536)), { status: 400, error: 'validation_error' }, path);
  }
});

void test('unknown fields hide nothing else that is wrong', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  for (const count of [199, 200, 201, 10_000]) {
    const many = fields(count);
    const bodies: [string, object, string[]][] = [
      ['alone', { html: HTML, ...many }, []],
      ['before html', { ...many, html: 5 }, ['html']],
      ['before scale', { ...many, html: HTML, scale: 9 }, ['scale']],
      ['after page_ranges', { html: HTML, page_ranges: 'x', ...many }, ['page_ranges']],
      ['in wait_for', { html: HTML, wait_for: { ...many, delay_ms: -1 } }, ['wait_for.delay_ms']],
      ['in wait_for, alone', { html: HTML, wait_for: many }, []],
      ['in metadata', { metadata: many, html: HTML, scale: 9 }, ['scale']],
      ['in a cookie', { url: 'https://example.com/', cookies: [many] }, ['cookies.0.name']],
    ];
    for (const [name, body, named] of bodies) {
      const answer = await api.call('POST', PDF, { key, body });
      t.match(refusal(answer), { status: 400, error: 'validation_error' }, `${count} ${name}`);
      const details = Object.keys(answer.body['details'] as object);
      t.equal(details.filter((each) => /k\d+$/.test(each)).length, 100, `${count} ${name}`);
      for (const field of named) t.ok(details.includes(field), `${count} ${name}: ${field}`);
    }
  }
  const requested = (await api.store.readStream(`account-${id}`)).filter(
    ({ type }) => type === 'ConversionRequested',
  );
  t.equal(requested.length, 0);
});

void test('what is too long or too much is still called so, and nothing else', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const emoji = '😀';
  const cases: [object, Record<string, string[]>][] = [
    [
      { html: HTML, metadata: { title: emoji.repeat(5000) } },
      { 'metadata.title': ['Must have at most 1024 characters.'] },
    ],
    [
      { html: HTML, metadata: { title: `x${emoji.repeat(5000)}` } },
      { 'metadata.title': ['Must have at most 1024 characters.'] },
    ],
    [
      { html: HTML, metadata: { keywords: Array(5000).fill('k') } },
      { 'metadata.keywords': ['Must have at most 50 items.'] },
    ],
    [
      { url: 'https://example.com/', headers: fields(5000) },
      { headers: ['Must have at most 20 entries.'] },
    ],
    [{ html: HTML, wait_for: [1] }, { wait_for: ['Must be an object.'] }],
    [{ html: [HTML, '\0'] }, { html: ['Must be a string.'] }],
    [{ html: HTML, metadata: { keywords: {} } }, { 'metadata.keywords': ['Must be an array.'] }],
  ];
  for (const [body, details] of cases) {
    t.match((await api.call('POST', PDF, { key, body })).body['details'], details);
  }
  const fits = { html: HTML, metadata: { title: emoji.repeat(1024) } };
  t.equal((await api.call('POST', PDF, { key, body: fits })).status, 202);
});
