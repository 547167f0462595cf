/** What pages do, and how each ends: real Chrome, a real server on loopback. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const seen: { url: string; headers: NodeJS.Dict<string | string[]> }[] = [];
const held: ServerResponse[] = [];
const respond = (
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: NodeJS.Dict<string> = {},
): void => {
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(body);
};

const server = createServer((request, response) => {
  const url = request.url ?? '';
  seen.push({ url, headers: request.headers });
  const html = 'text/html; charset=utf-8';
  if (url === '/titled') respond(response, 200, html, '<title>of a URL</title><p>x</p>');
  else if (url === '/untitled?token=secret') respond(response, 200, html, '<h1>A heading</h1>');
  else if (url === '/blank?token=secret') respond(response, 200, html, '<img>');
  else if (url === '/page') respond(response, 200, html, '<p>a page</p>');
  else if (url === '/with-image') respond(response, 200, html, '<p>here</p><img src="/endless">');
  else if (url === '/endless') held.push(response);
  else if (url === '/missing') respond(response, 404, html, '<p>not there</p>');
  else if (url === '/broken') respond(response, 503, html, '');
  else if (url === '/json') respond(response, 200, 'application/json', '{}');
  else if (url === '/pdf') respond(response, 200, 'application/pdf', '%PDF-1.4');
  else if (url === '/nothing') response.writeHead(204).end();
  else if (url === '/xhtml') {
    const body = '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>strict</p></body></html>';
    respond(response, 200, 'application/xhtml+xml', body);
  } else if (url === '/download') {
    respond(response, 200, html, 'x', { 'Content-Disposition': 'attachment; filename=a.html' });
  } else if (url === '/loop') respond(response, 302, html, '', { Location: '/loop' });
  else if (url === '/away') respond(response, 302, html, '', { Location: `${other}/page` });
  else if (url === '/near') respond(response, 302, html, '', { Location: '/page' });
  else if (url === '/to-404') {
    respond(response, 200, html, '<script>location.replace("/missing")</script>');
  } else if (url === '/closed') request.socket.destroy();
  else if (url === '/silent') held.push(response);
  else if (url === '/cookies') {
    respond(response, 200, html, `<p>${request.headers.cookie ?? 'none'}</p>`);
  } else if (url === '/slow-data')
    setTimeout(() => respond(response, 200, 'text/plain', 'late'), 300);
  else respond(response, 404, 'text/plain', '');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;
const other = `http://localhost:${port}`;
tap.teardown(() => {
  server.closeAllConnections();
  server.close();
});

void test('a URL is rendered, also after redirects and as XHTML', async (t) => {
  t.match((await renderer.pdf({ url: `${origin}/page` })).text, /a page/);
  t.match((await renderer.pdf({ url: `${origin}/near` })).text, /a page/);
  t.match((await renderer.pdf({ url: `${origin}/xhtml#part` })).text, /strict/);
});

const script = (text: string): string => `<title>a</title><p>x</p><script>${text}</script>`;

void test('the title is that of the page when it was printed', async (t) => {
  const titles: readonly [html: string, title: string][] = [
    ['<title> Invoice\n 4711 </title><p>x</p>', 'Invoice 4711'],
    ['', ''],
    [script('document.title = "later"; setTimeout(() => { document.title += "!" }, 50)'), 'later!'],
    ['<title>covered</title><img name="title"><form name="title"></form>', 'covered'],
    [script('Object.defineProperty(document, "title", { get() { throw 1 } })'), 'a'],
    [script('document.title = "x".repeat(1e6)'), 'x'.repeat(1000)],
    ['<title>&lt;b>مرحبا 🂡</title><p>x</p>', '<b>مرحبا 🂡'],
    // It is asked for after the printing, and only so long.
    [script('onafterprint = () => { for (;;); }'), ''],
  ];
  for (const [html, title] of titles) {
    for (const javascript of html.includes('script') ? [true] : [true, false]) {
      const result = await renderer.render({ html }, { javascript });
      t.match(result, { kind: 'completed', title }, html);
    }
  }
  const url = await renderer.render({ url: `${origin}/titled` });
  t.match(url, { kind: 'completed', title: 'of a URL' });
});

/** Text for screen readers alone, as style sheets of many sites hide it. */
const CLIPPED = 'position:absolute;width:1px;height:1px;overflow:hidden';
const long = (word: string): string => `${word} `.repeat(60);

