import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Test, test } from 'tap';
import { resolveByDns } from '../../src/egress/resolve.ts';
import {
  type EgressOptions,
  type EgressProxy,
  startEgressProxy,
} from '../../src/renderer/egress/proxy.ts';
import { credentialsOf } from '../support/front-proxy.ts';
import { countingListener } from '../support/listener.ts';

/** A proxy that the test closes. */
async function proxyFor(t: Test, options: Partial<EgressOptions> = {}): Promise<EgressProxy> {
  const proxy = await startEgressProxy({
    allowPrivateNetwork: false,
    extraPorts: [],
    ...options,
  });
  t.teardown(() => proxy.close());
  return proxy;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

async function originFor(t: Test, handler: Handler) {
  const server: Server = createServer((req, res) => void handler(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

const headerOf = (proxy: EgressProxy): string => `Proxy-Authorization: ${credentialsOf(proxy)}\r\n`;

/** One plain request through the proxy, as Chrome sends it. */
async function get(proxy: EgressProxy, url: string, ask: Ask = {}): Promise<Answer> {
  const sent = request({
    host: '127.0.0.1',
    port: proxy.port,
    path: url,
    method: ask.method ?? 'GET',
    agent: false,
    headers: {
      host: 'whatever.example',
      'Proxy-Authorization': credentialsOf(proxy),
      ...ask.headers,
    },
  });
  sent.end(ask.body);
  const [answer] = await once(sent, 'response');
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** A CONNECT through the proxy: the first answer, and the connection. */
async function tunnelTo(proxy: EgressProxy, authority: string) {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${headerOf(proxy)}\r\n`);
  const [chunk] = await once(socket, 'data');
  return { socket, answer: String(chunk) };
}

const NOTHING = { requests: 0, bytes: 0, refused: [], failed: [] };
const failing = (code: string) => Object.assign(new Error(code), { code });

const closed = async (socket: Socket): Promise<void> => {
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
};

void test('a page gets what a server sends, and the server sees no proxy', async (t) => {
  let seen: IncomingHttpHeaders = {};
  const { port } = await originFor(t, (req, res) => {
    seen = req.headers;
    res.writeHead(200, {
      'Set-Cookie': ['a=1', 'b=2'],
      'X-Egress-Refused': 'forged',
      'Proxy-Authenticate': 'Basic',
      Connection: 'close, x-hop',
      'X-Hop': '1',
    });
    res.end(`${req.method} ${req.url}`);
  });
  const proxy = await proxyFor(t, { allowPrivateNetwork: true });
  const job = proxy.beginSession();
  const answer = await get(proxy, `http://127.0.0.1:${port}/a/../b?c=d`, {
    headers: {
      'Proxy-Connection': 'keep-alive',
      Connection: 'keep-alive, x-private',
      'X-Private': '1',
      Accept: 'text/html',
    },
  });
  t.match(answer, { status: 200, body: 'GET /b?c=d' });
  t.same(answer.headers['set-cookie'], ['a=1', 'b=2']);
  for (const name of ['x-egress-refused', 'proxy-authenticate', 'x-hop']) {
    t.notOk(name in answer.headers, name);
  }
  t.equal(seen.host, `127.0.0.1:${port}`, 'the host that was checked, not the one Chrome names');
  t.equal(seen.accept, 'text/html');
  for (const name of ['proxy-authorization', 'proxy-connection', 'via', 'x-forwarded-for']) {
    t.notOk(name in seen, name);
  }
  t.notOk('x-private' in seen);
  t.equal(job.requests, 1);
  t.equal(job.bytes, 'GET /b?c=d'.length);
  t.same(job.refused, []);
});

void test('bodies of both framings pass', async (t) => {
  const { port } = await originFor(t, async (req, res) => {
    res.end(
      `${req.headers['content-length'] ?? req.headers['transfer-encoding']}:${await text(req)}`,
    );
  });
  const proxy = await proxyFor(t, { allowPrivateNetwork: true });
  proxy.beginSession();
  const url = `http://127.0.0.1:${port}/`;
  const sized = { method: 'POST', body: 'abc', headers: { 'content-length': '3' } };
  t.equal((await get(proxy, url, sized)).body, '3:abc');
  const chunked = { method: 'POST', body: 'abc', headers: { 'transfer-encoding': 'chunked' } };
  t.equal((await get(proxy, url, chunked)).body, 'chunked:abc');
  t.equal((await get(proxy, url, { method: 'DELETE' })).body, 'undefined:');
});

void test('without an open job nothing passes', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  const proxy = await proxyFor(t, { allowPrivateNetwork: true });
  const answer = await get(proxy, `http://127.0.0.1:${target.port}/`);
  t.match(answer, { status: 403, headers: { 'x-egress-refused': 'no-job' } });
  t.match((await tunnelTo(proxy, `127.0.0.1:${target.port}`)).answer, /^HTTP\/1\.1 403 .*no-job/s);
  const job = proxy.beginSession();
  t.throws(() => proxy.beginSession(), /open session/);
  job.end();
  t.equal((await get(proxy, `http://127.0.0.1:${target.port}/`)).status, 403);
  t.equal(target.tcp, 0);
});

void test('a request without the password is closed unanswered, and no job knows of it', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  let resolved = 0;
  const proxy = await proxyFor(t, {
    allowPrivateNetwork: true,
    resolve: async () => {
      resolved += 1;
      return ['127.0.0.1'];
    },
  });
  const job = proxy.beginSession();
  const wrong = `Basic ${Buffer.from('chrome:0123').toString('base64')}`;
  for (const header of ['', `Proxy-Authorization: ${wrong}\r\n`, 'Authorization: Basic\r\n']) {
    for (const line of [
      `GET http://some.example:${target.port}/ HTTP/1.1`,
      `CONNECT some.example:${target.port} HTTP/1.1`,
      `CONNECT a.${proxy.site}:80 HTTP/1.1`,
      'GET /json/version HTTP/1.1',
    ]) {
      const socket = connect(proxy.port, '127.0.0.1');
      socket.write(`${line}\r\nHost: a\r\n${header}\r\n`);
      t.equal(await text(socket), '', `${line} ${header}`);
    }
  }
  t.match(job, NOTHING);
  t.equal(resolved, 0);
  t.equal(target.tcp, 0);
});

