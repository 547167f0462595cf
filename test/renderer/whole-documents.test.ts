/** A document is printed whole or not at all: real Chrome, and a server that breaks off on the wire. */
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib';
import tap, { test } from 'tap';
import { warningsOf } from '../../src/renderer/warnings.ts';
import { startHttpsServer } from '../support/https.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const BEGINNING = `<!doctype html><p>beginning</p>${'<p>more</p>'.repeat(20)}`;
const END = '<p>the end</p>';
const WHOLE = BEGINNING + END;
const zipped = gzipSync(`${BEGINNING}${Math.PI}`.repeat(50) + END);
const damaged = Buffer.from(zipped).fill(0xff, zipped.length / 2, zipped.length / 2 + 20);

const CLOSE = 'Connection: close';
const CHUNKED = 'Transfer-Encoding: chunked';
const length = (bytes: number): string => `Content-Length: ${bytes}`;
const coded = (coding: string): string => `Content-Encoding: ${coding}\r\n${CLOSE}`;
const head = (fields: string, version = '1.1'): string =>
  `HTTP/${version} 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n${fields}\r\n\r\n`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;
const script = (code: string): string => `${BEGINNING}<script>${code}</script>`;
const redirect = (to: string): string =>
  `HTTP/1.1 302 Found\r\nLocation: ${to}\r\nContent-Length: 0\r\n\r\n`;
const goTo = (path: string): string => head(CLOSE) + script(`location.replace('${path}')`) + END;

/** Answers that end in the way that their connection does. */
const ENDED: Readonly<Record<string, string | readonly [string, Buffer]>> = {
  '/whole': head(CLOSE) + WHOLE,
  '/http-1.0': head('', '1.0') + WHOLE,
  '/gzip': [head(coded('gzip')), zipped],
  '/gzip-and-more': [head(coded('gzip')), Buffer.concat([zipped, Buffer.from('more')])],
  '/gzip-of-nothing': [head(`${coded('gzip')}\r\n${length(0)}`), Buffer.alloc(0)],
  '/short': head(length(WHOLE.length)) + BEGINNING,
  '/one-short': head(length(WHOLE.length + 1)) + WHOLE,
  '/chunk-missing': head(CHUNKED) + chunk(BEGINNING),
  '/chunk-cut': head(CHUNKED) + chunk(BEGINNING).slice(0, 100),
  '/chunk-invalid': `${head(CHUNKED)}${chunk(BEGINNING)}x\r\n`,
  '/gzip-short': [head(coded('gzip')), zipped.subarray(0, -20)],
  '/gzip-damaged': [head(`${coded('gzip')}\r\n${length(damaged.length)}`), damaged],
  '/brotli-short': [head(coded('br')), brotliCompressSync(WHOLE).subarray(0, -4)],
  '/no-gzip': head(coded('gzip')) + WHOLE,
  '/to-short': redirect('/short'),
  '/goes-to-short': goTo('/short'),
  '/goes-to-drip': goTo('/drip'),
  '/blocked': `${head(CLOSE)}${BEGINNING}<script src="/silent"></script>${END}`,
  '/blocked-by-style': `${head(CLOSE)}${BEGINNING}<link rel=stylesheet href="/silent"><script></script>${END}`,
};
/** Answers whose connection stays open. */
const HELD: Readonly<Record<string, string | readonly [string, Buffer]>> = {
  '/half': head(length(WHOLE.length)) + BEGINNING,
  '/no-length': head(CLOSE) + BEGINNING,
  '/gzip-half': [head(coded('gzip')), zipped.subarray(0, -20)],
  '/chunk-late': head(CHUNKED) + chunk(WHOLE),
  '/moves-on': head(CLOSE) + script("location.replace('/whole')"),
  '/stops': head(CLOSE) + script('stop()'),
  '/writes-anew':
    head(CLOSE) +
    script(`setTimeout(() => { document.open(); document.write('${WHOLE}'); document.close() })`),
};

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (request) => answer(socket, / (\S+)/.exec(request.toString())?.[1] ?? ''));
});
function answer(socket: Socket, path: string): void {
  const drip = (out: NodeJS.WritableStream): void => {
    const timer = setInterval(() => out.write('<p>drop</p>'), 100);
    socket.once('close', () => clearInterval(timer));
  };
  const parts = ENDED[path] ?? HELD[path] ?? '';
  for (const part of typeof parts === 'string' ? [parts] : parts) socket.write(part);
  if (path in ENDED) socket.end();
  else if (path === '/drip') {
    socket.write(head(CLOSE) + BEGINNING);
    drip(socket);
  } else if (path === '/gzip-drip') {
    socket.write(head(coded('gzip')));
    const gzip = createGzip({ flush: 2 });
    gzip.pipe(socket);
    drip(gzip);
  } else if (path === '/reset') {
    socket.write(head(CLOSE) + BEGINNING, () => setTimeout(() => socket.resetAndDestroy(), 100));
  }
}
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
tap.teardown(() => server.close());

