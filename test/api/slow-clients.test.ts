import { once } from 'node:events';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { type Test, test } from 'tap';
import { BASE, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { partsOf, rawHttp } from '../support/raw-http.ts';

const PATIENCE = { headersMs: 1000, requestMs: 2000, checkMs: 50, stalledMs: 3000 };
/** Far from what the product allows, near enough for a busy machine. */
const MOST_MS = 25_000;

/** One byte at a time, so that the connection is never idle; resolves with what came back. */
function drip(t: Test, port: number, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let answer = '';
  const socket = connect(port, '127.0.0.1');
  let at = 0;
  const timer = setInterval(() => {
    if (socket.writable) socket.write(text[at % text.length] ?? '');
    at += 1;
  }, 20);
  t.teardown(() => clearInterval(timer));
  socket.on('data', (chunk) => {
    answer += chunk.toString();
  });
  // Bytes sent on after the answer are met with a reset.
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(timer);
    resolve(answer);
  });
  return promise;
}

void test('who takes too long to send is cut off, and holds nobody up', async (t) => {
  const api = await startApi(t, { timeouts: PATIENCE });
  const { id, key } = await api.newAccount();
  const port = Number(new URL(api.origin).port);
  const head = `POST ${BASE}/pdf/ HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`;
  const began = performance.now();
  const slow = [
    rawHttp(port, `GET ${BASE}/account/ HTTP/1.1\r\nHost: x\r\n`),
    rawHttp(port, `${head}{"html":"<p>`),
    drip(t, port, `GET /healthz HTTP/1.1\r\nX: ${'x'.repeat(100_000)}`),
    drip(t, port, `${head}{"html":"<p>${'x'.repeat(100_000)}`),
  ];
  t.equal((await api.call('GET', `${BASE}/account/`, { key })).status, 200, 'others are served');
  for (const answer of await Promise.all(slow)) {
    const { status, text, headers } = partsOf(answer);
    t.equal(status, 408, answer.slice(0, 200));
    t.ok(headers.get('x-request-id'));
    t.ok(headers.get('x-ratelimit-limit'));
    t.match(JSON.parse(text), { error: 'request_timeout', message: /./ });
  }
  t.ok(performance.now() - began < MOST_MS);
  const requested = (await api.store.readStream(`account-${id}`)).filter(
    ({ type }) => type === 'ConversionRequested',
  );
  t.equal(requested.length, 0, 'half a request asks for nothing');
});

void test('who stops reading a file is cut off', async (t) => {
  const api = await startApi(t, { timeouts: PATIENCE });
  const { id: accountId, key } = await api.newAccount();
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const id = asked.body['id'] as string;
  // More than the buffers of both ends hold.
  const size = 32 * 1024 * 1024;
  await api.complete(accountId, id, Buffer.alloc(size, 'x'));
  const url = (await api.call('GET', `${BASE}/conversions/${id}/`, { key })).body['file_url'];
  const { hostname, port, pathname, search } = new URL(String(url));
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  const open = api.blobs.open.bind(api.blobs);
  const opened = Promise.withResolvers<Readable>();
  api.blobs.open = async (...which) => {
    const file = await open(...which);
    opened.resolve(file);
    return file;
  };
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await once(socket, 'readable');
  let read = (socket.read() as Buffer).length;
  const file = await opened.promise;
  await eventually('the file is closed', () => file.closed || undefined);
  socket.on('data', (chunk: Buffer) => {
    read += chunk.length;
  });
  if (!socket.closed) await once(socket, 'close');
  t.ok(read < size, 'it did not get the whole');
});

void test('who waits for an answer is not cut off, however long it takes', async (t) => {
  // Long enough for a busy machine to take the requests in.
  const api = await startApi(t, { timeouts: { ...PATIENCE, stalledMs: 500 } });
  const { key } = await api.newAccount();
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const path = `${BASE}/conversions/${String(asked.body['id'])}/`;
  const headers = { Prefer: 'wait=2' };
  const { status } = await api.call('GET', path, { key, headers });
  t.equal(status, 200, 'two seconds are many times what a stalled client has');
});
