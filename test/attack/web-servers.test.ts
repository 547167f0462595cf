/** Web servers that answer with anything: a page or a resource of it fails, never a render worker. */
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import tap, { test } from 'tap';
import { startEgressProxy } from '../../src/renderer/egress/proxy.ts';
import type { RenderResult } from '../../src/renderer/messages.ts';
import { plainText } from '../../src/text/plain-text.ts';
import { credentialsOf } from '../support/front-proxy.ts';
import { countingListener } from '../support/listener.ts';
import { startTestRenderer } from '../support/renderer.ts';

const LIMIT_MS = 5_000;
/** Answers that one page asks for. */
const PARTS = 12;

const workers: number[] = [];
let endedWorkers = 0;
process.on('worker', (worker) => {
  workers.push(worker.threadId);
  worker.once('exit', () => {
    endedWorkers += 1;
  });
});

type Answer = string | ((socket: Socket) => void);

/** Writes one text after the other for as long as the connection takes it. */
const endless =
  (first: string, more: string) =>
  (socket: Socket): void => {
    const block = Buffer.from(more.repeat(Math.ceil(16_384 / more.length)), 'latin1');
    const pour = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on('drain', pour);
    socket.write(first, 'latin1');
    pour();
  };

const html = (head: string, body = '<p>wild</p>'): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n${head}Connection: close\r\n\r\n${body}`;
const status = (line: string, body = '<p>wild</p>'): string =>
  `HTTP/1.1 ${line}\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n${body}`;
const chunked = (body: string): string => html('Transfer-Encoding: chunked\r\n', body);
const headers = (count: number): string =>
  Array.from({ length: count }, (_, index) => `X-${index}: ${index}\r\n`).join('');

const ANSWERS: Readonly<Record<string, Answer>> = {
  'a reason phrase with an escape': status('404 \u001b[31mRED'),
  'a good status with an escape': status('200 \u001b[31mRED'),
  'a reason phrase with NUL': status('200 a\0b'),
  'a reason phrase in 8 bits': status('200 \u009b31m\u00ff'),
  'a long reason phrase': status(`200 ${'x'.repeat(60_000)}`),
  'no reason phrase': status('200'),
  'status 0': status('0 OK'),
  'status 000': status('000 OK'),
  'status 99': status('99 OK'),
  'status 1000': status('1000 OK'),
  'status 999': status('999 OK'),
  'status 600': status('600 OK'),
  'status -1': status('-1 OK'),
  'status 101 without upgrade': status('101 Switching Protocols'),
  'status 101 with upgrade':
    'HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nrubbish',
  'status 100 and no more': 'HTTP/1.1 100 Continue\r\n\r\n',
  'status 100 without end': endless('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  'status 103 without end': endless('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  'status 204 with a body': status('204 No Content'),
  'status 205 with a body': status('205 Reset Content'),
  'status 304 with a body': status('304 Not Modified'),
  'status 407': status('407 Proxy Authentication Required'),
  'a header with an escape': html('X: a\u001b[31mb\r\n'),
  'a header with NUL': html('X: a\0b\r\n'),
  'a header in 8 bits': html('X: \u009b31m\u00ff\u00e2\u0080\u00ae\r\n'),
  'a header name with an escape': html('X\u001b: a\r\n'),
  'a header name in 8 bits': html('X\u00ff: a\r\n'),
  'a header without a name': html(': a\r\n'),
  'a header with a blank in its name': html('X y : a\r\n'),
  'a folded header': html('X: a\r\n b\r\n\tc\r\n'),
  'bare line feeds': html('X: a\nY: b\n'),
  'a carriage return in a header': html('X: a\rY: b\r\n'),
  'forged headers of the proxy': html('X-Egress-Failed: timeout\r\nProxy-Authenticate: Basic\r\n'),
  '1,900 headers': html(headers(1_900)),
  '6,000 headers': html(headers(6_000)),
  'a header of 100 KB': html(`X: ${'x'.repeat(100_000)}\r\n`),
  'a header without end': endless('HTTP/1.1 200 OK\r\nX: ', 'x'),
  'headers without end': endless('HTTP/1.1 200 OK\r\n', 'X: y\r\n'),
  'a status line without end': endless('HTTP/1.1 200 ', 'x'),
  'blank lines without end': endless('', '\r\n'),
  'a type with escapes': status('200 OK').replace('text/html', 'image/\u009b31mred\u001b[31m'),
  'a type in 8 bits': status('200 OK').replace('text/html', 'image/\u009b31mred\u00e2\u0080\u00ae'),
  'a type of 30 KB': status('200 OK').replace('text/html', `image/${'x'.repeat(30_000)}`),
  'a file with a wild name': html(
    'Content-Disposition: attachment; filename="\u009b\u00ff../a"\r\n',
  ),
  'an unknown coding': html('Content-Encoding: \u009bwild\r\n'),
  'gzip that is none': html('Content-Encoding: gzip\r\n'),
  'a redirect to nowhere': 'HTTP/1.1 302 x\r\nLocation: http://[::1\r\n\r\n',
  'a redirect in 8 bits': 'HTTP/1.1 302 x\r\nLocation: http://\u009b31m\u00ff/\r\n\r\n',
  'a redirect to a script': 'HTTP/1.1 302 x\r\nLocation: javascript:alert(1)\r\n\r\n',
  'a redirect of 50 KB': `HTTP/1.1 302 x\r\nLocation: http://${'x'.repeat(50_000)}/\r\n\r\n`,
  'doubled chunking': html('Transfer-Encoding: chunked, chunked\r\n', '1\r\na\r\n0\r\n\r\n'),
  'an unknown transfer coding': html('Transfer-Encoding: wild\r\n'),
  'chunks and a length': html('Transfer-Encoding: chunked\r\nContent-Length: 3\r\n', '0\r\n\r\n'),
  'a chunk of no number': chunked('zz\r\na\r\n0\r\n\r\n'),
  'a negative chunk': chunked('-1\r\na\r\n0\r\n\r\n'),
  'a chunk of 2^64 bytes': chunked('ffffffffffffffff\r\na\r\n0\r\n\r\n'),
  'a chunk that breaks off': chunked('ff\r\n<p>wild'),
  'a chunk extension without end': endless(chunked('1;'), 'x'),
  'wild trailers': chunked('1\r\na\r\n0\r\nX: \u001b[31m\r\nY\u0001: a\r\n\r\n'),
  'trailers without end': endless(chunked('1\r\na\r\n0\r\n'), 'X: y\r\n'),
  'a negative length': html('Content-Length: -1\r\n'),
  'a length of 2^70': html('Content-Length: 1180591620717411303424\r\n'),
  'two lengths': html('Content-Length: 3\r\nContent-Length: 11\r\n'),
  'a length list': html('Content-Length: 11, 11\r\n'),
  'a length that is too large': html('Content-Length: 5000\r\n'),
  'a length that is too small': html('Content-Length: 3\r\n'),
  'no answer': (socket) => socket.end(),
  'half a status line': 'HTTP/1.1 2',
  'half a header': 'HTTP/1.1 200 OK\r\nContent-Ty',
  'a reset': (socket) => socket.resetAndDestroy(),
  'a reset in the body': (socket) => {
    socket.write(html('Content-Length: 5000\r\n'), () => socket.resetAndDestroy());
  },
  'HTTP/0.9': '<p>wild</p>',
  'HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\u0012\u0004\0\0\0\0\0',
  'another protocol': 'SSH-2.0-OpenSSH_9.9\r\n\u001b[31m',
  'a TLS alert': '\u0015\u0003\u0001\0\u0002\u0002(',
  'an answer and more': `${html('Content-Length: 11\r\n')}HTTP/1.1 200 \u001b\r\n\r\n`,
};
const names = Object.keys(ANSWERS);

