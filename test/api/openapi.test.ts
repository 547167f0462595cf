import { Validator } from '@seriousme/openapi-schema-validator';
import { test, type Test } from 'tap';
import { Compile } from 'typebox/compile';
import { type ErrorCode, ERRORS } from '../../src/errors.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import type { ActorSystem } from '../../src/actors/system.ts';
import { exampleOf } from '../../src/http/openapi/schemas.ts';
import type { OpenApiDocument, OperationObject } from '../../src/http/openapi/types.ts';
import { listen } from '../../src/http/server.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { recordTimestamp } from '../support/attested.ts';
import { ownPage, SESSION, sessionCookie } from '../support/dashboard.ts';
import { documentedAnswers } from '../support/documented.ts';
import { newOperator } from '../support/operator.ts';
import { setOperator } from '../../src/use-cases/administration.ts';
import { partsOf, rawHttp } from '../support/raw-http.ts';

const PDF = Buffer.from(`%PDF-1.7\n${'x'.repeat(1000)}\n%%EOF\n`);

interface Drive {
  readonly method: string;
  readonly path: string;
  readonly template: string;
  readonly operation: OperationObject;
  readonly secured: boolean;
  /** True where an API key is refused. */
  readonly needsSession: boolean;
  /** As the document gives an example of it. */
  readonly body: object | undefined;
}

/** Each operation as a request that the document's own examples make. */
function drives({ paths, components }: OpenApiDocument): readonly Drive[] {
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const example = (name: string) => {
        const parameter = operation.parameters?.find((each) => each.name === name);
        return String(exampleOf(parameter?.schema ?? {}, components.schemas));
      };
      const examples = operation.requestBody?.content['application/json']?.examples ?? {};
      return {
        method: method.toUpperCase(),
        template,
        path: template.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name)),
        operation,
        secured: operation.security.length > 0,
        needsSession: operation.security.length === 1,
        body: Object.values(examples)[0]?.value as object | undefined,
      };
    }),
  );
}

/** The headers of an access token and of the dashboard's cookie, by signing in to the dashboard. */
async function signedIn(api: Api, email: string): Promise<Readonly<Record<string, string>>> {
  const body = { email, password: PASSWORD };
  const answer = await api.call('POST', SESSION, { headers: ownPage(), body });
  const access = String(answer.body['access']);
  return { ...ownPage(sessionCookie(answer)), Authorization: `Bearer ${access}` };
}

const optional = <K extends string, V>(name: K, value: V | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };

/** What a request lacks or has too much of: 400, 401, 404, 413, 415. */
async function driveRefusals(t: Test, seen: Set<string>) {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '2048' } });
  const { key, email, ...account } = await api.newAccount();
  await setOperator(api, account.id, true, api.context());
  const headers = await signedIn(api, email);
  for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
    const credential = needsSession ? { headers } : secured ? { key } : { headers: ownPage() };
    const { responses } = operation;
    if (responses[403]) await api.call(method, `${path}?token=x`, needsSession ? { key } : {});
    if (responses[400]) {
      const wrong = body ? { ...credential, body: { unknown: 1 } } : credential;
      await api.call(method, body ? path : `${path}?page=0&as_of=then`, wrong);
    }
    if (responses[401]) {
      await api.call(method, path, { headers: ownPage(), ...optional('body', body) });
    }
    if (responses[404]) {
      const id = /conv_\w+/.exec(path)?.[0] ?? '';
      const token = api.fileTokens.mint(id, 60);
      const whole = { ...credential, ...optional('body', body) };
      await api.call(method, `${path}?token=${token}&as_of=0`, whole);
    }
    if (body) {
      const large = { ...credential, body: { x: 'x'.repeat(3000) } };
      await api.call(method, path, large);
      const plain = { ...credential.headers, 'Content-Type': 'text/plain' };
      await api.call(method, path, { ...credential, headers: plain, body });
    }
  }
  const poor = await api.newAccount({ credits: 0 });
  await api.call('POST', `${BASE}/pdf/`, { key: poor.key, body: { html: '<p>x</p>' } });
  await api.call('GET', '/nowhere');
  await api.call('PUT', '/healthz');
  for (const each of api.seen) seen.add(each);
  const unbuilt = await startApi(t, { replace: () => ({ builtFolder: '/nowhere' }) });
  for (const path of ['/docs', '/docs/reference.js', '/client.tgz']) {
    const { status, body } = await unbuilt.call('GET', path);
    t.match(
      { status, body },
      { status: 404, body: { message: /^This is not built here\. "npm start"/ } },
    );
  }
  for (const each of unbuilt.seen) seen.add(each);
}

