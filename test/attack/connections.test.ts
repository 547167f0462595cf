/** Finding 11: no number of open connections keeps others out. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { type Api, BASE, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { partsOf, rawHttp } from '../support/raw-http.ts';

const MOST = 5;
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const env = { MAX_CONNECTIONS: String(MOST) };

const portOf = (api: Api): number => Number(new URL(api.origin).port);
const count = (api: Api) => api.budgets.get('maxConnections').count();

async function opened(t: Test, api: Api, bytes = ''): Promise<Socket> {
  const socket = connect(portOf(api), '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

void test('idle connections give way to new ones', async (t) => {
  const api = await startApi(t, { env });
  const half = 'GET /healthz HTTP/1.1\r\nHost: x\r\n';
  const idle = await Promise.all(
    Array.from({ length: 200 }, (_, n) => opened(t, api, n % 2 === 0 ? '' : half)),
  );
  for (let n = 0; n < 10; n += 1) {
    t.equal(partsOf(await rawHttp(portOf(api), HEALTH)).status, 200);
  }
  await eventually(
    'most are closed',
    () => idle.filter(({ closed }) => !closed).length <= MOST || undefined,
  );
  t.ok(count(api).used <= MOST);
  t.ok(count(api).refused >= 200 - MOST, 'each is counted');
});

void test('connections whose clients do not read their answers give way', async (t) => {
  const api = await startApi(t, { env });
  const { id, key } = await api.newAccount();
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const conversionId = String(asked.body['id']);
  // More than the buffers of both ends hold.
  await api.complete(id, conversionId, Buffer.alloc(32 * 2 ** 20, 'x'));
  const path = `/files/${conversionId}.pdf?token=${api.fileTokens.mint(conversionId, 60)}`;
  const get = `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  await Promise.all(
    Array.from({ length: MOST }, async () => await once(await opened(t, api, get), 'readable')),
  );
  const sending = api.budgets.get('maxDownloads');
  t.equal(sending.count().used, MOST);
  // Until the buffers are full, the files are on their way.
  await eventually('another is answered', async () => {
    const { status } = partsOf(await rawHttp(portOf(api), HEALTH));
    return status === 200 || undefined;
  });
  await eventually('one was ended', () => sending.count().used === MOST - 1 || undefined);
});

void test('where all connections are at work, a new one is told to come again', async (t) => {
  const api = await startApi(t, { env, timeouts: { sendingMs: 60_000 } });
  const { key } = await api.newAccount();
  const head = `POST ${BASE}/pdf/ HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n`;
  const free = async () => (await fetch(`${api.origin}/healthz`)).body?.cancel();
  await free();
  const busy = await Promise.all(Array.from({ length: MOST }, () => opened(t, api, `${head}{`)));
  const bodies = api.budgets.get('maxBodiesBytes');
  await eventually('all are at work', () => bodies.count().used === 15 * MOST || undefined);
  const before = count(api).refused;
  const { status, headers, text } = partsOf(await rawHttp(portOf(api), HEALTH));
  t.equal(status, 503);
  t.match(JSON.parse(text), { error: 'service_unavailable', message: /connections/ });
  t.equal(headers.get('retry-after'), '1');
  t.ok(headers.get('x-ratelimit-limit'));
  t.equal(count(api).refused, before + 1);
  for (const socket of busy) socket.write('"html":"<p>"}\n');
  await Promise.all(busy.map((socket) => once(socket, 'data')));
  t.equal(partsOf(await rawHttp(portOf(api), HEALTH)).status, 200, 'they are idle again');
});

void test('connections whose clients send slowly give way', async (t) => {
  const api = await startApi(t, { env, timeouts: { sendingMs: 0 } });
  const head = `POST ${BASE}/auth/jwt/create/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{`;
  const slow = await Promise.all(Array.from({ length: MOST }, () => opened(t, api, head)));
  const bodies = api.budgets.get('maxBodiesBytes');
  await eventually('all are sending', () => bodies.count().used === 90 * MOST || undefined);
  t.equal(partsOf(await rawHttp(portOf(api), HEALTH)).status, 200);
  await eventually('one was ended', () => slow.some(({ closed }) => closed) || undefined);
  await eventually('its body is let go', () => bodies.count().used < 90 * MOST || undefined);
});

void test('CONNECT is answered and ended, and its resets harm nobody', async (t) => {
  const api = await startApi(t);
  const tunnel = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
  const { status, headers, text } = partsOf(await rawHttp(portOf(api), tunnel));
  t.equal(status, 405);
  t.equal(headers.get('allow'), 'DELETE, GET, HEAD, PATCH, POST, PUT');
  t.match(JSON.parse(text), { error: 'method_not_allowed', message: /proxy/ });
  t.ok(headers.get('x-request-id'));
  for (let n = 0; n < 20; n += 1) {
    const socket = await opened(t, api, tunnel);
    socket.resetAndDestroy();
  }
  t.equal(partsOf(await rawHttp(portOf(api), HEALTH)).status, 200);
});

void test('a request names exactly one host', async (t) => {
  const api = await startApi(t);
  const ask = async (head: string) =>
    partsOf(await rawHttp(portOf(api), `${head}\r\nConnection: close\r\n\r\n`));
  for (const head of [
    'GET /healthz HTTP/1.1',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b',
    'GET /healthz HTTP/1.1\r\nHost: a\r\nhOST: a',
    'GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b',
  ]) {
    const { status, headers, text } = await ask(head);
    t.equal(status, 400, head);
    t.match(JSON.parse(text), { error: 'validation_error', message: /Host/ });
    t.ok(headers.get('x-ratelimit-limit'));
  }
  t.equal((await ask('GET /healthz HTTP/1.0')).status, 200, 'HTTP/1.0 has none');
  t.equal((await ask('GET /healthz HTTP/1.1\r\nHost: anything')).status, 200);
});
