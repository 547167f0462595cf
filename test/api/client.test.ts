import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type Test, test } from 'tap';
import { PressledgerClient } from '../../client/src/client.ts';
import {
  isPressledgerError,
  type PressledgerError,
  PressledgerTimeout,
  PressledgerUnreachable,
} from '../../client/src/errors.ts';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { type ApiOptions, PASSWORD, startApi } from '../support/api.ts';

const PDF = Buffer.from('%PDF-1.7\nthe file\n%%EOF\n');
const HTML = { html: '<p>x</p>' };

/** The real service, a client of it, and what the client sent. */
async function start(t: Test, options?: ApiOptions, plan: 'pro' | 'free' = 'pro') {
  const api = await startApi(t, options);
  const account = await api.newAccount({ plan });
  const sent: string[] = [];
  const answered = { before: (_status: number): void => {} };
  const observed: typeof fetch = async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    sent.push(`${init?.method} ${url.pathname}`);
    const response = await fetch(input, init);
    answered.before(response.status);
    return response;
  };
  const server = api.origin;
  const client = new PressledgerClient({ server, apiKey: account.key, fetch: observed });
  return { api, account, client, sent, answered, observed, server };
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const BODIES: Readonly<Record<number, string>> = {
  200: '{"id":"conv_x","status":"completed","file_url":"ORIGIN/files/conv_x.pdf"}',
  202: '{"id":"conv_x"}',
  307: '',
  404: '<h1>Not found</h1>',
};

