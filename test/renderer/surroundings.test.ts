/** Papers of any size, and what a page finds around it. The next document of its account finds none of that. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { png } from '../support/tiny-images.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const near = (found: number | undefined, wanted: number): boolean =>
  Math.abs((found ?? Number.NaN) - wanted) <= 1;
const printed = async (
  request: RequestDocument,
  options: Partial<PrintOptions> = {},
): Promise<string> => (await renderer.pdf(request, options)).text.replaceAll(/\s+/g, ' ');

/** Asks a window or worker for its surroundings. */
const LOOK = `[Intl.DateTimeFormat().resolvedOptions().timeZone, new Date(1e12).getHours(), navigator.language,
  (1234.5).toLocaleString()].join(' ')`;
const LOOK_OF_WINDOW = `${LOOK} + ' ' + [innerWidth, innerHeight, devicePixelRatio,
  matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'].join(' ')`;
const look = `<p id=window></p><p id=worker></p><script>
  document.getElementById('window').textContent = ${LOOK_OF_WINDOW};
  const asked = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(`postMessage(${LOOK})`)}])));
  asked.onmessage = ({ data }) => { worker.textContent = 'worker ' + data; worker.className = 'told' };
</script>`;

const SURROUNDINGS = {
  timezone: 'Pacific/Chatham',
  locale: 'de-DE',
  color_scheme: 'dark',
  viewport: { width: 1280, height: 720, device_scale_factor: 2 },
} as const;
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;
const PLAIN = `${HERE} ${new Date(1e12).getHours()} en-US 1,234.5`;
const CHANGED = 'Pacific/Chatham 14 de-DE 1.234,5';

void test('paper of any size', async (t) => {
  const html = '<p>receipt</p>';
  for (const [width, height, points] of [
    ['80mm', '200mm', [226.8, 566.9]],
    ['10mm', '5000mm', [28.3, 14_173.2]],
    ['10in', '384px', [720, 288]],
  ] as const) {
    const margins = { margin_left: '1mm', margin_right: '1mm' };
    const pdf = await renderer.pdf({ html }, { width, height, ...margins });
    t.equal(pdf.pages.length, 1);
    t.ok(near(pdf.pages[0]?.width, points[0]), `${width}: ${pdf.pages[0]?.width}`);
    t.ok(near(pdf.pages[0]?.height, points[1]), `${height}: ${pdf.pages[0]?.height}`);
  }
});

void test('time zone, language, colours and window, and none of them for the next document', async (t) => {
  const account = accountId(7);
  const request = { html: look, wait_for: { selector: '.told' } };
  const text = async (options: Partial<PrintOptions>): Promise<string> =>
    (await renderer.pdf(request, options, account)).text.replaceAll(/\s+/g, ' ');
  const plain = `${PLAIN} 800 600 1 light worker ${PLAIN}`;
  const colours = {
    html: `<style>:root { color-scheme: light dark } b, i { print-color-adjust: exact }
      b { background-color: #123456 } i { background-color: light-dark(#fedcba, #abcdef) }
      @media (prefers-color-scheme: dark) { b { background-color: #654321 } }</style><b>a</b><i>b</i>`,
  };
  const fills = async (options: Partial<PrintOptions>): Promise<Set<string>> =>
    new Set((await renderer.pdf(colours, options, account)).pages[0]?.fills);
  const before = await renderer.bytes(colours, {}, account);
  for (const [name, value] of Object.entries(SURROUNDINGS)) {
    t.not(await text({ [name]: value }), plain, name);
  }
  t.equal(
    await text(SURROUNDINGS),
    `${CHANGED} 1280 720 2 dark worker ${CHANGED}`,
    'all at once, workers included',
  );
  t.equal(await text({}), plain);
  const [light, dark] = [await fills({}), await fills({ color_scheme: 'dark' })];
  t.ok(['#123456', '#fedcba'].every((each) => light.has(each)));
  t.ok(['#654321', '#abcdef'].every((each) => dark.has(each)));
  t.equal(await visibleDifference(await renderer.bytes(colours, {}, account), before), undefined);
});

void test('frames of another site find the same, and web servers are asked for the language', async (t) => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.headers['accept-language']);
    const frame = `<iframe src="http://localhost:${port}/frame"></iframe>`;
    const body = `<p id=p></p><script>p.textContent = ${LOOK} + matchMedia('(prefers-color-scheme: dark)').matches</script>`;
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(request.url === '/frame' ? body : `${body}${frame}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.teardown(() => server.close());
  const text = await printed({ url: `http://127.0.0.1:${port}/` }, SURROUNDINGS);
  t.equal(text.split(`${CHANGED}true`).length, 3, text);
  t.match(asked[0], /^de-DE\b/);
  t.match(asked.at(-1), /^de-DE\b/);
});

void test('a style sheet is added to the page, past its content security policy', async (t) => {
  const html = `<meta http-equiv=content-security-policy content="style-src 'none'">
    <p class=menu>menu</p><p class=text>text</p>`;
  const css = '.menu { display: none } .text::after { content: " added" } @page { margin: 5cm }';
  const pdf = await renderer.pdf({ html, css });
  t.match(pdf.text.replaceAll(/\s+/g, ' '), /^text added/);
  t.ok(near(pdf.pages[0]?.items[0]?.x, (8 * 72) / 96 + (50 / 25.4) * 72), 'its page margins too');
  t.match(await printed({ html }), /^menu text/, 'the next document has none of it');
  const own = '<style>p { text-transform: lowercase }</style><p>Text</p>';
  t.equal(await printed({ html: own, css: '\uFEFFp { text-transform: uppercase }' }), 'TEXT');
  const unwell =
    '} @import "/a.css"; p { p::after { color: ; content: "nested" } } p::after { content: "!" }';
  t.equal(await printed({ html: own, css: unwell }), 'text!');
  for (const javascript of [true, false]) {
    const files = { 'img/blue.png': png(8, 8, [0, 0, 255]).split(',')[1] ?? '' };
    const image =
      'p { width: 100px; height: 100px; print-color-adjust: exact; background: url(img/blue.png) }';
    const request = { html: '<p>text</p>', files, css: image };
    const [styled, bare] = [
      await renderer.bytes(request, { javascript }, accountId(1)),
      await renderer.bytes({ html: '<p>text</p>' }, { javascript }, accountId(1)),
    ];
    t.match(styled.toString('latin1'), /\/Subtype \/Image/, 'its image is waited for');
    t.notMatch(bare.toString('latin1'), /\/Subtype \/Image/);
  }
});

void test('the style sheet reaches the document that a page has moved on to', async (t) => {
  const server = createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    const next = '<script>setTimeout(() => { location = "/next" }, 100)</script><p>first</p>';
    const last =
      '<p>last</p><script>setTimeout(() => { document.adoptedStyleSheets = [] })</script>';
    response.end(request.url === '/next' ? last : next);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const css = 'p::after { content: " styled" }';
  t.equal(await printed({ url: `http://127.0.0.1:${port}/`, css }), 'last styled');
});

void test('a window of the largest size shows a tall page to its scripts', async (t) => {
  const html = `<div style="height:30000px"></div><p id=p>unseen</p><script>
    new IntersectionObserver(([entry]) => { if (entry.isIntersecting) p.textContent = 'seen ' + innerWidth }).observe(p);
  </script>`;
  const viewport = { width: 1000, height: 1000, device_scale_factor: 4 };
  t.match(await printed({ html }, { viewport }), /seen 1000/);
});
