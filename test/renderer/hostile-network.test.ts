/** Servers and pages that fight back: bounded, told clearly, and no other job notices. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGzip } from 'node:zlib';
import tap, { type Test, test } from 'tap';
import { resultWithin } from '../../src/async/with-timeout.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';

const LIMIT_MS = 4_000;
/** The slot is free this long after the limit, at most. */
const FREE_MS = 10_000;
const renderer = await startTestRenderer({ allowPrivateNetwork: true, concurrency: 2 });
tap.teardown(() => renderer.close());

/** Writes for as long as somebody reads. */
function pour(response: ServerResponse, out: NodeJS.WritableStream, chunk: Buffer): void {
  const go = (): void => {
    while (!response.destroyed && out.write(chunk));
  };
  out.on('drain', go);
  go();
}

const zeros = Buffer.alloc(256 * 1024, '<p>more</p>     ');
let hops = 0;
const server = createServer(({ url = '' }, response) => {
  const html = (body: string): void =>
    void response.writeHead(200, { 'Content-Type': 'text/html' }).end(body);
  if (url === '/endless') {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    pour(response, response, zeros);
  } else if (url === '/bomb' || url === '/bomb.css') {
    const type = url === '/bomb' ? 'text/html' : 'text/css';
    response.writeHead(200, { 'Content-Type': type, 'Content-Encoding': 'gzip' });
    const gzip = createGzip({ level: 9 });
    gzip.pipe(response);
    pour(response, gzip, zeros);
  } else if (url.startsWith('/drip')) {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    const timer = setInterval(() => response.write(' '), 100);
    response.once('close', () => clearInterval(timer));
  } else if (url.startsWith('/hop')) {
    hops += 1;
    response.writeHead(302, { Location: `/hop${hops}` }).end();
  } else if (url.startsWith('/next')) {
    html(`<p>page</p><script>location = '/next${Math.random()}'</script>`);
  } else if (url.startsWith('/refresh')) {
    html(`<meta http-equiv=refresh content="0;url=/refresh${Math.random()}"><p>page</p>`);
  } else if (url === '/file') {
    const disposition = { 'Content-Disposition': 'attachment; filename=a.zip' };
    response.writeHead(200, { 'Content-Type': 'application/zip', ...disposition });
    pour(response, response, zeros);
  } else if (url === '/frames') html('<p>page</p><iframe src="/frames"></iframe>'.repeat(2));
  else html('<p>fine</p>');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
tap.teardown(() => {
  server.closeAllConnections();
  server.close();
});

/** Resolves with the first request for a path. */
const asked = (path: string): Promise<void> =>
  new Promise((resolve) => {
    const hear = ({ url }: IncomingMessage): void => {
      if (url !== path) return;
      server.off('request', hear);
      resolve();
    };
    server.on('request', hear);
  });

let pages = 0;

/**
 * Renders it beside a well-behaved document, which must not notice. Its time begins with its first request, and is that of
 * a timer beside those of the pool: a busy machine delays all of them.
 */
async function bounded(
  t: Test,
  name: string,
  { html, url }: { html?: string; url?: string },
  limitMs = LIMIT_MS,
) {
  const begun = `/begun${(pages += 1)}`;
  const request = url ? { url } : { html: `<link rel=stylesheet href="${origin}${begun}">${html}` };
  const first = asked(url?.slice(origin.length) ?? begun);
  const rendering = renderer.render(request, {}, limitMs);
  const neighbour = renderer.render({ html: '<p>a neighbour</p>' }, {}, LIMIT_MS * 8);
  await Promise.race([first, rendering]);
  const inTime = await resultWithin(rendering, limitMs + FREE_MS);
  t.ok(inTime, `${name}: the slot is free ${FREE_MS} ms after the limit`);
  const [result, other] = await Promise.all([rendering, neighbour]);
  t.equal(other.kind, 'completed', `${name}: its neighbour`);
  t.not(result.kind, 'crashed', `${name} ends: ${JSON.stringify(result).slice(0, 200)}`);
  return result;
}

void test('scripts and pages without end', async (t) => {
  const endless = {
    'a loop': '<p>alive</p><script>for(;;);</script>',
    'a loop before print': '<p>alive</p><script>onbeforeprint=()=>{for(;;);}</script>',
    'endless dialogs': '<p>alive</p><script>for(;;)alert(1)</script>',
    'a page of enormous height': '<p>alive<div style="height: 1e9px"></div><p>end',
  };
  for (const [name, html] of Object.entries(endless)) {
    const result = await bounded(t, name, { html }, 1_500);
    t.match(result, { kind: 'failed', code: 'timeout', message: /time limit/ }, name);
  }
});

void test('bodies without end and compressed bombs', async (t) => {
  for (const path of ['/endless', '/bomb', '/drip']) {
    const result = await bounded(t, path, { url: origin + path });
    t.match(result, { kind: 'failed', code: 'timeout' }, path);
  }
  const html = `<p>x</p><link rel=stylesheet href="${origin}/bomb.css"><img src="${origin}/drip">`;
  await bounded(t, 'as parts of a page', { html });
});

void test('redirects and navigations without end', async (t) => {
  t.match(await bounded(t, 'redirects', { url: `${origin}/hop` }), {
    kind: 'failed',
    code: 'navigation_failed',
    message: /redirects too many times/,
  });
  await bounded(t, 'navigations', { url: `${origin}/next` });
  await bounded(t, 'refreshes', { url: `${origin}/refresh` });
  await bounded(t, 'frames in frames', { url: `${origin}/frames` });
  const itself = '<p>x</p><script>setInterval(() => location.reload())</script>';
  await bounded(t, 'reloads', { html: itself });
});

void test('downloads and windows without number', async (t) => {
  const downloads = `<p>alive</p><script>for (let i = 0; i < 50; i++) {
    const a = document.createElement('a'); a.href = '${origin}/file'; a.download = 'f' + i;
    document.body.append(a); a.click() }</script>`;
  await bounded(t, 'downloads', { html: downloads });
  const windows = `<p>alive</p><script>setInterval(() => open('${origin}/ok'));
    for (let i = 0; i < 100; i++) open('about:blank', 'w' + i)</script>`;
  const opened = await bounded(t, 'windows', { html: windows });
  if (opened.kind === 'completed') t.match((await openPdf(opened.path)).text, /alive/);
  const storm =
    '<p>alive</p><script>setInterval(() => alert(1)); setInterval(() => print())</script>';
  await bounded(t, 'dialogs', { html: storm });
});

void test('memory and elements without end', async (t) => {
  const bombs = {
    memory: 'const a = []; for (;;) a.push(new Array(1e6).fill(Math.random()))',
    elements: 'for (;;) document.body.append(document.body.cloneNode(true))',
    pages: 'document.body.innerHTML = "<div style=height:1e8px>x</div>"',
    workers: `for (let i = 0; i < 200; i++) new Worker(URL.createObjectURL(new Blob(['for(;;);'])))`,
    requests: `setInterval(() => { for (let i = 0; i < 50; i++) fetch('${origin}/ok?' + Math.random()) })`,
  };
  for (const [name, script] of Object.entries(bombs)) {
    await bounded(t, name, { html: `<body><p>x</p><script>${script}</script>` });
  }
  t.match((await renderer.pdf({ html: '<p>next</p>' })).text, /next/, 'the next one is fine');
});