/** A server that answers as a test wants. */
async function stub(t: Test, ...answers: [status: number, headers?: Record<string, string>][]) {
  let asked = 0;
  const server = createServer((_, response) => {
    const [status, headers = {}] = answers[Math.min(asked, answers.length - 1)] ?? [500];
    asked += 1;
    if (status === 0) return;
    response.writeHead(status, headers);
    const body = BODIES[status] ?? '{"error":"service_unavailable","message":"."}';
    response.end(body.replace('ORIGIN', origin));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { origin, asked: () => asked };
}

void test('from a request to its file', async (t) => {
  const { api, account, client } = await start(t);
  const { id, status } = await client.create(HTML);
  t.equal(status, 'pending');
  const waiting = client.wait(id);
  await api.complete(account.id, id, PDF);
  const record = await waiting;
  if (record.status !== 'completed') throw new Error('It is not completed.');
  t.ok(record.file_url.startsWith(api.origin));
  t.equal((await buffer(await client.download(record))).toString(), PDF.toString());

  const failing = await client.create(HTML);
  await api.fail(account.id, failing.id, 'The page took too long.');
  const failed = await client.wait(failing.id);
  t.match(failed, { status: 'failed', error_message: 'The page took too long.' });
  await t.rejects(client.download(failed), { message: /is failed: it has no file/ });
  api.clock.time += 3600 * 1000;
  const late = await client.download(record).catch((error: unknown) => error);
  t.ok(isPressledgerError(late, 'forbidden'), 'an expired link');
});

void test('work on finished PDFs', async (t) => {
  const { api, account, client, sent } = await start(t);
  const { documents } = client;
  const file = PDF.toString('base64');
  const named = { filename: 'Both.pdf', idempotencyKey: 'both' };
  const { id } = await documents.create([{ file }, { file, password: 'p' }], [], named);
  const again = await documents.create([{ file }, { file, password: 'p' }], [], named);
  t.equal(again.id, id, 'the key makes it one request');
  await api.complete(account.id, id, PDF);
  t.match(await client.wait(id), { status: 'completed', kind: 'document', filename: 'Both.pdf' });

  const turn = { type: 'rotate', rotate: 90 } as const;
  const batch = await documents.split([{ conversion: id }], ['1', '2'], [turn]);
  t.match(batch, { id: /^batch_/, total: 2, conversions: { length: 2 } });
  t.equal((await client.batches.get(batch.id)).pending, 2);

  sent.length = 0;
  const gone = [{ conversion: `conv_${'0'.repeat(26)}` }];
  await t.rejects(documents.create(gone), {
    code: 'not_found',
    details: { 'sources.0.conversion': [] },
  });
  await t.rejects(documents.split(gone, []), { code: 'validation_error' });
  t.equal(sent.length, 2, 'a refusal is not asked for again');
});

void test('convert: from a document to its bytes in one call', async (t) => {
  const { api, account, client, sent } = await start(t);
  const ends = async (key: string) => {
    const { id } = await client.create(HTML, { idempotencyKey: key });
    await api.complete(account.id, id, PDF);
  };
  await ends('a');
  sent.length = 0;
  const pdf = await client.convert(HTML, { idempotencyKey: 'a' });
  t.equal(Buffer.from(pdf).toString(), PDF.toString());
  t.match(sent, [/^POST .*\/pdf\/$/, /^GET \/files\//]);

  const failing = await client.create(HTML, { idempotencyKey: 'b' });
  await api.fail(account.id, failing.id, 'The page took too long.');
  const failed = await client
    .convert(HTML, { idempotencyKey: 'b' })
    .catch((error: unknown) => error);
  t.ok(isPressledgerError(failed, 'conversion_failed'));
  t.match(failed, { message: 'The page took too long.', status: 422 });

  const before = (await client.account()).credits;
  const impatient = await client.convert(HTML, { timeoutMs: 1 }).catch((error: unknown) => error);
  t.ok(impatient instanceof PressledgerTimeout);
  t.match(impatient, {
    message: 'The PDF is not ready within 0.001 seconds. The conversion goes on.',
  });
  const { id } = await client.create(HTML);
  const message = `Conversion ${id} has not ended within 0.05 seconds. The conversion goes on.`;
  const gone = new AbortController();
  await t.rejects(client.wait(id, { timeoutMs: 50, signal: gone.signal }), { message });
  const reason = new Error('enough');
  gone.abort(reason);
  await t.rejects(client.wait(id, { timeoutMs: 50_000, signal: gone.signal }), reason);
  t.ok(Number((await client.account()).credits) < Number(before));
});

void test('convert: a service that holds the request is asked for the file alone', async (t) => {
  const server = await stub(t, [200]);
  const client = new PressledgerClient({ server: server.origin });
  t.match(
    Buffer.from(await client.convert(HTML)).toString(),
    '/files/conv_x.pdf',
    'the second answer',
  );
  t.equal(server.asked(), 2);
});

void test('the address of the service may lack its scheme, and is refused if it is none', async (t) => {
  const { api, account } = await start(t);
  const server = `${new URL(api.origin).host}/api/v1/`;
  t.equal((await new PressledgerClient({ server, apiKey: account.key }).account()).id, account.id);
  const fetched: string[] = [];
  const send = (url: unknown) => {
    fetched.push(String(url));
    return Promise.reject(new TypeError('fetch failed'));
  };
  for (const address of ['localhost:1', '[::1]:1', 'pdf.example.com', 'http://pdf.example.com/']) {
    const client = new PressledgerClient({ server: address, fetch: send, retries: 0 });
    await t.rejects(client.account(), PressledgerUnreachable);
  }
  t.strictSame(fetched, [
    'http://localhost:1/api/v1/account/',
    'http://[::1]:1/api/v1/account/',
    'https://pdf.example.com/api/v1/account/',
    'http://pdf.example.com/api/v1/account/',
  ]);
  for (const wrong of ['', 'ftp://pdf.example.com', 'a b', undefined]) {
    t.throws(
      () => new PressledgerClient({ server: wrong as string }),
      new TypeError(
        `server must be an http or https address such as http://localhost:8080, but it is ${wrong}.`,
      ),
    );
  }
});

void test('a redirect takes no key, password or document along to another host', async (t) => {
  const other = await stub(t, [200]);
  const service = await stub(t, [307, { Location: `${other.origin}/` }]);
  const client = new PressledgerClient({ server: service.origin, apiKey: 'k', retries: 0 });
  const refused = new PressledgerUnreachable(
    `${new URL(service.origin).host} answered with status 307, and not as Pressledger does.`,
  );
  await t.rejects(client.account(), refused);
  await t.rejects(client.create(HTML), refused);
  await t.rejects(client.signIn('ann@example.com', PASSWORD), refused);
  t.equal(service.asked(), 3);
  t.equal(other.asked(), 0);
});

void test('refusals are errors by their code', async (t) => {
  const { api, client, server } = await start(t);
  const wrong = await client.create({ ...HTML, scale: 9 }).catch((error: unknown) => error);
  if (!isPressledgerError(wrong, 'validation_error')) throw new Error('It was not refused so.');
  const code: 'validation_error' = wrong.code;
  t.match(wrong, { code, status: 400, details: { scale: ['Must be at most 2.'] } });
  t.match(wrong.requestId, /./);
  t.notOk(isPressledgerError(wrong, 'not_found'));
  t.notOk(isPressledgerError(new Error('x')));
  await t.rejects(client.get('conv_x/../..'), { code: 'not_found' });
  const poor = await api.newAccount({ credits: 0 });
  const broke = new PressledgerClient({ server: `${server}/api/v1/`, apiKey: poor.key });
  await t.rejects(broke.create(HTML), { code: 'insufficient_credits', status: 402 });
  await t.rejects(new PressledgerClient({ server }).account(), { code: 'unauthorized' });
});

void test('lists, page by page', async (t) => {
  const { client, api, account, sent } = await start(t);
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.unshift((await client.create(HTML)).id);
  await api.complete(account.id, ids[2] ?? '', PDF);
  const page = await client.listConversions({ page: 2, pageSize: 3 });
  t.match(page, { total: 7, page: 2, pageSize: 3 });
  t.strictSame(
    page.items.map(({ id }) => id),
    ids.slice(3, 6),
  );
  sent.length = 0;
  const all = await collect(client.conversions({ pageSize: 3 }));
  t.strictSame(
    all.map(({ id }) => id),
    ids,
  );
  t.equal(sent.length, 3);
  t.equal((await collect(client.conversions({ status: 'completed' }))).length, 1);

  const seen: string[] = [];
  for await (const { id } of client.conversions({ pageSize: 3 })) {
    if (seen.length === 1) await client.create(HTML);
    seen.push(id);
  }
  t.strictSame(seen, ids, 'one that comes in between repeats none');
  await t.rejects(client.listConversions({ pageSize: 101 }), { code: 'validation_error' });

  t.match(await client.account(), { id: account.id, email: account.email, credits: 92 });
  const ledger = await collect(client.ledger({ pageSize: 5 }));
  t.equal(ledger.length, 9);
  t.match(ledger.at(-1), { type: 'grant', amount: 100 });
});

void test('keys', async (t) => {
  const { client, server } = await start(t);
  const { id, key } = await client.createKey('laptop');
  t.strictSame(
    (await collect(client.keys())).map(({ name }) => name),
    ['laptop', 'test'],
  );
  const other = new PressledgerClient({ server, apiKey: key });
  await other.account();
  await client.revokeKey(id);
  await t.rejects(other.account(), { code: 'unauthorized' });
  t.equal((await client.listKeys()).total, 1);
  await t.rejects(client.revokeKey(id), { code: 'not_found' });
});

void test('signing in, going on after the access token has expired, signing out', async (t) => {
  const { api, account, observed, server, sent } = await start(t);
  const client = new PressledgerClient({ server, fetch: observed });
  await t.rejects(client.refresh(), { message: /sign in first/ });
  await t.rejects(client.signIn(account.email, 'wrong'), { code: 'unauthorized' });
  const tokens = await client.signIn(account.email, PASSWORD);
  t.equal((await client.account()).id, account.id);
  api.clock.time += 5 * 60 * 1000;
  sent.length = 0;
  await Promise.all([client.account(), client.account(), client.create(HTML)]);
  const refreshed = sent.filter((each) => each.endsWith('/auth/jwt/refresh/'));
  t.equal(refreshed.length, 1, 'one new token for all that found theirs expired');
  const resumed = new PressledgerClient({ server, tokens });
  t.equal((await resumed.account()).id, account.id, 'a sign-in kept from before');
  t.not((await resumed.refresh()).access, tokens.access);
  await client.signOut();
  await client.signOut();
  await t.rejects(client.account(), { code: 'unauthorized' });
  await t.rejects(resumed.account(), { code: 'unauthorized' }, 'it cannot be renewed any more');
  await t.rejects(new PressledgerClient({ server, accessToken: 'x' }).account(), {
    code: 'unauthorized',
  });
});

void test('a busy service is asked again after as long as it says', async (t) => {
  const env = { RATE_LIMIT_FREE: '1' };
  const { api, client, sent, answered } = await start(t, { env }, 'free');
  const minute = Math.ceil(api.clock.time / 60_000) * 60_000;
  api.clock.time = minute + 59_000;
  const { id } = await client.create(HTML, { idempotencyKey: 'one' });
  const limited = await client.create(HTML).catch((error: unknown) => error);
  t.match(limited, { code: 'rate_limit_exceeded', retryAfter: 1 });
  t.equal(sent.length, 2, 'without an idempotency key it is not sent again');
  answered.before = (status) => {
    if (status === 429) api.clock.time += 60_000;
  };
  const started = performance.now();
  t.equal((await client.create(HTML, { idempotencyKey: 'one' })).id, id);
  t.equal(sent.length, 4);
  t.ok(performance.now() - started >= 990, 'after the second that it was asked to wait');
  t.equal((await client.get(id)).status, 'pending', 'so are requests that change nothing');
  t.equal(sent.length, 6);
});

void test('a stopped store: a create with a key is sent again, one without is not', async (t) => {
  let away = 0;
  const { client, sent } = await start(t, {
    replace: ({ store }) => ({
      store: {
        head: () => {
          away -= 1;
          return away >= 0 ? Promise.reject(new EventStoreUnavailable('away')) : store.head();
        },
      },
    }),
  });
  away = 1;
  const refused = new PressledgerClient({ server: 'http://127.0.0.1:1', retries: 0 });
  await t.rejects(refused.account(), PressledgerUnreachable);
  const { id } = await client.create(HTML, { idempotencyKey: 'k' });
  const waited = await client.get(id);
  t.equal(waited.id, id, 'after the five seconds of Retry-After');
  t.equal(sent.length, 3);
});

void test('limits in time', async (t) => {
  const busy = await stub(t, [503, { 'Retry-After': '1' }], [202]);
  const client = new PressledgerClient({ server: busy.origin });
  t.match(await client.create(HTML, { idempotencyKey: 'k' }), { id: 'conv_x' });
  t.equal(busy.asked(), 2);

  const far = await stub(t, [503, { 'Retry-After': '900' }]);
  const impatient = new PressledgerClient({ server: far.origin });
  await t.rejects(impatient.account(), { retryAfter: 900 } as PressledgerError);
  t.equal(far.asked(), 1, 'a long wait is the caller’s to decide');

  const silent = await stub(t, [0]);
  const hurried = new PressledgerClient({ server: silent.origin, timeoutMs: 500, retries: 1 });
  await t.rejects(hurried.account(), { message: /No answer from .* within 0.5 seconds/ });
  t.equal(silent.asked(), 2);
  const patient = new PressledgerClient({ server: silent.origin });
  const reason = new Error('enough');
  const gone = new AbortController();
  const asked = patient.wait('conv_x', { signal: gone.signal });
  gone.abort(reason);
  t.equal(await asked.catch((error: unknown) => error), reason, 'under way');
  const pausing = new AbortController();
  const paused = new PressledgerClient({
    server: (await stub(t, [503, { 'Retry-After': '30' }])).origin,
  });
  const waiting = paused.wait('conv_x', { signal: pausing.signal });
  setImmediate(() => pausing.abort(reason));
  t.equal(await waiting.catch((error: unknown) => error), reason, 'or in a pause');
  await t.rejects(paused.get('x', { signal: AbortSignal.abort(reason) }), reason);

  const stranger = await stub(t, [404]);
  const lost = new PressledgerClient({ server: stranger.origin, retries: 0 });
  await t.rejects(lost.account(), { message: /status 404, and not as Pressledger does/ });
});