void test('a page without a title is named by what it shows', async (t) => {
  const names: readonly [html: string, name: string][] = [
    ['<p>Dear Ann</p><h2>Invoice\n <b>4711</b></h2><h1>Later</h1>', 'Invoice 4711'],
    ['<title> </title><h1>Report</h1>', 'Report'],
    ['<title>&#8203;&#xfeff;</title><h1>Report</h1>', 'Report'],
    ['<h1 style="display:none">Hidden</h1><h1><img></h1><h3>Shown</h3>', 'Shown'],
    [
      '<style>@media print { .m { display: none } }</style><h1 class=m>Menu</h1><h2>Text</h2>',
      'Text',
    ],
    ['<h1 style="text-transform:uppercase">offer</h1>', 'OFFER'],
    ['<div role=heading>Role</div>', 'Role'],
    [
      `<a style="${CLIPPED}">Skip to content</a><p>Dear <b>A</b>nn,</p><p>thank you`,
      'Dear Ann, thank you',
    ],
    [
      '<p style="visibility:hidden">a</p><p style="opacity:0">b</p><p style="margin-left:-9999px">c</p><p>d',
      'd',
    ],
    ['plain <i>words</i> alone', 'plain words alone'],
    [`<h1>${long('heading')}</h1>`, `${'heading '.repeat(12).trim()}…`],
    [`<p>${long('word').repeat(100)}`, `${'word '.repeat(19).trim()}…`],
    [`<h1>${'🂡'.repeat(80)}</h1>`, `${'🂡'.repeat(49)}…`],
    ['<form><input name=parentElement><input name=innerText><h1>Form</h1></form>', 'Form'],
    ['<x-a><template shadowrootmode=open><h1>In the shadow</h1></template></x-a>', 'In the shadow'],
    ['<svg width=99 height=20><text y=15>Drawn</text></svg>', 'Drawn'],
  ];
  for (const [html, name] of names) {
    const result = await renderer.render({ html });
    t.equal(result.kind === 'completed' && result.title, name, html.slice(0, 200));
  }
  for (const [path, name] of [
    ['untitled', 'A heading'],
    ['blank', ''],
  ] as const) {
    const result = await renderer.render({ url: `${origin}/${path}?token=secret` });
    t.equal(result.kind === 'completed' && result.title, name, 'no address becomes a name');
  }
});

void test('what is no page fails and says why', async (t) => {
  const cases: Record<string, [code: string, message: RegExp]> = {
    '/missing': ['page_status', /status 404/],
    '/broken': ['page_status', /status 503/],
    '/to-404': ['page_status', /status 404/],
    '/json': ['not_html', /application\/json/],
    '/pdf': ['not_html', /application\/pdf/],
    '/download': ['not_html', /download of type text\/html/],
    '/nothing': ['not_html', /204/],
    '/loop': ['navigation_failed', /redirects too many times/],
    '/closed': ['navigation_failed', /connection/],
  };
  for (const [path, [code, message]] of Object.entries(cases)) {
    const result = await renderer.render({ url: origin + path });
    t.match(result, { kind: 'failed', code, message }, path);
    t.notMatch(result, { message: /127\.0\.0\.1|net::|ERR_/ }, `${path} names nothing internal`);
  }
  const refused = await renderer.render({ url: 'http://localhost:9099/' });
  t.match(refused, { kind: 'failed', code: 'navigation_failed', message: /refused/ });
  const unknown = await renderer.render({ url: 'https://no-such-name.invalid/' });
  t.match(unknown, { kind: 'failed', code: 'navigation_failed', message: /name/ });
  t.same(await renderer.files().then((names) => names.length > 0), true, 'completed ones remain');
});

void test('headers go to the origin of the document only, cookies where they belong', async (t) => {
  seen.length = 0;
  const headers = { 'X-Secret': 'hush', 'Accept-Language': 'cs' };
  const result = await renderer.render({ url: `${origin}/away`, headers });
  t.equal(result.kind, 'completed');
  const [first, second] = seen;
  t.match(first, { url: '/away', headers: { 'x-secret': 'hush', 'accept-language': 'cs' } });
  t.equal(second?.url, '/page');
  t.notOk(second?.headers['x-secret'], 'a redirect to another origin carries none of them');

  const cookies = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2', domain: '127.0.0.1', http_only: true, same_site: 'Lax' as const },
    { name: 'c', value: '3', domain: 'elsewhere.example' },
  ];
  t.match((await renderer.pdf({ url: `${origin}/cookies`, cookies })).text, /^a=1; b=2$/);
  t.match((await renderer.pdf({ url: `${origin}/cookies` })).text, /^none$/, 'nothing is kept');
});

const fetching = (path: string): string =>
  `<p id=p>waiting</p><script>onload=()=>fetch('${origin}${path}',{mode:'no-cors'}).then(()=>p.textContent='fetched')</script>`;

void test('the address of another host is never answered with the HTML, whatever its path is', async (t) => {
  const code = `if (location.host.endsWith('.invalid')) location = '${origin}/' + location.host + '/'; else p.textContent = 'answered as ' + location.host`;
  const result = await renderer.render({ html: `<p id=p>own</p><script>${code}</script>` });
  t.match(result, { kind: 'failed', code: 'page_status', message: /404/ });
});