void test('the password is asked for at the addresses of windows, where no job is needed', async (t) => {
  const proxy = await proxyFor(t);
  const url = `http://a.${proxy.site}/`;
  const unsigned = { headers: { 'Proxy-Authorization': '' } };
  const asked = await get(proxy, url, unsigned);
  t.match(asked, { status: 407, headers: { 'proxy-authenticate': /^Basic / } });
  t.match(await get(proxy, url), {
    status: 200,
    headers: { 'content-type': /^text.html/ },
    body: '',
  });
  t.equal((await get(proxy, `${url}blank`)).status, 204);
  const other = await proxyFor(t);
  t.not(other.site, proxy.site, 'each proxy has its own');
  await t.rejects(get(other, url, unsigned), 'and asks nowhere else');
});

void test('a page is answered at the address of its window, and its files beside it', async (t) => {
  const proxy = await proxyFor(t);
  const job = proxy.beginSession();
  const origin = `http://a.${proxy.site}`;
  job.servePage(origin, Buffer.from('<p>page'), new Map([['a.css', Buffer.from('p{}')]]));
  for (const url of [`${origin}/`, `${origin}/?again`]) {
    t.match(await get(proxy, url), {
      status: 200,
      headers: { 'content-type': /^text.html/ },
      body: '<p>page',
    });
  }
  t.match(await get(proxy, `${origin}/a.css`), { status: 200, body: 'p{}' });
  t.match(await get(proxy, `http://b.${proxy.site}/`), { status: 200, body: '' }, 'another window');
  t.equal(job.usedNetwork, false);
});