async function driveSessions(api: Api, email: string): Promise<void> {
  let headers = await signedIn(api, email);
  await api.call('GET', SESSION, { headers });
  await api.call('DELETE', SESSION, { headers });
  headers = await signedIn(api, email);
  const listed = await api.call('GET', `${BASE}/sessions/`, { headers });
  const [own] = listed.body as unknown as readonly { readonly id: string }[];
  await api.call('DELETE', `${BASE}/sessions/${own?.id}/`, { headers });
  headers = await signedIn(api, email);
  await api.call('DELETE', `${BASE}/sessions/`, { headers });
  headers = await signedIn(api, email);
  const body = { current_password: PASSWORD, new_password: 'another long password' };
  await api.call('POST', `${BASE}/account/password/`, { headers, body });
}

async function driveSuccesses(t: Test, seen: Set<string>) {
  const api = await startApi(t, { env: { RETENTION_SECONDS: '60' } });
  const { id: accountId, email, key } = await api.newAccount();
  const created = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = String(created.body['id']);
  await api.call('GET', `${BASE}/conversions/${id}/`, { key, headers: { Prefer: 'wait=0' } });
  const own = `${BASE}/conversions/${id}/file/`;
  await api.call('GET', own, { key });
  await api.complete(accountId, id, PDF);
  const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key });
  const file = String(record.body['file_url']);
  const whole = await api.call('GET', file);
  await api.call('HEAD', file);
  await api.call('GET', file, { headers: { Range: 'bytes=0-9' } });
  await api.call('GET', file, { headers: { Range: 'bytes=9999-' } });
  const same = { 'If-None-Match': whole.headers.get('etag') ?? '' };
  await api.call('GET', file, { headers: same });
  await api.call('GET', `${file}&disposition=x`);
  await api.call('GET', `${own}?disposition=x`, { key });
  for (const headers of [{}, same, { Range: 'bytes=0-9' }, { Range: 'bytes=9999-' }]) {
    await api.call('GET', own, { key, headers });
  }
  const repeat = (idempotencyKey: string, accept: string) =>
    api.call('POST', `${BASE}/pdf/`, {
      key,
      body: { html: '<p>x</p>' },
      headers: { 'Idempotency-Key': idempotencyKey, Prefer: 'wait=0', Accept: accept },
    });
  const failing = await repeat('fails', 'application/pdf');
  await api.fail(accountId, String(failing.body['id']), 'The page took too long.');
  await repeat('fails', 'application/json');
  await repeat('fails', 'application/pdf');
  await api.call('GET', `${BASE}/conversions/${String(failing.body['id'])}/file/`, { key });
  const ending = await repeat('ends', 'application/pdf');
  await api.complete(accountId, String(ending.body['id']), PDF);
  await repeat('ends', 'application/pdf');
  api.clock.time += 61_000;
  await repeat('ends', 'application/pdf');
  await api.call('GET', file);
  await api.call('GET', own, { key });
  const events = `/conversions/${id}/events/`;
  for (const path of ['checkpoint', 'key', 'tile/0/000.p/1', 'consistency?from=1&to=2']) {
    await api.call('GET', `/tlog/${path}`);
  }
  const { size } = await recordTimestamp(api, Buffer.from('made up'));
  await api.call('GET', `/tlog/timestamp/${size}`);
  await api.call('GET', `${BASE}/conversions/${id}/proof/`, { key });
  await api.call('GET', `${BASE}/conversions/${id}/evidence/`, { key });
  const sha256 = '0'.repeat(64);
  await api.call('POST', `${BASE}/verify/`, { key, body: { sha256 } });
  const late = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const lateId = String(late.body['id']);
  for (const conversion of [id, lateId, String(failing.body['id'])]) {
    await api.call('GET', `${BASE}/conversions/${conversion}/request/`, { key });
    await api.call('GET', `${BASE}/conversions/${conversion}/manifest/`, { key });
  }
  await api.complete(accountId, lateId, PDF);
  await api.call('GET', `${BASE}/conversions/${lateId}/manifest/`, { key });
  await api.call('HEAD', `${BASE}/conversions/stream/`, { key });
  const lists = [
    '/conversions/',
    '/account/ledger/',
    '/account/events/',
    '/api-keys/',
    '/account/usage/',
  ];
  for (const path of ['/account/', ...lists, events, `${events}?page=0`]) {
    await api.call('GET', BASE + path, { key });
  }
  const made = await api.call('POST', `${BASE}/api-keys/`, { key, body: { name: 'x' } });
  await api.call('DELETE', `${BASE}/api-keys/${String(made.body['id'])}/`, { key });
  const auth = (what: string, body: object) =>
    api.call('POST', `${BASE}/auth/jwt/${what}/`, { body });
  const pair = await auth('create', { email, password: PASSWORD });
  const { refresh } = pair.body;
  await auth('refresh', { refresh });
  await auth('revoke', { refresh });
  await driveSessions(api, email);
  for (const path of ['/healthz', '/readyz']) await api.call('GET', path);
  for (const path of ['/openapi.json', '/docs', '/docs/reference.js', '/client.tgz']) {
    const { headers } = await api.call('GET', path);
    await api.call('GET', path, { headers: { 'If-None-Match': headers.get('etag') ?? '' } });
  }
  for (const each of api.seen) seen.add(each);
}