/** Tells what a script sees of where it is and how it came there. */
const WHERE = `<p id=p></p><script src=late.js></script><script>
  const seen = { length: history.length, referrer: document.referrer, mode: document.compatMode, set: document.characterSet };
  seen.host = location.host.endsWith('.invalid') && location.pathname;
  onload = () => {
    seen.parts = performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname);
    setTimeout(() => { p.textContent = JSON.stringify(seen) + late; }, 500);
  };
</script>`;

void test('HTML of more than a mebibyte is printed as a smaller one is', async (t) => {
  const files = { 'late.js': Buffer.from("const late = 'from a file'").toString('base64') };
  const texts: string[] = [];
  for (const bytes of [0, 1_100_000]) {
    const html = `\uFEFF<!doctype html><title>Größe</title>${WHERE}<!--${'é'.repeat(bytes)}--><p>the end`;
    const request = { html, files, fail_on: ['console_error', 'timeout'] as const };
    texts.push((await renderer.pdf(request)).text);
  }
  const [small = '', large] = texts;
  t.match(small, /from a file/);
  t.match(small, /the end/);
  t.equal(large, small);
  const again = `<p>loaded <span id=n></span><script>n.textContent = location.search || 'first';
    if (location.search === '') location.search = '?again'</script><!--${'x'.repeat(1_100_000)}-->`;
  t.match((await renderer.pdf({ html: again })).text, /loaded \?again/);
});

void test('headers reach a URL that is printed after HTML of its account, in the same tab', async (t) => {
  const account = accountId(7);
  for (let time = 0; time < 2; time += 1) {
    t.match((await renderer.pdf({ html: '<p>own' }, {}, account)).text, /own/);
  }
  seen.length = 0;
  const request = { url: `${origin}/page`, headers: { 'X-Secret': 'hush' } };
  t.match((await renderer.pdf(request, {}, account)).text, /a page/);
  t.match(seen[0], { url: '/page', headers: { 'x-secret': 'hush' } });
});

void test('waits: selector, delay, network idle', async (t) => {
  const late =
    '<p>now</p><script>setTimeout(()=>document.body.insertAdjacentHTML("beforeend","<p id=late>later</p>"),400)</script>';
  const atOnce = { html: late.replace('400', '9000'), wait_for: { budget_ms: 0 } };
  t.notMatch((await renderer.pdf(atOnce)).text, /later/);
  t.match((await renderer.pdf({ html: late, wait_for: { selector: '#late' } })).text, /later/);
  t.match((await renderer.pdf({ html: late, wait_for: { delay_ms: 600 } })).text, /later/);
  const missing = { html: late, wait_for: { selector: '#never' } };
  t.match(await renderer.render(missing, {}, 8_000), {
    kind: 'failed',
    code: 'selector_missing',
    message: /#never/,
  });
  const invalid = { html: late, wait_for: { selector: ':::' } };
  t.match(await renderer.render(invalid), { code: 'selector_missing', message: /not valid CSS/ });

  const idle = { wait_for: { network_idle: true } };
  t.match((await renderer.pdf({ html: fetching('/slow-data'), ...idle })).text, /fetched/);
  const endless = await renderer.render({ html: fetching('/endless'), ...idle }, {}, 12_000);
  t.equal(endless.kind, 'completed', 'a request that never ends does not hold up the document');
});

void test('a server that never answers ends in a timeout', async (t) => {
  t.match(await renderer.render({ url: `${origin}/silent` }, {}, 1_000), { code: 'timeout' });
});

void test('a page whose load event never comes prints with what is there', async (t) => {
  const open =
    '<body><script>onload=()=>{document.open();document.write("<p>open end</p>")}</script>';
  t.match(await renderer.render({ html: open }, {}, 12_000), { kind: 'completed' });
  t.match(await renderer.render({ url: `${origin}/with-image` }, {}, 12_000), {
    kind: 'completed',
  });
});

void test('charts, observers, fonts and lazy images are there when it prints', async (t) => {
  const html = `<p id=f></p><p id=r></p><div style="height:3000px"></div>
    <img loading=lazy width=20 height=20 onload="document.title='lazy loaded'" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='20' height='20'/%3E">
    <style>@font-face{font-family:gone;src:url(http://localhost:1/gone.woff2)}p{font-family:gone,serif}</style>
    <script>requestAnimationFrame(()=>f.textContent='framed');
    new ResizeObserver(()=>r.textContent='resized').observe(f)</script>`;
  const pdf = await renderer.pdf({ html });
  t.match(pdf.text, /framed\s*resized/);
  t.equal(pdf.info['Title'], 'lazy loaded');
});

void test('a frame that could not be loaded is empty on paper', async (t) => {
  const frames = ['http://no-such-host.invalid/', 'http://127.0.0.1:1/'].map(
    (url) => `<iframe src="${url}"></iframe>`,
  );
  t.match((await renderer.pdf({ html: `<p>a</p>${frames.join('')}<p>b</p>` })).text, /^a\s*b$/);
});
