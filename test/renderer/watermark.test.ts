/** What a test key makes shows that it is a test: on every page, in each format, whatever the page does. */
import { readFile, rm } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { paint } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { pdfOfObjects } from '../support/written-pdf.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

async function made(request: RequestDocument, options: Partial<PrintOptions> = {}, isTest = true) {
  const result = await renderer.render(request, options, undefined, accountId(), undefined, isTest);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  const bytes = await readFile(result.path);
  await rm(result.path);
  return { result, bytes };
}

const TITLED = '<!doctype html><html lang=en><title>Invoice</title>';
const THREE = `${TITLED}<p>one<p style="break-before:page">two<p style="break-before:page">three`;
const MARK = /TEST.*made with a test key.*TEST/s;

async function marks(pdf: Buffer, pages: number) {
  const opened = await openPdf(pdf);
  return opened.pages.length === pages && opened.pages.every(({ text }) => MARK.test(text));
}

void test('each page of a PDF has the watermark', async (t) => {
  const requests: [what: string, request: RequestDocument, options?: Partial<PrintOptions>][] = [
    ['three pages', { html: THREE }],
    ['landscape', { html: THREE }, { landscape: true, page_size: 'A5' }],
    [
      'a page that hides all',
      { html: `${THREE}<style>*{display:none!important}html,body,p{display:block!important}` },
    ],
    [
      'stamped, turned and optimised',
      { html: THREE, pdf: { stamp: { html: '<b>DRAFT</b>' }, rotate: 90, optimize: true } },
    ],
  ];
  for (const [what, request, options] of requests) {
    const { bytes, result } = await made(request, options);
    t.ok(await marks(bytes, 3), what);
    t.equal(result.bytes, bytes.length);
  }
  const chosen = await made({ html: THREE, pdf: { pages: '2-3' } });
  t.ok(await marks(chosen.bytes, 2), 'chosen pages');
  const { bytes } = await made({ html: THREE }, {}, false);
  t.notMatch((await openPdf(bytes)).text, /TEST/, 'none without a test key');
});

void test('the watermark is decoration: the PDF conforms as without it', async (t) => {
  for (const conformance of [['pdfa-2u'], ['pdfa-3a', 'pdfua-1']] as const) {
    const { bytes, result } = await made({ html: THREE, pdf: { conformance } });
    t.ok(await marks(bytes, 3), conformance.join(' '));
    t.strictSame(result.conformance, conformance);
  }
});

void test('work on documents has it, also where the result is encrypted', async (t) => {
  const { bytes } = await made({ html: THREE }, {}, false);
  const sources = [{ file: bytes.toString('base64') }];
  const stamp = { type: 'stamp', html: '<b>DRAFT</b>' } as const;
  const turned = await made({
    document: { sources, steps: [stamp, { type: 'pages', pages: '1-2' }] },
  });
  t.ok(await marks(turned.bytes, 2));
  const encrypted = await made({
    document: { sources, steps: [{ type: 'encrypt', owner_password: 'x' }] },
  });
  t.ok(await marks(encrypted.bytes, 3));
});

/** The pixels of each page that have the watermark's colour. */
async function redPixels(pdf: Buffer): Promise<readonly number[]> {
  const pages = await paint(pdf);
  return pages.map(({ pixels }) => {
    let red = 0;
    for (let n = 0; n < pixels.length; n += 4) {
      if ((pixels[n] ?? 0) > 150 && (pixels[n + 1] ?? 0) < 120) red += 1;
    }
    return red;
  });
}

const stream = (entries: string, content: string): string =>
  `<<${entries}/Length ${content.length}>>\nstream\n${content}\nendstream`;
const page = (more: string, contents: number): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 600]/Resources<</Font<</F1 6 0 R>>>>/Contents ${contents} 0 R${more}>>`;

void test('nothing in an uploaded PDF hides the watermark', async (t) => {
  const white = '1 1 1 rg 0 0 400 600 re f';
  const pdf = pdfOfObjects([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 3/Kids[3 0 R 4 0 R 5 0 R]>>',
    page('/TrimBox[0 0 1 1]/ArtBox[0 0 1 1]', 7),
    page('', 8),
    page('/Annots[9 0 R]', 7),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    stream('', 'BT /F1 24 Tf 20 100 Td (Invoice) Tj ET'),
    stream('', 'BT /F1 24 Tf 20 100 Td (Invoice) Tj ET q 0 0 1 1 re W n 0 0 0 0 0 0 cm'),
    '<</Type/Annot/Subtype/Square/Rect[0 0 400 600]/F 4/AP<</N 10 0 R>>>>',
    stream('/Type/XObject/Subtype/Form/BBox[0 0 400 600]', white),
  ]);
  const plain = await redPixels(pdf);
  t.strictSame(plain, [0, 0, 0]);
  const sources = [{ file: pdf.toString('base64') }];
  const { bytes } = await made({ document: { sources, steps: [] } });
  const marked = await redPixels(bytes);
  t.equal(marked.length, 3);
  for (const [n, red] of marked.entries()) t.ok(red > 500, `page ${n + 1}: ${red} pixels`);
});

/** How much of a picture is of the watermark's colour, and its size. */
async function redOf(bytes: Buffer, type: string) {
  const look = `<p id=p>?</p><script>
    const image = new Image();
    image.src = 'data:image/${type};base64,${bytes.toString('base64')}';
    image.decode().then(() => {
      const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
      canvas.drawImage(image, 0, 0);
      const { data } = canvas.getImageData(0, 0, image.width, image.height);
      let red = 0;
      for (let n = 0; n < data.length; n += 4) if (data[n] > 150 && data[n + 1] < 120) red += 1;
      p.textContent = [image.width, image.height, red].join(' ');
      p.className = 'done';
    });
  </script>`;
  const { text } = await renderer.pdf({ html: look, wait_for: { selector: '.done' } });
  return text.split(' ').map(Number);
}

void test('a picture has it all over, in each format, and keeps its size', async (t) => {
  const hiding = `<style>body{margin:0}div{height:1500px;background:#fff}</style><div></div><script>
    new MutationObserver((all) => all.forEach((each) => each.addedNodes.forEach((node) => node.remove())))
      .observe(document, { childList: true, subtree: true })</script>`;
  const viewport = { width: 500, height: 300, device_scale_factor: 2 };
  const beginnings = { png: '89504e47', jpeg: 'ffd8ff', webp: '52494646' };
  for (const [format, beginning] of Object.entries(beginnings)) {
    const options = { format: format as 'png', media: 'screen', viewport } as const;
    const { bytes, result } = await made({ html: hiding }, options);
    t.ok(bytes.toString('hex').startsWith(beginning), format);
    const [width, height, red = 0] = await redOf(bytes, format);
    t.strictSame([width, height], [1000, 3000], format);
    t.ok(red > 20_000, `${format}: ${red} pixels of the watermark`);
    t.match(result, { pages: 1, bytes: bytes.length });
  }
  const plain = await made({ html: hiding }, { format: 'png', media: 'screen', viewport }, false);
  const [, , none] = await redOf(plain.bytes, 'png');
  t.equal(none, 0);
});
