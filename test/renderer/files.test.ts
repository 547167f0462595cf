/** The files that come with HTML: what a page can do with them, and who else cannot. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import tap, { test } from 'tap';
import type { RenderResult } from '../../src/renderer/messages.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';
import { systemFont } from '../support/system-font.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const base64 = (content: string | Buffer): string => Buffer.from(content).toString('base64');
const encoded = (files: Readonly<Record<string, string | Buffer>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [name, base64(content)]));
const svg = (colour: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="${colour}"/></svg>`;

function pageOf(result: RenderResult) {
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return result.page;
}

const STYLE = `@import "more/colours.css";
@font-face { font-family: Own; src: url(fonts/own.ttf) }
body { font: 20px Own, monospace } h1 { color: #aa0011 }
div { width: 50px; height: 50px; background: url("img/a%20b.svg") no-repeat }`;
const FILES = encoded({
  'css/style.css': STYLE,
  'css/more/colours.css': 'p { color: #00bb22 }',
  'css/fonts/own.ttf': readFileSync(systemFont('LiberationSerif-Italic.ttf')),
  'css/img/a b.svg': svg('#0000cc'),
  'grün.svg': svg('#123456'),
  'no-extension': svg('#ffffff'),
  'app.js': `import { word } from './lib/word.mjs'; import data from './data.json' with { type: 'json' };
    const text = await (await fetch('text.txt?x=1')).text();
    const worker = new Worker('worker.js');
    const fromWorker = await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) });
    document.querySelector('p').textContent = [word, data.n, text, fromWorker].join();
    document.body.id = 'done';`,
  'lib/word.mjs': 'export const word = "module";',
  'data.json': '{"n":42}',
  'text.txt': 'grüße',
  'worker.js': 'fetch("text.txt").then((r) => r.text()).then((text) => postMessage(text.length))',
  'part.html': '<p>in a frame</p><img src="grün.svg">',
});
const HTML = `<!doctype html><link rel="stylesheet" href="css/style.css"><h1>Title</h1><div></div><p>?</p>
  <img src="gr%C3%BCn.svg"><iframe src="./part.html"></iframe><script type="module" src="/app.js"></script>`;

void test('style sheets, images, fonts, modules, workers and frames come out of the files', async (t) => {
  const request = { html: HTML, files: FILES, wait_for: { selector: '#done' } };
  const options = { print_background: true };
  const pdf = await renderer.pdf(request, options);
  t.match(pdf.text, /Title[^]*module,42,grüße,5[^]*in a frame/);
  const fills = pdf.pages[0]?.fills;
  for (const colour of ['#aa0011', '#00bb22', '#0000cc', '#123456'])
    t.ok(fills?.has(colour), colour);

  const page = pageOf(await renderer.render(request, options));
  t.match(page.fonts.join(), /LiberationSerif-Italic/);
  t.strictSame(page.console_errors, []);
  const expected: [url: string, name: string, type: string][] = [
    ['css/style.css', 'css/style.css', 'text/css'],
    ['css/more/colours.css', 'css/more/colours.css', 'text/css'],
    ['css/fonts/own.ttf', 'css/fonts/own.ttf', 'font/ttf'],
    ['css/img/a%20b.svg', 'css/img/a b.svg', 'image/svg+xml'],
    ['lib/word.mjs', 'lib/word.mjs', 'text/javascript'],
    ['data.json', 'data.json', 'application/json'],
    ['text.txt?x=1', 'text.txt', 'text/plain'],
  ];
  for (const [url, name, type] of expected) {
    const content = Buffer.from(FILES[name] ?? '', 'base64');
    t.match(
      page.resources.find((each) => each.url === url),
      {
        status: 200,
        type,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
        hashed: 'received',
        error: undefined,
      },
      name,
    );
  }
});

void test('what did not come with the page is told by its relative URL', async (t) => {
  const html = `<link rel=stylesheet href="gone.css"><img src="img/a.svg"><p>x</p>
    <form method=post action="a.txt" target=f><iframe name=f></iframe></form>
    <script>document.forms[0].submit(); console.error('from', location.href + 'a.txt')</script>`;
  for (const files of [undefined, encoded({ 'a.txt': 'a', 'a.svg': svg('#000000') })]) {
    const request = { html, ...(files && { files }) };
    const { resources, console_errors } = pageOf(await renderer.render(request));
    for (const url of ['gone.css', 'img/a.svg', 'a.txt']) {
      const error = 'No file of this name came with the page.';
      const found = resources.find((each) => each.url === url);
      t.match(found, { bytes: 0, status: undefined, sha256: undefined, error }, url);
    }
    t.match(console_errors, [{ text: 'from a.txt', at: /^document:/ }]);
  }
});

void test('files may be as large as a request', async (t) => {
  const html = `<p id=p>?</p><script>
    fetch('large.txt').then((r) => r.text()).then((text) => { p.textContent = text.length; p.id = 'done'; });
    </script>`;
  const files = { 'large.txt': base64(Buffer.alloc(7_500_000, 'x')) };
  const pdf = await renderer.pdf({ html, files, wait_for: { selector: '#done' } });
  t.match(pdf.text, /^7500000$/);
});

void test('files are for their own document, whoever asks later', async (t) => {
  const secret = {
    'secret.svg': base64(svg('#123123')),
    'say.js': base64('document.write(location.host)'),
  };
  const html = '<img src="secret.svg"><script src="say.js"></script>';
  const first = await renderer.pdf({ html, files: secret }, {}, accountId(1));
  t.ok(first.pages[0]?.fills.has('#123123'));
  const host = first.text.trim();
  t.match(host, /^[0-9a-f]+\.[0-9a-f]+\.invalid$/);
  const spy = `<p id=p>?</p><img src="http://${host}/secret.svg" onload="p.textContent='seen'" onerror="p.textContent='refused'">
    <img src="secret.svg">`;
  for (const account of [accountId(1), accountId(2), accountId(1)]) {
    for (const files of [{}, { files: { 'other.svg': secret['secret.svg'] } }]) {
      const later = await renderer.pdf({ html: spy, ...files }, {}, account);
      t.match(later.text, /refused/);
      t.notOk(later.pages[0]?.fills.has('#123123'));
    }
  }
});

void test('documents of two accounts at a time see their own files alone', async (t) => {
  const two = await startTestRenderer({ concurrency: 2 });
  t.teardown(() => two.close());
  const html = '<link rel=stylesheet href=style.css><p>x</p>';
  const render = async (n: number): Promise<void> => {
    const colour = `#0000${(16 + n).toString(16)}`;
    const files = encoded({ 'style.css': `p { color: ${colour} }` });
    const pdf = await two.pdf({ html, files }, {}, accountId(n % 2));
    t.strictSame(
      [...(pdf.pages[0]?.fills ?? [])].filter((each) => each !== '#000000'),
      [colour],
    );
  };
  for (let n = 0; n < 6; n += 2) await Promise.all([render(n), render(n + 1)]);
});

void test('a saved site may name a style sheet or a script as its server did', async (t) => {
  const html = `<!doctype html><link rel=stylesheet href=style.php><p>?</p><script src=code.ts></script>`;
  const files = encoded({
    'style.php': 'p { color: #cc5500 }',
    'code.ts': "document.querySelector('p').textContent = 'it ran'",
  });
  const pdf = await renderer.pdf({ html, files });
  t.match(pdf.text, /it ran/);
  t.ok(pdf.pages[0]?.fills.has('#cc5500'));
});