const server = await countingListener((socket) => {
  socket.once('data', (request) => {
    const index = /^[A-Z]+ \/([0-9]+)/.exec(request.toString('latin1'))?.[1];
    // What comes through a tunnel is encrypted: each connection gets the next answer.
    const answer = ANSWERS[names[Number(index ?? server.tcp % names.length)] ?? ''] ?? '';
    if (typeof answer === 'function') answer(socket);
    else socket.end(answer, 'latin1');
  });
});
const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(async () => {
  await renderer.close();
  await server.close();
});
const origin = `http://127.0.0.1:${server.port}`;

/** Renders the answer as a page. */
const failureOf = async (name: string): Promise<RenderResult> =>
  await renderer.render({ url: `${origin}/${names.indexOf(name)}` }, {}, LIMIT_MS);

void test('no answer to a page ends a worker', async (t) => {
  for (const [index, name] of names.entries()) {
    const result = await renderer.render({ url: `${origin}/${index}` }, {}, LIMIT_MS);
    t.not(result.kind, 'crashed', `${name}: ${JSON.stringify(result).slice(0, 300)}`);
    if (result.kind === 'failed') {
      t.not(result.code, 'timeout', name);
      t.ok(result.message.length <= 1_000, `${name}: its message is short`);
      t.equal(result.message, plainText(result.message), `${name}: its message is plain`);
    }
    t.equal(endedWorkers, 0, `${name}: the worker goes on`);
  }
  t.match((await renderer.pdf({ html: '<p>letter</p>' })).text, 'letter');
  t.equal(workers.length, 1, 'all were rendered by one worker');
});

