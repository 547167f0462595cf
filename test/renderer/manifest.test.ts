/** What a completed conversion tells of itself, held against what a server really sent. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import tap, { test } from 'tap';
import { MAX_MANIFEST_BYTES, type RenderManifest } from '../../src/domain/render-manifest.ts';
import { SHORTCOMINGS, type Shortcoming } from '../../src/domain/request-document.ts';
import { composeManifest } from '../../src/renderer/manifest.ts';
import type { RenderResult } from '../../src/renderer/messages.ts';
import { warningsOf } from '../../src/renderer/warnings.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { startNode } from '../support/renderer-node.ts';
import { accountId, blobRef, OPTIONS, PDF, TIMINGS } from '../support/samples.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const sha256 = (content: Buffer | string): string =>
  createHash('sha256').update(content).digest('hex');
const style = Buffer.from('p{color:#123456}');
const zipped = gzipSync('document.body.append("scripted")');
const picture = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
const server = createServer((request, response) => {
  const send = (type: string, body: Buffer | string, headers = {}, status = 200): void =>
    void response.writeHead(status, { 'Content-Type': type, ...headers }).end(body);
  const url = request.url ?? '';
  if (url === '/style.css') send('text/css; charset=utf-8', style);
  else if (url === '/script.js') send('text/javascript', zipped, { 'Content-Encoding': 'gzip' });
  else if (url === '/old.svg') send('text/plain', 'moved', { Location: '/older.svg' }, 301);
  else if (url === '/older.svg') send('text/plain', '', { Location: '/new.svg' }, 302);
  else if (url === '/new.svg') send('image/svg+xml', picture);
  else if (url === '/frame') send('text/html', '<p>framed</p><img src="/new.svg">');
  else if (url === '/no.png') send('image/png', 'no picture');
  else if (url === '/never') return;
  else if (url === '/start') send('text/html', '', { Location: '/page' }, 303);
  else if (url === '/page') send('text/html', '<p>a page</p>');
  else if (url === '/cut') {
    response.writeHead(200, { 'Content-Type': 'image/png', 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  } else send('text/plain', 'not here', { 'Access-Control-Allow-Origin': '*' }, 404);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
tap.teardown(() => {
  server.closeAllConnections();
  server.close();
});

function pageOf(result: RenderResult) {
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return result.page;
}

void test('every resource with its redirects, status, size and hash', async (t) => {
  const html = `<link rel=stylesheet href="${origin}/style.css"><script src="${origin}/script.js">
    </script><img src="${origin}/old.svg"><img src="${origin}/gone.png"><img src="${origin}/cut">
    <img src="http://169.254.1.1:9099/secret"><p>x</p>`;
  const page = pageOf(await renderer.render({ html }));
  const by = (path: string) => page.resources.find(({ url }) => url === origin + path);
  t.strictSame(by('/style.css'), {
    url: `${origin}/style.css`,
    kind: 'Stylesheet',
    status: 200,
    type: 'text/css',
    bytes: style.length,
    sha256: sha256(style),
    hashed: 'received',
  });
  const script = { status: 200, bytes: zipped.length, sha256: sha256(zipped), encoding: 'gzip' };
  t.match(by('/script.js'), { kind: 'Script', hashed: 'received', ...script });
  t.match(by('/new.svg'), {
    sha256: sha256(picture),
    redirects: [
      { url: `${origin}/old.svg`, status: 301 },
      { url: `${origin}/older.svg`, status: 302 },
    ],
  });
  t.match(by('/gone.png'), { status: 404, sha256: sha256('not here') });
  t.match(by('/cut'), { bytes: 4, sha256: undefined, error: /./ });
  t.equal(page.resources.length, 6, 'each of them once, and nothing else');
  t.equal(page.resources_left_out, 0);
});

void test('what a page lacked is told, and fails it where its client wants that', async (t) => {
  const html = `<img src="${origin}/gone.png"><img src="${origin}/cut"><img src="${origin}/new.svg">
    <img src="http://127.0.0.1:1/closed"><script>console.error('bad \u202e'); new Image().src =
    '${origin}/late'; fetch('${origin}/page', { signal: AbortSignal.abort() }).catch(() => {});
    navigator.sendBeacon('${origin}/beacon')</script>`;
  const warnings = warningsOf(pageOf(await renderer.render({ html }))).toSorted();
  t.match(warnings, [
    'The page reported an error: bad \\u202e (document:2)',
    'http://127.0.0.1:1/closed could not be loaded: ',
    `${origin}/cut could not be loaded: `,
    `${origin}/gone.png was answered with status 404.`,
    `${origin}/late was answered with status 404.`,
  ]);
  const told: Readonly<Record<Shortcoming, RegExp>> = {
    resource_error: /^The page is not complete\. .*cut could not be loaded.*closed could not be/,
    http_status: /gone\.png was answered with status 404\. .*late was/,
    console_error: /The page reported an error: bad/,
    timeout: /./,
  };
  for (const of of SHORTCOMINGS) {
    const result = await renderer.render({ html, fail_on: [of] });
    if (of === 'timeout') t.equal(result.kind, 'completed', 'nothing was waited for in vain');
    else t.match(result, { kind: 'failed', code: 'incomplete', message: told[of] });
  }
  const good = { html: `<img src="${origin}/new.svg">`, fail_on: SHORTCOMINGS };
  t.strictSame(warningsOf(pageOf(await renderer.render(good))), [], 'nothing is lacking');

  const hanging = { html: `<img src="${origin}/never">` };
  const late = warningsOf(pageOf(await renderer.render(hanging, {}, 12_000)));
  t.match(late, [
    `${origin}/never could not be loaded: The time for loading was over.`,
    /^The page had not finished loading after \d/,
  ]);
  const timeout = { ...hanging, fail_on: ['timeout'] } as const;
  t.match(await renderer.render(timeout, {}, 12_000), { kind: 'failed', code: 'incomplete' });

  const waits = [0, 3690, 800].map((ms) => ({ for: 'drawing', ms, capped: true }) as const);
  t.strictSame(
    warningsOf({ resources: [], waits, console_errors: [] }),
    ['The page was still being drawn after 3.7 s.'],
    'once for what was waited for several times',
  );

  const resources = Array.from({ length: 25 }, (_, n) => ({
    url: `${origin}/${n}${'x'.repeat(400)}`,
    status: 500,
    bytes: 0,
  }));
  const many = warningsOf({ resources, waits: [], console_errors: [{ text: 'é'.repeat(500) }] });
  t.equal(many.length, 20);
  t.equal(many.at(-1), 'There are 7 more warnings.');
  t.ok(many.every((each) => each.length <= 300));
});

void test('fonts, style sheets, modules and broken images that are missing are told', async (t) => {
  const broken = 'data:image/png;base64,AAAA';
  const html = `<style>@import "${origin}/gone.css";
    @font-face{font-family:f;src:url(${origin}/gone.woff2)} p{font-family:f}</style><p>x</p>
    <script type=module src="${origin}/script.js"></script>
    <script type=module>import '${origin}/gone.js'</script><img src="${broken}">
    <img src="${origin}/new.svg"><img src="${origin}/no.png">`;
  const page = pageOf(await renderer.render({ html }));
  const told = warningsOf(page).filter((each) => !each.includes('reported'));
  t.same(told.toSorted(), [
    `${broken} could not be loaded: it is not an image that can be shown.`,
    ...['css', 'js', 'woff2'].map((end) => `${origin}/gone.${end} was answered with status 404.`),
    `${origin}/no.png could not be loaded: it is not an image that can be shown.`,
    `${origin}/script.js could not be loaded: MissingAllowOriginHeader.`,
  ]);
});

void test('what is fetched in other processes is seen by the proxy', async (t) => {
  const html = `<iframe src="${origin}/frame"></iframe><script>
    new Worker(URL.createObjectURL(new Blob(["fetch('${origin}/style.css',{mode:'no-cors'})"])));
    </script>`;
  const wait_for = { delay_ms: 400 };
  const { resources } = pageOf(await renderer.render({ html, wait_for }));
  for (const [path, body] of [
    ['/new.svg', picture],
    ['/style.css', style],
  ] as const) {
    const found = resources.find(({ url }) => url === origin + path);
    t.match(found, { status: 200, sha256: sha256(body) }, path);
  }
});

void test('a url: its document and the way to it', async (t) => {
  const { resources } = pageOf(await renderer.render({ url: `${origin}/start` }));
  t.match(resources, [
    {
      url: `${origin}/page`,
      kind: 'Document',
      status: 200,
      sha256: sha256('<p>a page</p>'),
      redirects: [{ url: `${origin}/start`, status: 303 }],
    },
  ]);
});

void test('refused addresses are there with their reason, and without an answer', async (t) => {
  const strict = await startTestRenderer();
  t.teardown(() => strict.close());
  const html = `<img src="${origin}/new.svg"><img src="https://localhost/a"><p>x</p>`;
  const { resources } = pageOf(await strict.render({ html }));
  t.equal(resources.length, 2);
  for (const each of resources) {
    t.match(each, { bytes: 0, status: undefined, sha256: undefined, error: /./ }, each.url);
    t.notMatch(each.error, /ERR_/, 'in the words of the proxy');
  }
});

void test('console errors are kept, cut and counted, and are of this document only', async (t) => {
  const account = accountId(77);
  const noisy = `<p>x</p><script>console.error('bad', 1, {}); console.log('fine');
    console.assert(false, 'asserted'); setTimeout(() => { throw new Error('late') });
    Promise.reject(new TypeError('lost')); console.error('x'.repeat(1e5))</script>`;
  const { console_errors } = pageOf(await renderer.render({ html: noisy }, {}, 20_000, account));
  t.match(console_errors, [
    { text: 'bad 1 Object', at: 'document:1' },
    { text: 'asserted' },
    { text: /^x{500}$/ },
    { text: /Error: late/, at: 'document:2' },
    { text: /TypeError: lost/ },
  ]);
  const quiet = '<p>y</p><script>document.title = "q"</script>';
  const next = pageOf(await renderer.render({ html: quiet }, {}, 20_000, account));
  t.same(next.console_errors, [], 'nothing of the document before it in the same tab');

  const flood = '<p>x</p><script>for (let i = 0; i < 3000; i++) console.error("n" + i)</script>';
  const flooded = pageOf(await renderer.render({ html: flood }));
  t.equal(flooded.console_errors.length, 50);
  t.equal(flooded.console_errors_left_out, 950, 'of the 1,000 that Chrome keeps');
});

void test('an error whose stack never ends costs its page the tab, not its PDF', async (t) => {
  const trap = `<p>alive</p><script>const e = new Error('x');
    Object.defineProperty(e, 'stack', { get() { for (;;); } }); console.error(e)</script>`;
  t.match((await renderer.pdf({ html: trap })).text, /alive/);
  t.match((await renderer.pdf({ html: '<p>next</p>' })).text, /next/);
});

void test('fonts are those whose glyphs are in the PDF', async (t) => {
  const html = '<p>Latin <b>bold</b> 漢字 😀</p><style>p{font-family:"Liberation Sans"}</style>';
  const { fonts } = pageOf(await renderer.render({ html }));
  t.match(fonts.join(' '), /LiberationSans\b.*LiberationSans-Bold/);
  t.match(fonts.join(' '), /CJK/);
  t.match(fonts.join(' '), /Emoji/);
  t.same(pageOf(await renderer.render({ html: '<hr>' })).fonts, []);
});

void test('waits say what the document was waited for, and what was given up', async (t) => {
  const calm = pageOf(await renderer.render({ html: '<p>x</p><script>1</script>' }));
  t.same(
    calm.waits.map((each) => each.for),
    ['load', 'fonts', 'images'],
  );
  const html =
    '<p id=a>x</p><script>(function f(){requestAnimationFrame=()=>{};setTimeout(f)})()</script>';
  const asked = { selector: '#a', delay_ms: 120, network_idle: true };
  const { waits } = pageOf(await renderer.render({ html, wait_for: asked }));
  t.same(waits.map((each) => each.for).slice(0, 4), ['load', 'selector', 'delay', 'network_idle']);
  t.ok((waits[2]?.ms ?? 0) >= 119);
  const endless = '<p>x</p><style>@font-face{font-family:f;src:url(http://localhost:1/)}</style>';
  t.notOk(pageOf(await renderer.render({ html: endless })).waits.some((each) => each.capped));
});

void test('a manifest never outgrows its bound, and says what it left out', (t) => {
  const url = `https://example.com/${'x'.repeat(2_000)}`;
  const resources = Array.from({ length: 1_000 }, () => ({ url, bytes: 1 }));
  const text = '\u0001'.repeat(500);
  const page = {
    chrome: { product: 'c', revision: 'r', sandboxed: true, flags: [] },
    fonts: Array.from({ length: 100 }, () => '\u0001'.repeat(127)),
    resources,
    resources_left_out: 5,
    tunnels: Array.from({ length: 200 }, () => ({ host: 'h'.repeat(300), bytes: 1 })),
    console_errors: Array.from({ length: 50 }, () => ({ text, at: text })),
    console_errors_left_out: 0,
    waits: [],
  };
  const conversionId = newConversionId(1_000);
  const job = {
    conversionId,
    accountId: accountId(),
    request: blobRef('request'),
    contentKey: '',
    options: OPTIONS,
    retry: false,
  };
  const about = { job, attempt: 1, renderer: 'r', takenAt: 1_250 };
  const parts = { ...about, timings: TIMINGS, pdf: PDF, pages: 1, page };
  const content = composeManifest(parts);
  t.ok(Buffer.byteLength(content) <= MAX_MANIFEST_BYTES, `${Buffer.byteLength(content)} bytes`);
  const manifest = JSON.parse(content) as RenderManifest;
  t.equal(manifest.resources.length + manifest.resources_left_out, 1_005);
  t.equal(manifest.console_errors.length + manifest.console_errors_left_out, 50);
  t.equal(manifest.timings.queue, 250);
  t.end();
});

void test('the node reports the manifest with its outcome', async (t) => {
  const { offer, ended } = await startNode(t);
  const wait_for = { delay_ms: 1 };
  const id = await offer({ html: '<p>an invoice</p>', wait_for });
  const report = await ended(id);
  if (report.kind !== 'completed') throw new Error(`not completed: ${JSON.stringify(report)}`);
  const manifest = JSON.parse(report.manifest) as RenderManifest;
  t.match(manifest, {
    version: 1,
    conversion_id: id,
    renderer: 'test-node',
    attempt: 1,
    options: { wait_for },
    resources: [],
    document: { ...report.pdf, pages: 1 },
    chrome: { product: report.chrome, revision: /^@?[0-9a-f]{40}/ },
    fonts: ['LiberationSerif'],
  });
  t.ok(manifest.chrome.flags.some((flag) => flag.startsWith('--proxy-server=')));
  for (const [phase, ms] of Object.entries(manifest.timings)) t.ok(ms >= 0 && ms < 20_000, phase);
  t.ok(report.manifest.length < 8_000, `${report.manifest.length} bytes for a small document`);
});