/** What operators do, to an account of their making. */
async function driveOperators(t: Test, seen: Set<string>) {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const email = 'opened@example.com';
  const opened = await operator.call('POST', '/accounts/', { body: { email } });
  for (const path of ['/status/', '/failures/', '/projections/', '/checkpoints/'])
    await operator.call('GET', path);
  await operator.call('POST', '/projections/rebuild/');
  const at = `/accounts/${String(opened.body['id'])}`;
  for (const path of ['/accounts/', `${at}/`]) await operator.call('GET', path);
  await operator.call('POST', `${at}/plan/`, { body: { plan: 'pro' } });
  await operator.call('POST', `${at}/credits/`, { body: { amount: 1 } });
  await operator.call('POST', `${at}/hold/`, { body: {} });
  await operator.call('DELETE', `${at}/hold/`);
  await operator.call('POST', `${at}/sessions/end/`);
  await operator.call('POST', `${at}/erase/`, { body: { email, password: PASSWORD } });
  for (const each of api.seen) seen.add(each);
}

/** More requests than a minute allows. */
async function driveLimits(t: Test, seen: Set<string>) {
  const env = { RATE_LIMIT_FREE: '1', RATE_LIMIT_ANONYMOUS: '1', RATE_LIMIT_DASHBOARD: '1' };
  const api = await startApi(t, { env });
  const { key, email } = await api.newAccount({ plan: 'free' });
  const headers = await signedIn(api, email);
  await api.call('GET', `${BASE}/account/`, { key });
  await api.call('GET', SESSION, { headers });
  for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
    if (operation.responses[429]) {
      const credential = needsSession ? { headers } : secured ? { key } : { headers: ownPage() };
      await api.call(method, path, { ...optional('body', body), ...credential });
    }
  }
  await api.call('GET', '/nowhere', { key: 'pk_live_' });
  for (const each of api.seen) if (each.includes(' 429 ')) seen.add(each);
}