void test('private addresses, ports and schemes are refused, and nothing reaches them', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  const proxy = await proxyFor(t, { extraPorts: [target.port] });
  const job = proxy.beginSession();
  const asked: readonly (readonly [string, string])[] = [
    [`http://127.0.0.1:${target.port}/`, 'private-address'],
    [`HTTP://127.1:${target.port}/`, 'private-address'],
    [`http://0x7f000001:${target.port}/`, 'private-address'],
    [`http://[::ffff:127.0.0.1]:${target.port}/`, 'private-address'],
    [`http://127.0.0.1..:${target.port}/`, 'private-address'],
    [`http://localhost:${target.port}/`, 'local-name'],
    ['http://8.8.8.8:25/', 'port'],
    ['https://8.8.8.8/', 'scheme'],
    ['ftp://8.8.8.8/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['http://user:pw@8.8.8.8/', 'credentials'],
    ['/relative', 'malformed'],
  ];
  for (const [url, code] of asked) {
    t.match(await get(proxy, url), { status: 403, headers: { 'x-egress-refused': code } }, url);
  }
  t.same(
    job.refused.map(({ url, code }) => [url, code]),
    asked,
  );
  for (const [authority, code] of [
    [`127.0.0.1:${target.port}`, 'private-address'],
    [`127.1:${target.port}`, 'private-address'],
    [`0177.1:${target.port}`, 'private-address'],
    [`[::1]:${target.port}`, 'private-address'],
    [`localhost.:${target.port}`, 'local-name'],
    ['8.8.8.8:22', 'port'],
    ['8.8.8.8', 'malformed'],
    ['user@8.8.8.8:443', 'malformed'],
    ['8.8.8.8:443/x', 'malformed'],
    ['8.8.8.8:99999', 'malformed'],
  ] as const) {
    const { answer } = await tunnelTo(proxy, authority);
    t.match(
      answer,
      new RegExp(`^HTTP/1.1 403 Forbidden\r\nX-Egress-Refused: ${code}\r\n`),
      authority,
    );
  }
  t.equal(target.tcp, 0);
});

void test('a name with one address that is not public is refused whole', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  const proxy = await proxyFor(t, {
    extraPorts: [target.port],
    resolve: async () => ['93.184.216.34', '127.0.0.1'],
  });
  const job = proxy.beginSession();
  const answer = await get(proxy, `http://mixed.example:${target.port}/`);
  t.match(answer, { status: 403, headers: { 'x-egress-refused': 'private-address' } });
  t.notMatch(answer.body + JSON.stringify(job.refused), /127\.0\.0\.1|93\.184/, 'no address told');
  t.equal(target.tcp, 0);
});

void test('a job explains what became of a URL', async (t) => {
  const proxy = await proxyFor(t, {
    resolve: (name) =>
      name === 'gone.example'
        ? Promise.reject(failing('ENOTFOUND'))
        : Promise.resolve(['10.0.0.1']),
  });
  const job = proxy.beginSession();
  await get(proxy, 'http://inside.example/a?b');
  await tunnelTo(proxy, 'inside.example:443');
  await tunnelTo(proxy, 'gone.example:8443');
  const refused = { refused: true, reason: /inside\.example leads to an address that is not/ };
  t.match(job.explain('http://inside.example/a?b#c'), refused);
  t.match(job.explain('https://inside.example/any/path'), refused);
  t.match(job.explain('https://gone.example:8443/'), {
    refused: false,
    reason: 'The name does not exist.',
  });
  t.equal(job.explain('http://inside.example/other'), undefined);
  t.equal(job.explain('https://gone.example/'), undefined, 'another port');
  t.equal(job.explain('no URL'), undefined);
});

void test('rebinding gets nothing: what was checked is dialled, and each request is checked', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  // First a public address, where nothing answers on that port, then a private one.
  const answers = [['8.8.8.8'], ['127.0.0.1'], ['::ffff:127.0.0.1'], ['8.8.8.8']];
  let asked = 0;
  const proxy = await proxyFor(t, {
    extraPorts: [target.port],
    limits: { connectTimeoutMs: 300 },
    resolve: async () => answers[asked++] ?? [],
  });
  proxy.beginSession();
  const url = `http://rebind.example:${target.port}/`;
  t.match((await get(proxy, url)).status, /50[24]/, 'the public address was dialled');
  t.equal(asked, 1, 'resolved once for the request');
  t.equal((await get(proxy, url)).headers['x-egress-refused'], 'private-address');
  t.equal((await get(proxy, url)).headers['x-egress-refused'], 'private-address');
  t.match((await tunnelTo(proxy, `rebind.example:${target.port}`)).answer, /^HTTP\/1\.1 50[24] /);
  t.equal(asked, 4);
  t.equal(target.tcp, 0);
});

