/** The link and the QR code of `pdf.verify_link`, as a reader and a camera see them. */
import decodeQR from 'qr/decode.js';
import { type Test, test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { openPdf } from '../support/pdf.ts';
import { paint } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';

const URL = 'https://pdf.example.com/verify';
/** Pixels for each point: 300 in an inch, as a scan has. */
const SCALE = 300 / 72;
const LINES = '<p>A line of the document</p>'.repeat(60);
const page = (head = '') =>
  `<!doctype html><html lang="en"><head><title>T</title>${head}</head><body>${LINES}</body></html>`;

/** What a camera reads in the bottom right corner of each page. */
async function codesOf(pdf: Buffer): Promise<readonly string[]> {
  const pages = await paint(pdf, SCALE);
  return pages.map(({ width, height, pixels }) => {
    const side = Math.round(3 * SCALE * 28.35);
    const corner = new Uint8ClampedArray(4 * side * side);
    for (let y = 0; y < side; y += 1) {
      const from = 4 * ((height - side + y) * width + width - side);
      corner.set(pixels.subarray(from, from + 4 * side), 4 * side * y);
    }
    return decodeQR({ width: side, height: side, data: corner });
  });
}

void test('the link to the public check', async (whole: Test) => {
  const renderer = await startTestRenderer();
  whole.teardown(() => renderer.close());
  const print = (request: object, options: object = {}) =>
    renderer.bytes({ html: page(), verify_url: URL, ...request }, options, accountId(1));

  await whole.test('a code, the address and a link are on each page', async (t) => {
    const pdf = await print({});
    const { pages, text } = await openPdf(pdf);
    t.ok(pages.length > 1);
    t.strictSame(
      await codesOf(pdf),
      pages.map(() => URL),
    );
    t.equal(text.split(URL).length - 1, pages.length, 'the address as text');
    for (const { urls } of pages) t.strictSame(urls, [URL, URL], 'by the address and the code');
  });

  await whole.test('a footer stands beside it, whatever its styles are', async (t) => {
    const footers = [
      '<div style="width:100%;text-align:right">Page <span class="pageNumber"></span></div>',
      '<style>*{color:red!important} a,span,img{display:none;width:100%!important}</style><p>Page</p>',
      '<div style="width:100%;text-align:right"><!-- left open',
      'Page '.repeat(60),
    ];
    for (const footer_html of footers) {
      const pdf = await print({ footer_html }, { margin_bottom: '2cm' });
      t.strictSame(new Set(await codesOf(pdf)), new Set([URL]), footer_html);
      const items = (await openPdf(pdf)).pages[0]?.items ?? [];
      const address = items.find(({ text }) => text.startsWith('https:'));
      const own = items.filter(({ text }) => text.startsWith('Page'));
      for (const { x } of own) t.ok(x < (address?.x ?? 0), 'beside it');
    }
  });

  await whole.test('a document that has it conforms', async (t) => {
    for (const conformance of [['pdfa-2u'], ['pdfa-3a', 'pdfua-1']]) {
      const html = page().replace('<title>', '<meta charset="utf-8"><title>');
      const result = await renderer.render({
        html,
        verify_url: URL,
        pdf: { conformance } as never,
      });
      t.match(result, { kind: 'completed', conformance }, conformance.join());
    }
  });

  await whole.test('a page with a background, and without margins of its own', async (t) => {
    const html = page('<style>@page{margin:0} html{background:#246}</style>');
    t.strictSame(
      new Set(await codesOf(await print({ html }, { print_background: true }))),
      new Set([URL]),
    );
  });
});
