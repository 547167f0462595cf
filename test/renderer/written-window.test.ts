/** HTML in the window that waits for it: what its scripts do there changes neither how it loads nor what follows it. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { startTestRenderer } from '../support/renderer.ts';
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

void test("a page's own time limit for an answer leaves the answer its time", async (t) => {
  const load = `setTimeout(async () => {
    const limit = new AbortController();
    setTimeout(() => limit.abort(), 600);
    try {
      p.textContent = await (await fetch('data.txt', { signal: limit.signal })).text();
    } catch {
      p.textContent = 'gave up';
    }
  }, 100)`;
  const html = '<p id=p>waiting</p><script src=app.js></script>';
  const files = encoded({ 'app.js': load, 'data.txt': 'answered' });
  t.match((await renderer.pdf({ html, files })).text, /^answered/);
});

/** A PDF but for the moment of its making. */
async function digest(request: RequestDocument, account: string): Promise<string> {
  const pdf = await renderer.bytes(request, {}, account);
  const text = pdf.toString('latin1').replace(/\/(Creation|Mod)Date \(D:[^)]*\)/g, '');
  return createHash('sha256').update(text, 'latin1').digest('hex');
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
