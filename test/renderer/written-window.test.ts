/** HTML in the window that waits for it: it loads as a page does, is always printed the same, and leaves nothing. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { launchChrome } from '../../src/renderer/browser/launch.ts';
import { Deadline } from '../../src/renderer/chrome/deadline.ts';
import { openTab, openWindow } from '../../src/renderer/chrome/window.ts';
import { startEgressProxy } from '../../src/renderer/egress/proxy.ts';
import { testDirectory } from '../support/directory.ts';
import { installedChrome, startTestRenderer } from '../support/renderer.ts';
import { comparable, visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const encoded = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  );
const script = (code: string): string => `<script>${code}</script>`;

const OWN_ADDRESS: Readonly<Record<string, string>> = {
  'a hash': "location.hash = 'part'",
  'another path': "history.replaceState(null, '', '/route')",
  'a state': "history.pushState({ seen: true }, '')",
};

for (const [name, code] of Object.entries(OWN_ADDRESS)) {
  void test(`a page that gives its address ${name} while it loads, loads on`, async (t) => {
    const html = `<p id=p>first</p>${script(code)}<script src=/late.js></script>`;
    const files = encoded({ 'late.js': "p.textContent = 'loaded'" });
    const result = await renderer.render({ html, files, fail_on: ['timeout', 'resource_error'] });
    t.match(result, { kind: 'completed' });
  });
}

/** Its load event takes a moment after the first listeners have heard of it, as it may on a busy machine. */
const SLOW_LOAD = `addEventListener('DOMContentLoaded', () => addEventListener('load', () => {
  for (const end = performance.now() + 100; performance.now() < end; );
}))`;

void test('the load event of an empty window is over before a document can be written', async (t) => {
  const chrome = await launchChrome({ path: await installedChrome(), directory: testDirectory(t) });
  t.teardown(() => chrome.end());
  let late = 0;
  for (let windows = 0; windows < 20; windows += 1) {
    const proxy = await startEgressProxy({ allowPrivateNetwork: false, extraPorts: [] });
    const tab = await openTab(chrome.connection, 'html', proxy);
    tab.begin(new Deadline(30_000));
    await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: SLOW_LOAD });
    await openWindow(tab);
    tab.on('Page.lifecycleEvent', ({ name, loaderId }) => {
      if (name === 'load' && loaderId === tab.window?.loaderId) late += 1;
    });
    // Its answer comes after all that the window still has to say.
    await tab.send('Emulation.setEmulatedMedia', { media: 'print' });
    await tab.close();
  }
  t.equal(late, 0);
});

let accounts = 100;
const newAccount = (): string => accountId((accounts += 1));

/** A PDF but for the moment of its making. */
async function digest(request: RequestDocument, account: string = newAccount()): Promise<string> {
  const pdf = comparable(await renderer.bytes(request, {}, account));
  return createHash('sha256').update(pdf, 'latin1').digest('hex');
}

const FOREIGN = String.raw`\u76f4\u9aa8\u89d2 \u6f22\u5b57`;
/** Text in a script's escapes is in no node of the document. */
const UNSEEN: Readonly<Record<string, string>> = {
  'a canvas': `<canvas id=c></canvas>${script(`c.getContext('2d').fillText('${FOREIGN}', 10, 50)`)}`,
  'a field beside the paper': `<input id=i style="position: absolute; left: -9999px">${script(`i.value = '${FOREIGN}'`)}`,
  'a text that was removed': `<p id=p>x</p>${script(`p.textContent = '${FOREIGN}'; p.offsetWidth; p.textContent = 'x'`)}`,
};

void test('fonts that were found for a text that is not on paper serve no later document', async (t) => {
  const after = { html: '<!doctype html><html lang=ko><p>直骨角 漢字</p>' };
  const fresh = await digest(after, accountId(1));
  for (const [index, [what, body]] of Object.entries(UNSEEN).entries()) {
    const account = accountId(10 + index);
    // The tab of an account that comes once is not kept.
    await digest({ html: '<p>first</p>' }, account);
    await digest({ html: `<!doctype html><html lang=ja>${body}` }, account);
    t.equal(await digest(after, account), fresh, what);
  }
});

