/** What posts to receivers, against receivers that hang, lie, close, never end or lead elsewhere. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Test, test } from 'tap';
import type { Resolve } from '../../../src/egress/resolve.ts';
import { createPoster, type PosterOptions } from '../../../src/webhooks/poster.ts';
import { startHttpsServer } from '../../support/https.ts';
import { countingListener } from '../../support/listener.ts';

const OPEN = { allowPrivateNetwork: true, extraPorts: [] };
const CLOSED = { allowPrivateNetwork: false, extraPorts: [] };
const never = new AbortController().signal;

function poster(t: Test, options: Partial<PosterOptions> = {}) {
  const made = createPoster({ policy: OPEN, version: '1.2.3', answerMs: 400, ...options });
  t.teardown(() => made.close());
  return (url: string, body = '{}', signal = never) =>
    made.post(new URL(url), { 'webhook-id': 'delivery_1' }, body, signal);
}

async function serve(t: Test, handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=b`;
}

void test('a delivery is one POST with its headers; the begin of the answer is kept', async (t) => {
  const post = poster(t);
  const seen: object[] = [];
  const url = await serve(t, (request, response) => {
    const { method, url: path, headers } = request;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      response.end('thanks, Zoë');
    });
  });
  const answer = await post(url, '{"a":"Zoë"}');
  t.match(answer, { status: 200, text: 'thanks, Zoë' });
  t.ok(Number.isSafeInteger(answer.durationMs));
  t.match(seen, [
    {
      method: 'POST',
      path: '/hook?a=b',
      body: '{"a":"Zoë"}',
      headers: {
        'content-type': 'application/json',
        'content-length': '12',
        'user-agent': 'Pressledger/1.2.3',
        'webhook-id': 'delivery_1',
      },
    },
  ]);
});

void test('receivers that misbehave', async (t) => {
  const post = poster(t);
  const elsewhere = await countingListener();
  t.teardown(() => elsewhere.close());
  const raw = async (text: string, end = false) => {
    const listener = await countingListener((socket: Socket) => {
      socket.on('data', () => {
        socket.write(text);
        if (end) socket.end();
      });
    });
    t.teardown(() => listener.close());
    return `http://127.0.0.1:${listener.port}/`;
  };
  const drip = async (text: string) => {
    const listener = await countingListener((socket) => {
      const timer = setInterval(() => socket.write(text), 20);
      socket.once('close', () => clearInterval(timer));
    });
    t.teardown(() => listener.close());
    return `http://127.0.0.1:${listener.port}/`;
  };
  const to = `http://127.0.0.1:${elsewhere.port}/`;
  const closed = await countingListener((socket) => socket.destroy());
  t.teardown(() => closed.close());
  const gone = await countingListener();
  await gone.close();
  const cases: [what: string, url: string, expected: object][] = [
    ['hangs', await raw(''), { failure: 'timeout' }],
    ['sends its headers for ever', await drip('X'), { failure: 'invalid_answer' }],
    ['never ends its headers', await raw('HTTP/1.1 200 OK\r\nA: b\r\n'), { failure: 'timeout' }],
    ['closes', `http://127.0.0.1:${closed.port}/`, { failure: 'connection_failed' }],
    ['is not there', `http://127.0.0.1:${gone.port}/`, { failure: 'connection_refused' }],
    ['speaks something else', await raw('220 mail ready\r\n'), { failure: 'invalid_answer' }],
    [
      'has huge headers',
      await raw(`HTTP/1.1 200 OK\r\nA: ${'x'.repeat(40_000)}\r\n\r\n`),
      { failure: 'invalid_answer' },
    ],
    [
      'has no status',
      await raw('HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n'),
      { failure: 'invalid_answer' },
    ],
    [
      'wants another protocol',
      await raw('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      { failure: 'invalid_answer' },
    ],
    [
      'redirects',
      await raw(`HTTP/1.1 302 Found\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`),
      { status: 302, text: '' },
    ],
    [
      'fails',
      await raw('HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\noops'),
      { status: 500, text: 'oops' },
    ],
    [
      'answers slowly',
      await raw('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbeg'),
      { status: 200, text: 'beg' },
    ],
    [
      'breaks off',
      await raw('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbeg', true),
      { status: 200, text: 'beg' },
    ],
    [
      'never ends its body',
      await raw(`HTTP/1.1 200 OK\r\n\r\n${'é'.repeat(100_000)}`),
      { status: 200, text: 'é'.repeat(256) },
    ],
  ];
  await Promise.all(
    cases.map(async ([what, url, expected]) => {
      const answer = await post(url);
      t.match(answer, expected, `one that ${what}`);
      t.ok(answer.durationMs < 3000, what);
      if ('failure' in expected) t.equal(answer.status, undefined, what);
    }),
  );
  t.equal(elsewhere.tcp, 0, 'no redirect is followed');
});

void test('addresses are those that pages may reach, checked at the connection', async (t) => {
  const listener = await countingListener();
  t.teardown(() => listener.close());
  const { port } = listener;
  const asked: string[] = [];
  const answers: string[][] = [
    ['127.0.0.1'],
    ['93.184.215.14', '10.0.0.1'],
    ['::ffff:127.0.0.1'],
    ['169.254.169.254'],
  ];
  const resolve: Resolve = async (name) => {
    asked.push(name);
    return answers.shift() ?? [];
  };
  const post = poster(t, { policy: { ...CLOSED, extraPorts: [port] }, resolve });
  const literal = [
    `https://127.0.0.1:${port}/`,
    `https://[::1]:${port}/`,
    `https://0x7f.1:${port}/`,
    `https://2130706433:${port}/`,
    `https://localhost:${port}/`,
    `https://metadata:${port}/`,
    'https://169.254.169.254/',
    'https://example.com:22/',
  ];
  for (const url of literal) t.match(await post(url), { failure: 'address_refused' }, url);
  const plain = `http://example.com:${port}/`;
  t.match(await post(plain), { failure: 'https_required' }, 'allowed when it was given, perhaps');
  t.strictSame(asked, [], 'without a look at DNS');
  for (let n = 0; n < 4; n += 1) {
    t.match(await post(`https://rebind.example.com:${port}/`), { failure: 'address_refused' });
  }
  t.match(await post(`https://rebind.example.com:${port}/`), { failure: 'name_not_found' });
  t.equal(asked.length, 5, 'each connection asks anew');
  t.equal(listener.tcp, 0, 'nothing is reached');
});

void test('a connection is used again, and replaced where its server has closed it', async (t) => {
  const post = poster(t);
  const ports = new Set<number | undefined>();
  const sockets: Socket[] = [];
  const url = await serve(t, (request, response) => {
    ports.add(request.socket.remotePort);
    sockets.push(request.socket);
    request.resume().on('end', () => response.end());
  });
  t.match(await post(url), { status: 200 });
  t.match(await post(url), { status: 200 });
  t.equal(ports.size, 1);
  // It is closed at the moment when the next request comes.
  sockets[0]?.destroy();
  t.match(await post(url), { status: 200 });
  t.equal(ports.size, 2);
});

void test('a certificate must be good, and a stop ends what is under way', async (t) => {
  const post = poster(t);
  const secure = await startHttpsServer((_request, response) => response.end());
  t.teardown(() => secure.close());
  t.match(await post(`https://127.0.0.1:${secure.port}/`), { failure: 'certificate_refused' });
  const hanging = await countingListener();
  t.teardown(() => hanging.close());
  const stopping = new AbortController();
  const sent = post(`http://127.0.0.1:${hanging.port}/`, '{}', stopping.signal);
  stopping.abort(new Error('stopping'));
  await t.rejects(sent, { message: 'stopping' });
});
