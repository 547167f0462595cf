/** What is fetched encrypted passes the proxy unseen: the manifest has it from Chrome, whoever fetched it. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import tap, { test } from 'tap';
import type { ManifestResource } from '../../src/domain/render-manifest.ts';
import { startHttpsServer } from '../support/https.ts';
import { startTestRenderer, type TestRenderer } from '../support/renderer.ts';

const sha256 = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('hex');

const picture = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
const script = 'document.title = "zipped";';
const fetching = (path: string): string => `fetch('${path}').then((answer) => answer.text())`;

interface Answer {
  readonly type: string;
  readonly body: Buffer | string;
}
const answers: Record<string, Answer> = {
  '/a.svg': { type: 'image/svg+xml', body: picture },
  '/b.svg': { type: 'image/svg+xml', body: `${picture.toString()}\n` },
  '/zipped.js': { type: 'text/javascript', body: script },
  '/style.css': { type: 'text/css; charset=utf-8', body: 'p::after { content: "ž" }' },
  '/data.bin': { type: 'application/octet-stream', body: Buffer.from([0, 255, 128, 13, 10]) },
  '/worker.js': { type: 'text/javascript', body: fetching('/by-worker') },
  // Its body goes with it before anyone can ask.
  '/brief.js': { type: 'text/javascript', body: `${fetching('/by-brief')}.then(() => close())` },
  '/shared.js': { type: 'text/javascript', body: fetching('/by-shared') },
  '/service.js': {
    type: 'text/javascript',
    body: `oninstall = (event) => event.waitUntil(${fetching('/by-service')})`,
  },
  '/next': { type: 'text/html', body: `<p>next</p><img src="/b.svg">` },
  '/first': {
    type: 'text/html',
    body: `<p>first</p><script src="/zipped.js"></script><script>location.replace('/next')</script>`,
  },
};
for (const name of ['worker', 'brief', 'shared', 'service']) {
  answers[`/by-${name}`] = { type: 'text/plain', body: `fetched by ${name}` };
}
const server = await startHttpsServer((request, response) => {
  const path = request.url ?? '';
  const answer = answers[path];
  if (path === '/old.svg') response.writeHead(301, { Location: '/a.svg' }).end();
  else if (answer === undefined) response.writeHead(404, { 'Content-Type': 'text/plain' }).end('-');
  else if (path === '/zipped.js') {
    response.writeHead(200, { 'Content-Type': answer.type, 'Content-Encoding': 'gzip' });
    response.end(gzipSync(answer.body));
  } else response.writeHead(200, { 'Content-Type': answer.type }).end(answer.body);
});
tap.teardown(() => server.close());
const here = `https://localhost:${server.port}`;
const elsewhere = `https://127.0.0.1:${server.port}`;
answers['/frame'] = {
  type: 'text/html',
  body: `<p>framed</p><img src="/a.svg"><iframe src="${here}/inner"></iframe>
    <script>new Worker('/worker.js')</script>`,
};
answers['/inner'] = { type: 'text/html', body: '<p>inner</p><img src="/b.svg">' };
answers['/page'] = {
  type: 'text/html',
  body: `<p>page</p><iframe src="${elsewhere}/frame"></iframe><script>new Worker('/brief.js');
    new SharedWorker('/shared.js'); navigator.serviceWorker.register('/service.js')</script>`,
};

async function start(...flags: readonly string[]): Promise<TestRenderer> {
  const chromePath = await server.chrome(...flags);
  const renderer = await startTestRenderer({ allowPrivateNetwork: true, chromePath });
  tap.teardown(() => renderer.close());
  return renderer;
}
const renderer = await start();
const isolating = await start('--site-per-process');

type Request = Parameters<TestRenderer['render']>[0];

async function resourcesOf(by: TestRenderer, request: Request) {
  const result = await by.render(request);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return result.page.resources;
}

function expected(url: string): Partial<ManifestResource> {
  const { type = '', body = '' } = answers[new URL(url).pathname] ?? {};
  const [media = ''] = type.split(';');
  return { url, status: 200, type: media, bytes: Buffer.byteLength(body), sha256: sha256(body) };
}

void test('every resource of a page, with its redirects, status, size and hash', async (t) => {
  const html = `<link rel=stylesheet href="${here}/style.css"><script src="${here}/zipped.js"></script>
    <img src="${here}/old.svg"><img src="${here}/gone.png"><p>x</p><script>
    fetch('${here}/data.bin', { mode: 'no-cors' })</script>`;
  const resources = await resourcesOf(renderer, { html, wait_for: { network_idle: true } });
  const by = (path: string) => resources.find(({ url }) => url === here + path);
  t.match(by('/style.css'), { ...expected(`${here}/style.css`), kind: 'Stylesheet' });
  t.match(by('/zipped.js'), {
    ...expected(`${here}/zipped.js`),
    kind: 'Script',
    hashed: /^(text|decoded)$/,
  });
  t.match(by('/a.svg'), {
    ...expected(`${here}/a.svg`),
    redirects: [{ url: `${here}/old.svg`, status: 301 }],
  });
  t.match(by('/gone.png'), { status: 404, bytes: 1 });
  t.match(by('/data.bin'), { ...expected(`${here}/data.bin`), kind: 'Fetch', hashed: 'decoded' });
  t.equal(resources.length, 5, 'each of them once, and nothing else');
});

const isolation = { 'in the same process': renderer, 'in processes of their own': isolating };
for (const [name, by] of Object.entries(isolation)) {
  void test(`what frames of other sites and workers fetch, frames ${name}`, async (t) => {
    const wait_for = { delay_ms: 500, network_idle: true };
    const resources = await resourcesOf(by, { url: `${here}/page`, wait_for });
    const wanted = [
      ...['/page', '/inner', '/b.svg'].map((path) => here + path),
      ...['/frame', '/a.svg', '/worker.js', '/by-worker'].map((path) => elsewhere + path),
      ...['/brief.js', '/by-brief', '/shared.js', '/by-shared', '/service.js', '/by-service'].map(
        (path) => here + path,
      ),
    ];
    for (const url of wanted) {
      const found = resources.find((each) => each.url === url);
      const path = new URL(url).pathname;
      // Where the worker ends before they are asked for, its bodies are gone.
      if (path.includes('brief')) t.match(found, { status: 200 }, path);
      else t.match(found, expected(url), path);
    }
    t.same(resources.map(({ url }) => url).toSorted(), wanted.toSorted(), 'each of them once');
  });
}

void test('what a page fetched before it moved on by itself', async (t) => {
  const resources = await resourcesOf(renderer, {
    url: `${here}/first`,
    wait_for: { delay_ms: 500 },
  });
  for (const path of ['/first', '/zipped.js', '/next']) {
    const found = resources.find((each) => each.url === here + path);
    t.match(found, expected(here + path), path);
  }
});

void test('network idle waits for workers, and is not held up by them', async (t) => {
  const workers = ['/worker.js', '/brief.js'].map((path) => `new Worker('${path}');`).join('');
  answers['/workers'] = { type: 'text/html', body: `<p>x</p><script>${workers}</script>` };
  const result = await isolating.render({
    url: `${here}/workers`,
    wait_for: { network_idle: true },
  });
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  t.notOk(result.page.waits.some((each) => each.capped));
  for (const path of ['/by-worker', '/by-brief']) {
    t.ok(
      result.page.resources.some(({ url }) => url === here + path),
      path,
    );
  }
});

void test('a certificate that nobody vouches for is refused', async (t) => {
  const strict = await startTestRenderer({ allowPrivateNetwork: true });
  t.teardown(() => strict.close());
  const result = await strict.render({ url: `${here}/next` });
  t.match(result, { kind: 'failed', code: 'navigation_failed', message: /certificate/ });
});
