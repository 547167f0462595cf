/** `deterministic`: the same bytes in two Chromes, and nothing of it in documents without. */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { startHttpsServer } from '../support/https.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

const [one, other] = await Promise.all([
  startTestRenderer({ allowPrivateNetwork: true }),
  startTestRenderer({ allowPrivateNetwork: true }),
]);
tap.teardown(() => Promise.all([one.close(), other.close()]));

const worker =
  "postMessage(['worker', Math.random(), Date.now(), new Date().toISOString(), performance.now()].join(' '))";
const PAGE = `<!doctype html><html lang=en><title>Chance</title>
<style>@keyframes grow { from { width: 0 } to { width: 300px } }
  #late { animation: grow 2s 1.1s both linear } #endless { animation: grow 1s infinite alternate } div { height: 9px; background: red }</style>
<div id=late></div><div id=endless></div>
<iframe srcdoc="<p id=f></p><script>f.textContent = 'frame ' + Math.random() + ' ' + Date.now()</script>"></iframe>
<pre id=out></pre><script>
  const say = (...words) => out.append(words.join(' ') + '\\n');
  say('date', new Date().toISOString(), Date(), Date.now(), performance.now(), performance.timeOrigin);
  say('local', Intl.DateTimeFormat('en', { dateStyle: 'short', timeStyle: 'long' }).format(), document.lastModified);
  say('random', Math.random(), crypto.getRandomValues(new Uint8Array(8)), crypto.randomUUID?.());
  say('place', location.href, navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone);
  const start = Date.now();
  while (Date.now() - start < 20);
  say('looped');
  const script = URL.createObjectURL(new Blob([${JSON.stringify(worker)}]));
  new Worker(script).onmessage = ({ data }) => say(data);
  setTimeout(() => say('timer', Date.now() - start), 300);
  let frames = 0;
  (function frame(time) {
    frames += 1;
    if (time < 900) requestAnimationFrame(frame);
    else say('frames', frames);
  })(0);
</script>`;

interface Printed {
  readonly sha256: string;
  readonly text: string;
  readonly fonts: readonly { readonly name: string; readonly sha256: string }[];
  readonly created: unknown;
}

async function print(
  renderer: typeof one,
  request: RequestDocument,
  options: Partial<PrintOptions>,
): Promise<Printed> {
  const result = await renderer.render(request, options, undefined, accountId());
  if (result.kind !== 'completed') throw new Error(result.message);
  const { pages, info } = await openPdf(result.path);
  return {
    sha256: createHash('sha256')
      .update(await readFile(result.path))
      .digest('hex'),
    text: pages.map(({ text }) => text).join('\n'),
    fonts: result.page.font_files ?? [],
    created: info['CreationDate'],
  };
}

const numbers = ({ text }: Printed): string => /random (.*)/.exec(text)?.[1] ?? '';

const both = async (request: RequestDocument, options: Partial<PrintOptions>) =>
  await Promise.all([print(one, request, options), print(other, request, options)]);

void test('time, chance and place are fixed, in frames and workers too', async (t) => {
  const request = { html: PAGE, header_html: '<b class="date"></b>' };
  const options = { deterministic: true, print_background: true };
  const [first, second] = await both(request, options);
  t.equal(first.sha256, second.sha256, 'two Chromes write the same bytes');
  t.equal((await print(one, request, options)).sha256, first.sha256, 'and once more');
  for (const told of [
    '1/1/00, 12:00',
    'date 2000-01-01T00:00:00.000Z Sat Jan 01 2000 00:00:00',
    '946684800000 0 946684800000',
    'local 1/1/00, 12:00:00',
    '01/01/2000 00:00:00',
    'place http://the.document.invalid/ en-US UTC',
    'looped',
    'timer 3',
  ]) {
    t.ok(first.text.replaceAll('\u202f', ' ').includes(told), told);
  }
  t.match(first.text, /frame 0\.\d+ 946684800000/);
  t.match(first.text, /worker 0\.\d+ 946684800000 2000-01-01T00:00:00\.000Z 0/);
  t.equal(first.created, "D:20000101000000+00'00'");
  t.match(first.fonts, [{ name: String, sha256: /^[0-9a-f]{64}$/ }], 'the files of its fonts');
  const later = await print(one, request, {
    ...options,
    deterministic_time: '2026-11-26T12:00:00+01:00',
  });
  t.match(later.text, '2026-11-26T11:00:00.000Z');
  t.equal(later.created, "D:20261126110000+00'00'");
  t.not(numbers(later), numbers(first), 'another request has other numbers');
  const place = { timezone: 'Pacific/Chatham', locale: 'de-DE' };
  const [elsewhere, there] = await both(request, { ...options, ...place });
  t.equal(elsewhere.sha256, there.sha256);
  t.match(elsewhere.text, /^1\/1\/00, 1:45\sPM/m);
  t.match(elsewhere.text, /01\/01\/2000 13:45:00/, 'also the date of a document that has none');
  t.match(elsewhere.text, /invalid\/ de-DE Pacific\/Chatham/);
});