void test('no answer to a part of a page ends a worker or the page', async (t) => {
  for (let index = 0; index < names.length; index += PARTS) {
    const parts = names.slice(index, index + PARTS).map((_, offset) => {
      const url = `${origin}/${index + offset}`;
      return `<img src="${url}"><link rel="stylesheet" href="${url}"><script src="${url}"></script>
        <iframe src="${url}"></iframe>`;
    });
    const letter = await renderer.pdf({ html: `<p>letter ${index}</p>${parts.join('')}` });
    t.match(letter.text, `letter ${index}`, `answers from number ${index}`);
    t.equal(endedWorkers, 0, `the worker goes on after answers from number ${index}`);
  }
  t.equal(workers.length, 1, 'all were rendered by one worker');
});

void test('what a server writes shows in a message as plain text', async (t) => {
  t.match(await failureOf('a reason phrase with an escape'), {
    kind: 'failed',
    code: 'page_status',
    message: 'The page answered with status 404.',
  });
  t.match(await failureOf('a type in 8 bits'), { kind: 'failed', code: 'not_html' });
  for (const name of ['status 101 with upgrade', 'status 100 without end', 'another protocol']) {
    t.match(await failureOf(name), {
      kind: 'failed',
      code: 'navigation_failed',
      message: 'The page cannot be reached: The server did not answer in valid HTTP.',
    });
  }
});

void test('rubbish through a tunnel ends neither a worker nor the page that asked', async (t) => {
  const secure = `https://127.0.0.1:${server.port}`;
  const images = names.map((_, index) => `<img src="${secure}/${index}">`).join('');
  t.match((await renderer.pdf({ html: `<p>letter</p>${images}` })).text, 'letter');
  t.match(await renderer.render({ url: secure }, {}, LIMIT_MS), { kind: 'failed' });
  t.same([workers.length, endedWorkers], [1, 0]);
});

void test('answers before the answer have a bound', async (t) => {
  const proxy = await startEgressProxy({ allowPrivateNetwork: true, extraPorts: [] });
  t.teardown(() => proxy.close());
  const job = proxy.beginSession();
  for (const name of names.filter((each) => /^(?:status|blank).* without end/.test(each))) {
    const socket = connect(proxy.port, '127.0.0.1');
    socket.write(
      `GET ${origin}/${names.indexOf(name)} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
        `Proxy-Authorization: ${credentialsOf(proxy)}\r\n\r\n`,
    );
    t.match(await text(socket), /^HTTP\/1\.1 502 Bad Gateway\r\nX-Egress-Failed: invalid-answer/);
  }
  t.ok(job.failed.length >= 3);
});
