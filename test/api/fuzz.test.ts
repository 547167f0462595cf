/**
 * Every endpoint under requests made from the schemas: valid, nearly valid and wild. Nothing may answer
 * 5xx, every answer has its documented shape, and the log keeps its invariants.
 */
import fc from 'fast-check';
import { type Test, test } from 'tap';
import type { TSchema } from 'typebox';
import { Check } from 'typebox/value';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { ERRORS } from '../../src/errors/errors.ts';
import { isPagePath } from '../../src/http/middleware/dashboard.ts';
import { ErrorAnswer } from '../../src/http/openapi/schemas.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { ConversionRequest } from '../../src/requests/schema.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { nastyText, nearly, valid, wild } from '../support/arbitraries.ts';
import { balanceOf, violations } from '../support/invariants.ts';
import { seededRandom } from '../support/random.ts';
import { keepAlive, type RawAnswer, type RawRequest, send } from '../support/wild-http.ts';

const RUNS = 4000;
const MOST_MS = 20_000;
const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly body: TSchema | undefined;
}

/** Its answer does not end by itself; `conversion-stream.test.ts` and the attacks ask it strange things. */
const STREAM = `${BASE}/conversions/stream/`;

const ENDPOINTS = ROUTES.filter(({ path }) => path !== STREAM).map(
  ({ method, path, doc }): Endpoint => ({
    method: method.toUpperCase(),
    path,
    body: doc.body?.schema,
  }),
);

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'];

type Known = Awaited<ReturnType<typeof prepare>>;

/** Accounts, keys, tokens and conversions in every state, for requests that come near something. */
async function prepare(api: Api) {
  const own = await api.newAccount({ credits: 300 });
  const other = await api.newAccount();
  const broke = await api.newAccount({ credits: 0 });
  const create = async (key: string) =>
    (await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } })).body['id'];
  const [done, failed, pending] = [
    await create(own.key),
    await create(own.key),
    await create(own.key),
  ];
  await api.complete(own.id, String(done), PDF);
  await api.fail(own.id, String(failed), 'It failed.');
  const record = await api.call('GET', `${BASE}/conversions/${String(done)}/`, { key: own.key });
  const credentials = { email: own.email, password: PASSWORD };
  const session = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: credentials });
  const spare = await api.call('POST', `${BASE}/api-keys/`, { key: own.key, body: { name: 's' } });
  const { access, refresh } = session.body as { access: string; refresh: string };
  return {
    own,
    other,
    broke,
    credentials,
    access,
    refresh,
    link: new URL(String(record.body['file_url'])),
    ids: [done, failed, pending, await create(other.key), spare.body['id'], other.keyId].map(
      String,
    ),
  };
}

const encoded = (value: string): string => {
  const text = encodeURIComponent(value.toWellFormed());
  return text === '' ? '%20' : text;
};

const targetOf = (endpoint: Endpoint, known: Known): fc.Arbitrary<string> => {
  const id = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...known.ids) },
    fc.constantFrom('%', '%zz', '%ff', '%00', '.', '..', '%2e%2e%2f', 'conv_', '%C3%A9'),
    fc.oneof(nastyText, fc.string()).map(encoded),
  );
  const path = endpoint.path.includes('{id}')
    ? id.map((value) => endpoint.path.replace('{id}', () => value))
    : fc.constant(endpoint.path);
  const bent = fc.oneof(
    { weight: 24, arbitrary: path },
    path.map((each) => each.slice(0, -1)),
    path.map((each) => `${each}/`),
    path.map((each) => each.toUpperCase()),
    path.map((each) => `/${each}`),
    fc.webPath().map((each) => (each.startsWith('/') ? each : `/${each}`)),
    fc.constantFrom('/', '*', 'http://elsewhere.example/x', '/%', '/?'),
  );
  const name = fc.oneof(
    fc.constantFrom('page', 'page_size', 'status', 'token'),
    nastyText.map(encoded),
  );
  const value = fc.oneof(
    fc.constantFrom(
      '1',
      '2',
      '100',
      '101',
      '0',
      '-1',
      '1.5',
      '1e2',
      '',
      'completed',
      'x',
      '%',
      '%ff',
    ),
    fc.constant(known.link.searchParams.get('token') ?? ''),
    nastyText.map(encoded),
  );
  const pairs = fc.array(fc.tuple(name, value), { maxLength: 3 });
  const query = fc.oneof(
    { weight: 5, arbitrary: fc.constant('') },
    pairs.map((each) => `?${each.map(([left, right]) => `${left}=${right}`).join('&')}`),
    fc.constantFrom('?page[]=1', '?page=1&page=2', '?__proto__=1', '?%', known.link.search),
  );
  return fc.tuple(bent, query).map(([left, right]) => left + right);
};