void test('a document that breaks off fails, and says why', async (t) => {
  const EARLY = /^The page did not come whole: its content ended too early\.$/;
  const CODED =
    /^The page did not come whole: The compressed content is damaged or ended too early\.$/;
  const cases: Readonly<Record<string, RegExp>> = {
    '/short': EARLY,
    '/one-short': EARLY,
    '/chunk-missing': EARLY,
    '/chunk-cut': EARLY,
    '/chunk-invalid': EARLY,
    '/reset': EARLY,
    '/gzip-short': CODED,
    '/gzip-damaged': CODED,
    '/brotli-short': CODED,
    '/no-gzip': /^The page did not come whole: its content cannot be decompressed\.$/,
    '/to-short': EARLY,
    '/goes-to-short': EARLY,
  };
  for (const [path, message] of Object.entries(cases)) {
    const result = await renderer.render({ url: origin + path });
    t.match(result, { kind: 'failed', code: 'navigation_failed', message }, path);
  }
});

void test('a document that never ends fails at the cap', async (t) => {
  const paths = ['/drip', '/half', '/no-length', '/chunk-late', '/gzip-half', '/gzip-drip'];
  for (const path of [...paths, '/goes-to-drip']) {
    const result = await renderer.render({ url: origin + path }, {}, 4_000);
    const message = /^The page's document had not ended after (2|[01]\.\d|1) seconds\. /;
    t.match(result, { kind: 'failed', code: 'timeout', message }, path);
  }
});

void test('a document is whole that ends by its connection, or as its script wants', async (t) => {
  for (const path of [
    '/whole',
    '/http-1.0',
    '/gzip',
    '/gzip-and-more',
    '/moves-on',
    '/writes-anew',
  ]) {
    t.match((await renderer.pdf({ url: origin + path })).text, /the end$/, path);
  }
  t.match((await renderer.pdf({ url: `${origin}/gzip-of-nothing` })).text, /^$/);
  t.match((await renderer.pdf({ url: `${origin}/stops` })).text, /^beginning/);
  const off = await renderer.pdf({ url: `${origin}/whole` }, { javascript: false });
  t.match(off.text, /the end$/);
});

void test('what a script or style sheet that never comes holds up is printed all the same', async (t) => {
  const html =
    String(ENDED['/blocked']).split('\r\n\r\n')[1]?.replace('src="', `$&${origin}`) ?? '';
  for (const request of [
    { url: `${origin}/blocked` },
    { url: `${origin}/blocked-by-style` },
    { html },
  ]) {
    const result = await renderer.render(request, {}, 12_000);
    if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
    t.match((await openPdf(result.path)).text, /the end$/);
    t.match(warningsOf(result.page), [
      `${origin}/silent could not be loaded: The time for loading was over.`,
      /^The page had not finished loading after \d(\.\d)? s\.$/,
    ]);
  }
});

void test('the same over https, where the proxy cannot look in', async (t) => {
  const secure = await startHttpsServer(({ url, socket }, response) => {
    response.setHeader('Content-Type', 'text/html');
    if (url === '/short') response.setHeader('Content-Length', WHOLE.length);
    if (url === '/whole') response.end(WHOLE);
    else if (url === '/held') response.write(BEGINNING);
    else response.write(BEGINNING, () => setTimeout(() => socket.destroy(), 100));
  });
  t.teardown(() => secure.close());
  const chromePath = await secure.chrome();
  const over = await startTestRenderer({ allowPrivateNetwork: true, chromePath });
  t.teardown(() => over.close());
  const render = (path: string) =>
    over.render({ url: `https://localhost:${secure.port}${path}` }, {}, 12_000);
  t.match(await render('/whole'), { kind: 'completed' });
  t.match(await render('/held'), { kind: 'failed', code: 'timeout', message: /had not ended/ });
  for (const path of ['/short', '/chunked']) {
    const message = 'The page did not come whole: its content ended too early.';
    t.match(await render(path), { kind: 'failed', code: 'navigation_failed', message }, path);
  }
});