void test('a name is dialled at the address that was checked', async (t) => {
  const { port } = await originFor(t, (req, res) => res.end(req.headers.host));
  let asked = 0;
  const proxy = await proxyFor(t, {
    allowPrivateNetwork: true,
    resolve: async () => {
      asked += 1;
      return ['127.0.0.1'];
    },
  });
  proxy.beginSession();
  t.match(await get(proxy, `http://some.example:${port}/`), {
    status: 200,
    body: `some.example:${port}`,
  });
  t.equal(asked, 1);
});

void test('a redirect passes as it is, and its target is checked as any request', async (t) => {
  const target = await countingListener();
  t.teardown(() => target.close());
  const { port } = await originFor(t, (_req, res) => {
    res.writeHead(302, { Location: `http://127.0.0.1:${target.port}/` }).end();
  });
  const open = await proxyFor(t, { allowPrivateNetwork: true });
  open.beginSession();
  const answer = await get(open, `http://127.0.0.1:${port}/`);
  t.equal(answer.status, 302);
  const strict = await proxyFor(t, { extraPorts: [target.port] });
  strict.beginSession();
  t.equal((await get(strict, String(answer.headers.location))).status, 403);
  t.equal(target.tcp, 0);
});

void test('a server that cannot be reached is told apart from one that was refused', async (t) => {
  const gone = await countingListener();
  await gone.close();
  const proxy = await proxyFor(t, {
    allowPrivateNetwork: true,
    limits: { connectTimeoutMs: 200, idleTimeoutMs: 200 },
    resolve: (name) => {
      t.not(name, '0123.invalid', 'not even asked for');
      if (name === 'silent.example') return new Promise(() => {});
      return Promise.reject(failing(name === 'broken.example' ? 'ESERVFAIL' : 'ENOTFOUND'));
    },
  });
  const job = proxy.beginSession();
  const mute = await countingListener();
  const rude = await countingListener((socket) => socket.destroy());
  const garbage = await countingListener((socket) => socket.end('what?\r\n\r\n'));
  const auth = await originFor(t, (_req, res) => res.writeHead(407).end());
  t.teardown(() => Promise.all([mute.close(), rude.close(), garbage.close()]));
  for (const [url, status, code] of [
    ['http://none.example/', 502, 'name-not-found'],
    ['http://0123.invalid/a.png', 502, 'name-not-found'],
    ['http://broken.example/', 502, 'name-lookup-failed'],
    ['http://silent.example/', 504, 'timeout'],
    [`http://127.0.0.1:${gone.port}/`, 502, 'connection-refused'],
    [`http://127.0.0.1:${mute.port}/`, 504, 'timeout'],
    [`http://127.0.0.1:${rude.port}/`, 502, 'connection-failed'],
    [`http://127.0.0.1:${garbage.port}/`, 502, 'invalid-answer'],
    [`http://127.0.0.1:${auth.port}/`, 502, 'invalid-answer'],
  ] as const) {
    t.match(await get(proxy, url), { status, headers: { 'x-egress-failed': code } }, url);
    t.match(job.failed.at(-1), { url, code });
  }
  t.match(
    (await tunnelTo(proxy, 'none.example:443')).answer,
    /^HTTP\/1\.1 502 Bad Gateway\r\nX-Egress-Failed: name-not-found\r\n/,
  );
  t.match((await tunnelTo(proxy, `127.0.0.1:${gone.port}`)).answer, /connection-refused/);
  t.same(job.refused, []);
});

void test('the byte cap cuts every connection and refuses what follows', async (t) => {
  const { port } = await originFor(t, (_req, res) => {
    const chunk = Buffer.alloc(16_384);
    const more = (): void => {
      while (!res.destroyed && res.write(chunk));
    };
    res.on('drain', more);
    more();
  });
  const proxy = await proxyFor(t, { allowPrivateNetwork: true, limits: { maxBytes: 1_000_000 } });
  const job = proxy.beginSession();
  const url = `http://127.0.0.1:${port}/endless`;
  await t.rejects(get(proxy, url), 'an endless body is cut');
  t.ok(job.bytes > 1_000_000 && job.bytes < 1_200_000, `${job.bytes} bytes`);
  t.match(job.refused, [{ url, code: 'byte-limit' }]);
  t.match(await get(proxy, url), { status: 403, headers: { 'x-egress-refused': 'byte-limit' } });
  job.end();
  t.equal(proxy.beginSession().bytes, 0, 'the next job starts at 0');
});

