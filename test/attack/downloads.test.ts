/** Finding 11: downloads by one link, quick ones and such as nobody reads. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { type Api, BASE, refusal, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';

/** More than the buffers of both ends hold. */
const BYTES = 32 * 2 ** 20;

async function linkOf(api: Api, bytes: number): Promise<string> {
  const { id, key } = await api.newAccount();
  const asked = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const conversionId = String(asked.body['id']);
  await api.complete(id, conversionId, Buffer.alloc(bytes, 'x'));
  const record = await api.call('GET', `${BASE}/conversions/${conversionId}/`, { key });
  return String(record.body['file_url']);
}

interface Reader {
  readonly socket: Socket;
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** Asks for the file, reads the status line and no more. */
async function slowReader(t: Test, link: string, address: string): Promise<Reader> {
  const { hostname, port, pathname, search } = new URL(link);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${address}\r\n\r\n`,
  );
  await once(socket, 'readable');
  const head = String(socket.read(1024) ?? socket.read());
  return {
    socket,
    status: Number(head.split(' ')[1]),
    retryAfter: /\r\nRetry-After: (\d+)\r\n/i.exec(head)?.[1],
  };
}

const withStatus = (readers: Reader[], status: number) =>
  readers.filter((each) => each.status === status);

void test('200 who do not read: one address is sent so many files at a time, and so are the readers of one account', async (t) => {
  const env = { MAX_ADDRESS_DOWNLOADS: '4', MAX_DOWNLOADS: '12', TRUST_PROXY: 'true' };
  const api = await startApi(t, { env });
  const link = await linkOf(api, BYTES);
  const some = async (count: number, address: string, of = link): Promise<Reader[]> =>
    await Promise.all(Array.from({ length: count }, () => slowReader(t, of, address)));
  const first = await some(200, '203.0.113.1');
  t.equal(withStatus(first, 200).length, 4);
  const refused = withStatus(first, 429);
  t.equal(refused.length, 196);
  for (const { retryAfter } of refused) t.equal(retryAfter, '2');
  t.equal((await fetch(`${api.origin}/healthz`)).status, 200);

  const second = await some(4, '203.0.113.2');
  t.equal(withStatus(second, 200).length, 2, 'another address has its own share');
  t.equal(withStatus(second, 503).length, 2, "of half of what there is for one account's files");
  const others = await some(1, '203.0.113.3', await linkOf(api, 1000));
  t.equal(withStatus(others, 200).length, 1, "another account's readers have room");

  for (const { socket } of withStatus(first, 200)) socket.destroy();
  const downloads = api.budgets.get('maxDownloads');
  await eventually('they are let go', () => downloads.count().used === 2 || undefined);
  t.strictSame(withStatus(await some(1, '203.0.113.1'), 200).length, 1);
  t.equal(downloads.count().refused, 2);
  t.equal(api.budgets.get('maxAddressDownloads').count().refused, 196);
});

void test('downloads of an address have a window of their own', async (t) => {
  const env = { MAX_LINK_REQUESTS: '3', RATE_LIMIT_ANONYMOUS: '7', TRUST_PROXY: 'true' };
  const api = await startApi(t, { env });
  api.clock.time = Math.ceil(api.clock.time / 60_000) * 60_000 + 20_000;
  const link = await linkOf(api, 1000);
  const get = async (address: string, url = link) =>
    await api.call('GET', url, { headers: { 'X-Forwarded-For': address } });
  for (let n = 0; n < 3; n += 1) t.equal((await get('203.0.113.1')).status, 200);
  const over = await get('203.0.113.1');
  t.strictSame(refusal(over), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(over.headers.get('retry-after'), '40');
  t.match(over.body['message'], /^Only 3 downloads a minute/);
  t.equal(over.headers.get('x-ratelimit-remaining'), '7', 'the headers show the other window');
  t.equal(over.headers.get('etag'), null);
  t.equal((await get('203.0.113.1', `${link}x`)).status, 429, 'a wrong one as well');
  t.equal((await get('203.0.113.2')).status, 200);
  t.equal(api.budgets.get('maxLinkRequests').count().refused, 2);
  const used = () => api.budgets.get('maxDownloads').count().used;
  await eventually('all are sent', () => used() === 0 || undefined);
  api.clock.time += 40_000;
  t.equal((await get('203.0.113.1')).status, 200, 'a new minute');
});