void test('chance is fixed on a page over https, which has more of it', async (t) => {
  const page =
    '<p id=p></p><script>p.textContent = ["id", crypto.randomUUID(), crypto.randomUUID(), Math.random()].join(" ")</script>';
  const server = await startHttpsServer((_, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(page);
  });
  t.teardown(() => server.close());
  const secure = await startTestRenderer({
    allowPrivateNetwork: true,
    chromePath: await server.chrome(),
  });
  t.teardown(() => secure.close());
  const request = { url: `https://localhost:${server.port}/` };
  const options = { deterministic: true };
  const first = await print(secure, request, options);
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
  const [, id, nextId] = new RegExp(`id (${uuid}) (${uuid})`).exec(first.text) ?? [];
  t.ok(id, first.text);
  t.not(id, nextId);
  t.equal((await print(secure, request, options)).text, first.text);
});

void test('waits go by the clock of the page, however long', async (t) => {
  const html = `<p>x</p><script>
    setTimeout(() => document.body.append('three seconds ' + performance.now()), 3000);
    setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id=there>five seconds'), 5000);
  </script>`;
  const options = { deterministic: true };
  const delayed = await both({ html, wait_for: { delay_ms: 3_500 } }, options);
  t.match(delayed[0].text, /three seconds 3\d\d\d/);
  t.notMatch(delayed[0].text, /five/);
  const selected = await both({ html, wait_for: { selector: '#there' } }, options);
  t.match(selected[0].text, /five/);
  for (const [first, second] of [delayed, selected]) t.equal(first.sha256, second.sha256);
});

void test('nor do they end sooner for a page that is busy for longer than scripts may run ahead', async (t) => {
  // The work of some seconds, in real time.
  const html = `<p>x</p><script>
    const work = () => { for (let i = 0; i < 7e8; i += 1); };
    for (let ms = 300; ms < 3000; ms += 200) setTimeout(work, ms);
    setTimeout(() => document.body.append('three seconds'), 3000);
  </script>`;
  const request = { html, wait_for: { delay_ms: 3_500 } };
  const result = await one.render(request, { deterministic: true }, 90_000);
  if (result.kind !== 'completed') throw new Error(result.message);
  t.match((await openPdf(result.path)).text, 'three seconds');
});

void test('a page of a server, with frames of another site', async (t) => {
  const chance =
    '<script>document.write(Math.random(), " ", Date.now(), " ", document.lastModified)</script>';
  const server = createServer(({ url, headers }, response) => {
    const modified = url === '/old' ? { 'Last-Modified': 'Tue, 03 Mar 2020 10:00:00 GMT' } : {};
    response.writeHead(200, { 'Content-Type': 'text/html', ...modified });
    const port = String(headers.host).split(':')[1];
    response.end(
      url === '/' ? `${chance}<iframe src="http://localhost:${port}/old"></iframe>` : chance,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const [first, second] = await both({ url }, { deterministic: true });
  t.equal(first.sha256, second.sha256);
  t.match(first.text, /946684800000\s+01\/01\/2000 00:00:00/);
  t.match(first.text, /946684800000\s+03\/03\/2020 10:00:00/, "a server's date stays");
});

void test('documents without it have the time of day and chance', async (t) => {
  const html = '<p id=p></p><script>p.textContent = Date.now() + " " + Math.random()</script>';
  const account = accountId();
  const text = async (options: Partial<PrintOptions>): Promise<string> =>
    (await one.pdf({ html }, options, account)).pages[0]?.text ?? '';
  const before = Date.now();
  const texts = [
    await text({}),
    await text({ deterministic: true }),
    await text({}),
    await text({}),
  ];
  t.match(texts[1], /^946684800000 /);
  for (const each of [texts[0], texts[2], texts[3]])
    t.ok(Number.parseInt(each ?? '', 10) >= before);
  t.equal(new Set(texts).size, 4);
});