const inBase64 = (content: string): string =>
  `data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`).toString('base64')}`;

void test('links, comments and pictures of the document itself fetch nothing', async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const inside = inBase64(
    `<style>@import "${url}"; rect { fill: url(${url}) }</style><image href="${url}"/><script href="${url}"/>` +
      `<filter id="f"><feImage href="${url}"/></filter><foreignObject><img src="${url}"/></foreignObject>`,
  );
  const documents = [
    `<img src="${inside}"><p style="background:url('${inside}')">`,
    `<p style="filter:url('${inside}#f')">a<p style="mask:url('${inside}#f')">b<p style="clip-path:url('${inside}#f')">c`,
    `<a href="${url}">a</a><form action="${url}"><input value=a><button>b</button></form>`,
    `<!-- <img src="${url}"> --><title>&lt;img src="${url}"&gt;</title><p title='<img src="${url}">'>`,
    `<o:img src="data:image/png,"></o:img><math><mi data-src="${url}">x</mi></math>`,
    `<meta name=a content="${url}"><p>&lt;script src="${url}"&gt;</p>`,
    `<svg xmlns:a="${url}"><use href="#b"/><a href="#b"><text>a</text></a></svg>`,
  ];
  const account = newAccount();
  for (const html of documents) {
    await digest({ html }, account);
    const result = await renderer.render({ html }, {}, undefined, account);
    t.equal(result.kind, 'completed');
    if (result.kind === 'completed') t.same(result.page.resources, [], html.slice(0, 60));
  }
  t.equal(requests, 0);
});

void test('what Chrome draws in another way before its first frame is always printed the same', async (t) => {
  const far = '<div style="height:800px">b</div>';
  const documents = [
    `<div style="position:relative;height:1000px">a<div style="position:absolute;bottom:0;transform:translateY(40px)">b</div></div>${far}`,
    `<style>.a { backface-visibility: hidden; transform: translateZ(0) }</style><div class=a style="height:1500px">a<p class=a>b</div>${far}`,
    `<style>.a { transform-style: preserve-3d }</style><div class=a style="height:1500px">a<p class=a>b</div>${far}`,
  ];
  const account = newAccount();
  for (const html of documents) {
    const first = await renderer.bytes({ html }, {}, newAccount());
    for (let time = 0; time < 5; time += 1) {
      const again = await renderer.bytes({ html }, {}, account);
      t.equal(await visibleDifference(first, again), undefined, html.slice(0, 80));
    }
  }
});

/** What a page sends at its end, in ways that outlive it. */
const LAST_WORDS: Readonly<Record<string, string>> = {
  'when it is hidden':
    "onpagehide = () => { for (let n = 0; n < 20; n += 1) navigator.sendBeacon(ORIGIN + '/last', 'x') }",
  'after it was printed':
    "onafterprint = () => setTimeout(() => { for (let n = 0; n < 20; n += 1) fetch(ORIGIN + '/last', { keepalive: true }) })",
};

void test('what a page sends as it is left is not of another document', async (t) => {
  const server = createServer((_, response) => void response.end());
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const [index, [when, code]] of Object.entries(LAST_WORDS).entries()) {
    const account = accountId(40 + index);
    const html = `<p>x</p>${script(`const ORIGIN = '${origin}'; ${code}`)}`;
    // The tab of an account that comes once is not kept.
    await renderer.render({ html: '<p>first</p>' }, {}, undefined, account);
    await renderer.render({ html }, {}, undefined, account);
    for (const other of [accountId(50), account]) {
      const next = await renderer.render({ html: '<p>next</p>' }, {}, undefined, other);
      t.match(next, { kind: 'completed', page: { resources: [] } }, when);
    }
  }
});