void test('requests are capped in number, and at once', async (t) => {
  const { port } = await originFor(t, (req, res) => {
    if (req.url !== '/hang') res.end('ok');
  });
  const limits = { maxRequests: 4, maxConnections: 1 };
  const proxy = await proxyFor(t, { allowPrivateNetwork: true, limits });
  const job = proxy.beginSession();
  const url = `http://127.0.0.1:${port}/`;
  t.equal((await get(proxy, url)).status, 200);
  const { socket } = await tunnelTo(proxy, `127.0.0.1:${port}`);
  t.match(await get(proxy, url), { headers: { 'x-egress-refused': 'connection-limit' } });
  socket.destroy();
  await closed(socket);
  while (job.requests < 4) await get(proxy, url);
  t.match(await get(proxy, url), { headers: { 'x-egress-refused': 'request-limit' } });
});

void test('the end of a job cuts tunnels, answers and requests in the making', async (t) => {
  const target = await countingListener((socket) => socket.write('hello'));
  t.teardown(() => target.close());
  const { port } = await originFor(t, (_req, res) => {
    res.write('begun');
  });
  const resolving = Promise.withResolvers<string[]>();
  const proxy = await proxyFor(t, { allowPrivateNetwork: true, resolve: () => resolving.promise });
  const job = proxy.beginSession();
  const { socket, answer } = await tunnelTo(proxy, `127.0.0.1:${target.port}`);
  t.match(answer, /^HTTP\/1\.1 200 /);
  const hanging = t.rejects(get(proxy, `http://127.0.0.1:${port}/`));
  const late = t.rejects(get(proxy, `http://late.example:${target.port}/`));
  while (job.requests < 3) await new Promise((turn) => setImmediate(turn));
  job.end();
  resolving.resolve(['127.0.0.1']);
  await Promise.all([closed(socket), hanging, late]);
  t.equal(target.tcp, 1, 'what was being resolved is not dialled any more');
});

void test('a WebSocket passes through CONNECT, both ways', async (t) => {
  const { server, port } = await originFor(t, (_req, res) => res.end());
  server.on('upgrade', (req, socket: Socket) => {
    const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    socket.on('data', (chunk) => socket.write(chunk));
    socket.on('error', () => socket.destroy());
    t.teardown(() => socket.destroy());
  });
  const proxy = await proxyFor(t, { allowPrivateNetwork: true });
  const job = proxy.beginSession();
  const { socket } = await tunnelTo(proxy, `127.0.0.1:${port}`);
  socket.write(
    `GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  t.match(
    String((await once(socket, 'data'))[0]),
    /101 Switching[\s\S]*s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/,
  );
  socket.write('frame');
  t.equal(String((await once(socket, 'data'))[0]), 'frame');
  t.ok(job.bytes > 200, 'tunnelled bytes are counted');
  socket.destroy();
});

void test('clients keep their connection over several requests', async (t) => {
  const { port } = await originFor(t, (_req, res) => res.end('ok'));
  const proxy = await proxyFor(t, { allowPrivateNetwork: true });
  proxy.beginSession();
  const socket = connect(proxy.port, '127.0.0.1');
  for (const path of ['a', 'b', 'c']) {
    socket.write(
      `GET http://127.0.0.1:${port}/${path} HTTP/1.1\r\nHost: x\r\n${headerOf(proxy)}\r\n`,
    );
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 OK/);
  }
  socket.write(`GET http://10.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n${headerOf(proxy)}\r\n`);
  await once(socket, 'data');
  t.notOk(socket.closed);
  socket.destroy();
});

void test('the default resolver knows the hosts file, and says when a name is not there', async (t) => {
  t.ok((await resolveByDns('LOCALHOST.')).includes('127.0.0.1'));
  const proxy = await proxyFor(t);
  const job = proxy.beginSession();
  const answer = await get(proxy, 'http://does-not-exist.example/');
  t.match(answer.headers['x-egress-failed'], /name-not-found|name-lookup-failed|timeout/);
  t.equal(job.failed.length, 1);
});
