/** What a test key makes shows that it is a test: on every page, in each format, whatever the page does. */
import { readFile, rm } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

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
    ['with a stamp of its own', { html: THREE, pdf: { stamp: { html: '<b>DRAFT</b>' } } }],
    ['turned', { html: THREE, pdf: { rotate: 90 } }],
    ['optimised', { html: THREE, pdf: { optimize: true } }],
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