/** A credential with one character changed. */
const flip = (token: string) =>
  fc.nat(token.length - 1).map((at) => {
    const letter = token[at] === 'A' ? 'B' : 'A';
    return token.slice(0, at) + letter + token.slice(at + 1);
  });

const headersOf = (known: Known): fc.Arbitrary<Record<string, string>> => {
  const credential: fc.Arbitrary<Record<string, string>> = fc.oneof(
    { weight: 12, arbitrary: fc.constant({ 'X-API-Key': known.own.key }) },
    { weight: 4, arbitrary: fc.constant({ Authorization: `Bearer ${known.access}` }) },
    fc.constant({ Authorization: `Bearer ${known.refresh}` }),
    fc.constant({ 'X-API-Key': known.other.key, Authorization: `Bearer ${known.access}` }),
    { weight: 3, arbitrary: fc.constant({ 'X-API-Key': known.broke.key }) },
    flip(known.access).map((token) => ({ Authorization: `Bearer ${token}` })),
    flip(known.own.key).map((key) => ({ 'X-API-Key': key })),
    fc.constant({}),
  );
  // What a header may hold at all; the rest never leaves a client.
  const letters = fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f);
  const value = fc.string({
    unit: letters.map((code) => String.fromCharCode(code)),
    maxLength: 300,
  });
  const type = fc.oneof(
    { weight: 24, arbitrary: fc.constant('application/json') },
    fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json;charset=utf-16',
      'text/plain',
      'application/json, text/html',
      'multipart/form-data',
      '',
    ),
    value,
  );
  const odd = fc.record(
    {
      'Idempotency-Key': fc.oneof(fc.constantFrom('a', 'b', 'c'), value),
      Prefer: fc.oneof(fc.constantFrom('wait=0', 'wait=-1', 'wait', 'wait=0, wait=9'), value),
      'X-Request-Id': value,
      'X-Forwarded-For': fc.oneof(fc.ipV4(), fc.ipV6(), value),
      Forwarded: value,
      'X-HTTP-Method-Override': fc.constantFrom(...METHODS),
      Host: fc.constantFrom('evil.example', 'a:b:c', '[::1', ''),
      Expect: fc.constantFrom('100-continue', 'nothing'),
      Upgrade: fc.constantFrom('websocket', 'h2c'),
      'Content-Encoding': fc.constantFrom('gzip', 'identity', 'br, gzip', 'nonsense'),
      Accept: value,
      Origin: value,
      Cookie: value,
      Range: fc.constantFrom(
        'bytes=0-',
        'bytes=-1',
        'bytes=99-',
        'bytes=0-0,2-3',
        'lines=1',
        'bytes=-0',
      ),
      'If-None-Match': fc.oneof(fc.constant('*'), value),
      'If-Range': value,
    },
    { requiredKeys: [] },
  );
  return fc
    .tuple(credential, type, fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, odd))
    .map(([left, contentType, right]) => ({ 'Content-Type': contentType, ...left, ...right }));
};

const json = (value: fc.Arbitrary<unknown>) =>
  value.map((each) => Buffer.from(JSON.stringify(each) ?? ''));

const bodyOf = (endpoint: Endpoint, known: Known): fc.Arbitrary<Buffer | undefined> => {
  const schema = endpoint.body;
  const good = fc.constantFrom(
    known.credentials,
    { ...known.credentials, password: 'wrong' },
    { refresh: known.access },
    { name: 'a name' },
    { html: '<p>x</p>' },
    { url: 'https://example.com/', headers: { a: 'b' } },
  );
  const whole: fc.Arbitrary<Buffer> = fc.oneof(
    json(good),
    json(wild),
    ...(schema === undefined
      ? []
      : [
          { weight: 3, arbitrary: json(valid(schema).map((each) => withContent(endpoint, each))) },
          { weight: 3, arbitrary: json(nearly(schema)) },
        ]),
  );
  const strange = fc.constantFrom(
    '{"html":"<p>x</p>","scale":1e400}',
    '{"html":"<p>x</p>","scale":-0,"html":"<b>twice</b>"}',
    '{"__proto__":{"html":"<p>x</p>"},"constructor":{"prototype":{"polluted":1}}}',
    `${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}`,
    `{"name":"${'\\ud83d'.repeat(50)}"}`,
    '{"name":"\\u0000"}',
    '\ufeff{"name":"x"}',
    '[{}]',
    'NaN',
  );
  return fc.oneof(
    { weight: 15, arbitrary: whole },
    strange.map((each) => Buffer.from(each)),
    whole.map((each) => each.subarray(0, each.length >> 1)),
    whole.map((each) => Buffer.from(each.toString('utf8'), 'utf16le')),
    fc.tuple(whole, fc.nat(), fc.nat(255)).map(([each, at, byte]) => {
      const bytes = Buffer.from(each);
      if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return bytes;
    }),
    fc.uint8Array({ maxLength: 200 }).map((each) => Buffer.from(each)),
    fc.constant(undefined),
  );
};