/** Parts that fail: 500 and 503. */
async function driveFailures(t: Test, seen: Set<string>) {
  let failure: Error = new TypeError('a mistake');
  const failing = () => Promise.reject(failure);
  const api = await startApi(t, {
    replace: ({ actors }) => ({
      actors: Object.assign(Object.create(actors) as ActorSystem, { read: failing }),
      store: { head: failing },
      readiness: failing,
      tokens: {
        issue: failing,
        verify: () => Promise.resolve({ accountId: 'acct_x', sessionId: 'sess_x' }),
      },
    }),
  });
  const { key } = await api.newAccount();
  for (const next of [failure, new EventStoreUnavailable('away')]) {
    failure = next;
    for (const { method, path, operation, secured, needsSession, body } of drives(api.document)) {
      if (!operation.responses[500]) continue;
      const token = api.fileTokens.mint(/conv_\w+/.exec(path)?.[0] ?? '', 60);
      const headers = {
        ...ownPage('__Host-pressledger=x'),
        ...(needsSession && { Authorization: 'Bearer x' }),
      };
      const credential = secured && !needsSession ? { key } : { headers };
      await api.call(method, `${path}?token=${token}`, {
        ...credential,
        ...optional('body', body),
      });
    }
    await api.call('GET', '/nowhere', { key });
  }
  for (const each of api.seen) seen.add(each);
}

/** What never reaches the application. A slow request is given 10 seconds. */
async function driveTheWire(t: Test, api: Api, seen: Set<string>) {
  const port = Number(new URL(api.origin).port);
  const starting = await listen({
    host: '127.0.0.1',
    port: 0,
    rateLimitHeaders: api.rateLimitHeaders,
  });
  t.teardown(() => starting.close());
  const early = await fetch(`http://127.0.0.1:${starting.port}/not-routed`);
  const { status, headers } = early;
  const answers = [
    { status, headers, text: await early.text() },
    partsOf(await rawHttp(port, 'nonsense\r\n\r\n')),
    partsOf(await rawHttp(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\n')),
  ];
  for (const answer of answers) api.observe({ method: 'GET', path: '/not-routed', ...answer });
  for (const each of api.seen) seen.add(each);
}

void test('the document and the answers are the same', async (t) => {
  const seen = new Set<string>();
  const api = await startApi(t);
  await Promise.all([
    driveTheWire(t, api, seen),
    (async () => {
      await driveRefusals(t, seen);
      await driveSuccesses(t, seen);
      await driveOperators(t, seen);
      await driveLimits(t, seen);
      await driveFailures(t, seen);
    })(),
  ]);
  const documented = documentedAnswers(api.document);
  t.strictSame([...seen].toSorted(), documented.toSorted());
  t.equal(new Set(documented).size, documented.length);
  const codes = new Set(documented.map((each) => each.split(' ').at(-1)));
  for (const code of Object.keys(ERRORS) as ErrorCode[]) t.ok(codes.has(code), code);
});

void test('the document is OpenAPI 3.1, and its examples are what it says', async (t) => {
  const { document } = await startApi(t);
  const result = await new Validator().validate({ ...document });
  t.ok(result.valid, JSON.stringify(result.errors));
  const { components } = document;
  let examples = 0;
  for (const { template, method, operation } of drives(document)) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)];
    for (const { schema, examples: all = {} } of bodies.flatMap((body) =>
      Object.values(body?.content ?? {}),
    )) {
      if (!schema) continue;
      const validator = Compile({ components, ...schema });
      for (const { value } of Object.values(all)) {
        examples += 1;
        const told = `${method} ${template}: ${JSON.stringify(value)}`;
        t.ok(validator.Check(value), `${told} ${JSON.stringify(validator.Errors(value))}`);
      }
    }
  }
  t.ok(examples > 90, `${examples} examples`);
});