/** Fields whose values are mostly refused for another reason than the schema, so that nothing else is seen. */
const REFUSED_MOSTLY = /^(url|headers|cookies|page_ranges|margin_\w+)$/;

function withContent({ body }: Endpoint, value: object): object {
  if (body !== ConversionRequest) return value;
  const kept = Object.entries(value).filter(([name]) => !REFUSED_MOSTLY.test(name));
  return { ...Object.fromEntries(kept), html: '<p>x</p>' };
}

/** Every endpoint; those that take a body have most to get wrong. */
function requests(known: Known): fc.Arbitrary<RawRequest> {
  const headers = headersOf(known);
  return fc.oneof(
    ...ENDPOINTS.map((endpoint) => {
      const own = { weight: 15, arbitrary: fc.constant(endpoint.method) };
      const arbitrary = fc.record({
        method: fc.oneof(own, fc.constantFrom(...METHODS)),
        target: targetOf(endpoint, known),
        headers,
        body: bodyOf(endpoint, known),
      });
      return { weight: endpoint.body === undefined ? 1 : 3, arbitrary };
    }),
  );
}

/** As it was sent: a URL parser would take `..` away. */
const pathOf = (target: string): string =>
  target.replace(/^http:\/\/[^/]*/, '').replace(/\?.*/s, '');

/** @throws {Error} what is wrong with the answer */
function judge(api: Api, { method, target }: RawRequest, answer: RawAnswer): void {
  const { status, headers, text } = answer;
  const demand = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`${status} ${what}: ${text.slice(0, 500)}`);
  };
  demand(status < 500, 'is an error of the service');
  demand(headers.has('x-request-id'), 'without X-Request-Id');
  demand(!headers.has('x-injected'), 'with an injected header');
  for (const name of ['limit', 'remaining', 'reset']) {
    demand(/^\d+$/.test(headers.get(`x-ratelimit-${name}`) ?? ''), `without X-RateLimit-${name}`);
  }
  if (status >= 400 && method !== 'HEAD') {
    demand(headers.get('content-type') === 'application/json; charset=utf-8', 'is not JSON');
    const body: unknown = JSON.parse(text);
    if (!Check(ErrorAnswer, body)) return demand(false, 'does not have the shape of errors');
    demand(ERRORS[body.error].status === status, 'has the code of another status');
  }
  // Redirects of what people type, and the dashboard's pages, are not part of the document.
  if (status !== 302 && !isPagePath(pathOf(target)))
    api.observe({ ...answer, method, path: pathOf(target) });
}

/** It is sent first: a slow machine may end before chance has made one that is accepted. */
const accepted = (known: Known): RawRequest => ({
  method: 'POST',
  target: `${BASE}/pdf/`,
  headers: { 'Content-Type': 'application/json', 'X-API-Key': known.own.key },
  body: Buffer.from('{"html":"<p>x</p>"}'),
});

async function attack(t: Test, api: Api, known: Known): Promise<Record<string, number>> {
  const agent = keepAlive();
  t.teardown(() => agent.destroy());
  const { seed } = seededRandom();
  t.comment(`TEST_SEED=${seed} repeats this run`);
  const seen: Record<string, number> = {};
  const property = fc.asyncProperty(requests(known), async (asked) => {
    const answer = await send(api.origin, agent, asked);
    seen[answer.status] = (seen[answer.status] ?? 0) + 1;
    judge(api, asked, answer);
  });
  const limits = { numRuns: RUNS, interruptAfterTimeLimit: MOST_MS };
  const examples: [RawRequest][] = [[accepted(known)]];
  await fc.assert(property, { seed, examples, ...limits, markInterruptAsFailure: false });
  return seen;
}

void test('whatever is sent, the answer is one of those documented', async (t) => {
  const env = { TRUST_PROXY: 'true', MAX_BODY_BYTES: '100000' };
  const api = await startApi(t, { env });
  const known = await prepare(api);
  const seen = await attack(t, api, known);
  t.comment(JSON.stringify(seen));
  for (const status of [200, 202, 400, 401, 404, 405, 415]) {
    t.ok((seen[status] ?? 0) > 0, `${status} was among the answers`);
  }
  t.notOk('polluted' in {}, 'no prototype was changed');
  t.strictSame(
    api.logged.filter((line) => line.includes('"level":50')),
    [],
    'no error was logged',
  );

  const log = await api.log();
  t.strictSame(violations(log, { settled: false }), []);
  const { own, other } = known;
  for (const { id } of [own, other]) {
    // Its first key may have been revoked with itself.
    const { key } = await createApiKey(api, id, 'afterwards', api.context());
    const { body } = await api.call('GET', `${BASE}/account/`, { key });
    t.equal(body['credits'], balanceOf(log, id), 'the balance is what the log says');
  }
});
