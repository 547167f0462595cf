/** Work on printed PDFs that a request asks for: pages, turns, encryption, size; and what our own pass makes of it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import tap, { test } from 'tap';
import type { PdfRequest } from '../../src/domain/request-document.ts';
import { pageDigests } from '../../src/pdf/page-digests.ts';
import { pagesOf } from '../../src/pdf/page-tree.ts';
import { PdfObjects } from '../../src/pdf/pdf-objects.ts';
import { PdfString } from '../../src/pdf/values.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';
import { JPEG } from '../support/tiny-images.ts';
import { pdfOf } from '../support/written-pdf.ts';
import { page, times } from './corpus/document.ts';

// A stamp is to load nothing from where all may be loaded.
const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

const ACCOUNT = accountId();
const html = page(
  'Three pages',
  'h1{break-before:page}h1:first-child{break-before:auto}',
  times(3, (n) => `<h1 id=p${n}>Page ${n}</h1><a href="#p2">to two</a>`),
);

const printed = async (pdf: PdfRequest) =>
  await renderer.render({ html, pdf }, { outline: true }, undefined, ACCOUNT);
const bytesOf = async (pdf: PdfRequest) =>
  await renderer.bytes({ html, pdf }, { outline: true }, ACCOUNT);

const hasQpdf = spawnSync('qpdf', ['--version']).status === 0;

/** What qpdf says of a file. Without qpdf it is undefined: the set-up says that it is missing. */
function asked(pdf: Buffer, ...question: readonly string[]): string | undefined {
  if (!hasQpdf) return undefined;
  const path = join(renderer.directory, 'finished.checked');
  writeFileSync(path, pdf);
  return execFileSync('qpdf', [...question, path], { encoding: 'utf8' });
}

const FIELD = { x: '150mm', y: '20mm', width: '60mm', height: '20mm' };

void test('a signature is seen where it is asked for, with the name of its signer', async (t) => {
  const name = 'חברת בדיקות החשמל והאלקטרוניקה הישראלית הבינלאומית בעירבון מוגבל';
  const signed = async (pdf: PdfRequest, signer = name) =>
    await renderer.render({ html, pdf }, {}, undefined, ACCOUNT, signer);
  const sign = { reason: 'Approved <b>', field: FIELD };
  const made = await signed({ conformance: ['pdfa-3u'], rotate: 90, sign });
  if (made.kind !== 'completed') throw new Error(made.message);
  t.strictSame(made.conformance, ['pdfa-3u']);
  t.match(made.signature, { signer: name });
  const content = await readFile(made.path);
  t.notMatch(asked(content, '--check') ?? '', /WARNING/);
  const objects = new PdfObjects(content);
  const fields = pagesOf(objects).map((each) =>
    objects
      .list(objects.dictionary(each).get('Annots'))
      .map((annotation) => objects.dictionary(annotation))
      .filter((annotation) => annotation.has('FT')),
  );
  t.strictSame(
    fields.map(({ length }) => length),
    [0, 0, 1],
    'on the last page',
  );
  const [field] = fields[2] ?? [];
  const said = objects.resolve(field?.get('TU'));
  t.match(
    said instanceof PdfString && said.text,
    /^Signature: חברת .*, \d{4}-.* UTC, Approved <b>$/,
  );
  // The left side of the page as it is shown is its lower side.
  const rect = objects.list(field?.get('Rect')).map((each) => Math.round(Number(each)));
  t.strictSame(rect, [57, 425, 113, 595]);
  const look = objects.dictionary(objects.dictionary(field?.get('AP')).get('N'));
  const fonts = objects.dictionary(objects.dictionary(look.get('Resources')).get('Font'));
  t.ok(fonts.size > 0, 'it is text');
  const again = await signed({ sign: { ...sign, location: 'Köln' }, rotate: 90 }, 'Ada Lovelace');
  if (again.kind !== 'completed') throw new Error(again.message);
  const digests = [content, await readFile(again.path)].map(pageDigests);
  t.strictSame(digests[0], digests[1], 'its pages are the same without it');

  const long = { reason: 'x'.repeat(200), location: 'y'.repeat(200) };
  for (const [place, code, message] of [
    [{ page: 4 }, 'page_range', /page 4, which is not in the document: it has 3 pages\.$/],
    [{ y: '290mm' }, 'not_signed', /but its page is 210\.\d mm wide and 29\d(\.\d)? mm high/],
    [{ width: '20mm', height: '5mm' }, 'not_signed', /do not fit into the field .* larger/],
  ] as const) {
    const refused = await signed({ sign: { ...long, field: { ...FIELD, ...place } } });
    t.match(refused, { kind: 'failed', code, message });
  }
});

void test('pages are kept in the order that is asked for, with their bookmarks and links', async (t) => {
  const pdf = await bytesOf({ pages: '3, 1-2' });
  const { pages, outline, info, tagged } = await openPdf(pdf);
  t.strictSame(
    pages.map(({ text }) => /Page \d/.exec(text)?.[0]),
    ['Page 3', 'Page 1', 'Page 2'],
  );
  t.strictSame(outline, ['Page 1', 'Page 2', 'Page 3'], 'bookmarks have their order');
  t.strictSame(
    pages.map(({ annotations }) => annotations),
    [1, 1, 1],
  );
  t.equal(info['Title'], 'Three pages');
  t.equal(tagged, false, 'as is documented');
  t.notMatch(asked(pdf, '--check') ?? '', /WARNING/);
  const one = await openPdf(await bytesOf({ pages: '2' }));
  t.strictSame(one.outline, ['Page 2'], 'what leads to pages that are gone is gone');
  const beyond = await printed({ pages: '1,4' });
  t.match(beyond, {
    kind: 'failed',
    code: 'page_range',
    message: 'The page range 1,4 is not in the document: it has 3 pages.',
  });
});

void test('the same work on the same document gives the same bytes', async (t) => {
  const request = { html, pdf: { pages: '2-3', optimize: true } } as const;
  const made = async () => await renderer.bytes(request, { deterministic: true }, ACCOUNT);
  t.ok((await made()).equals(await made()));
});

void test('a turned page conforms as it did', async (t) => {
  const pdf = await bytesOf({ rotate: 90, conformance: ['pdfa-3b', 'pdfua-1'], optimize: true });
  const { pages, tagged } = await openPdf(pdf);
  t.ok((pages[0]?.width ?? 0) > (pages[0]?.height ?? 0), 'it lies on its side');
  t.equal(tagged, true);
  t.match(pdf.toString('latin1'), '<pdfaid:part>3</pdfaid:part>', 'its claim can be read');
  const said = asked(pdf, '--check') ?? 'File is linearized';
  t.match(said, 'File is linearized');
  t.notMatch(said, /WARNING/);
});

void test('an encrypted PDF opens with its password, and denies what was denied', async (t) => {
  const file = { filename: 'a.csv', content: 'MQ==', type: 'text/csv' };
  const pdf = await bytesOf({
    encrypt: { user_password: '@ö--x', permissions: { print: false, copy: false } },
    attachments: [file],
    optimize: true,
  });
  await t.rejects(openPdf(pdf), 'without its password it does not open');
  const said = asked(pdf, '--password=@ö--x', '--show-encryption');
  if (said === undefined) return;
  t.match(
    said,
    /R = 6[\s\S]*extract for any purpose: not allowed[\s\S]*print high resolution: not allowed/,
  );
  t.match(said, 'modify annotations: allowed');
  t.match(said, 'stream encryption method: AESv3');
  t.match(asked(pdf, '--password=@ö--x', '--list-attachments'), 'a.csv');
  t.notMatch(asked(pdf, '--password=@ö--x', '--check'), /WARNING/);
});

const RED = '<p style="font: 40pt serif; color: #ff0000">DRAFT</p>';
const IMAGE = JPEG.replace(/^data:[^,]*,/, '');

void test('a stamp lies over the pages that are meant, and is no text of the document', async (t) => {
  const pdf = await bytesOf({
    rotate: 180,
    stamp: { html: RED, opacity: 0.5, pages: '2-3' },
    conformance: ['pdfa-3a', 'pdfua-1'],
  });
  const { pages, tagged } = await openPdf(pdf);
  t.strictSame(
    pages.map(({ text }) => text.includes('DRAFT')),
    [false, true, true],
  );
  t.match(pages[1]?.text, 'Page 2', 'what lies below it stays');
  t.ok(pages[1]?.fills.has('#ff0000'));
  t.equal(tagged, true);
  t.match(pdf.toString('latin1'), '<pdfuaid:part>1</pdfuaid:part>', 'it hinders nobody');
  t.notMatch(asked(pdf, '--check') ?? '', /WARNING/);
  const beyond = await printed({ stamp: { html: RED, pages: '4' } });
  t.match(beyond, { kind: 'failed', code: 'page_range' });
});

void test('a stamp loads nothing, also not by frames', async (t) => {
  const hits: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    hits.push(url);
    response.end('<h1>Loaded</h1>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const frame = `<noscript><iframe src="http://127.0.0.1:${port}/"></iframe></noscript>`;
  const [first] = (await openPdf(await bytesOf({ stamp: { html: `${RED}${frame}` } }))).pages;
  t.match(first?.text, 'DRAFT');
  t.notMatch(first?.text, 'Loaded');
  t.strictSame(hits, []);
});

const base64 = (content: Buffer): string => content.toString('base64');

void test('finished documents are worked on without a page', async (t) => {
  const sources = [{ file: base64(pdfOf(['One', 'Two'])) }, { file: base64(pdfOf(['Three'])) }];
  const steps = [
    { type: 'merge' },
    { type: 'pages', pages: '3, 1' },
    { type: 'rotate', rotate: 90, pages: '2' },
    { type: 'stamp', html: RED, pages: '1' },
    { type: 'stamp', image: IMAGE },
    { type: 'attach', attachments: [{ filename: 'a.txt', content: 'MQ==', type: 'text/plain' }] },
    { type: 'metadata', title: 'Made of two' },
    { type: 'optimize' },
  ] as const;
  const made = await renderer.render({ document: { sources, steps } }, {}, undefined, ACCOUNT);
  t.match(made, { kind: 'completed', pages: 2, title: 'Made of two' });
  const pdf = await renderer.bytes({ document: { sources, steps } }, {}, ACCOUNT);
  const { pages, info } = await openPdf(pdf);
  t.match(pages[0]?.text, /Three[^]*DRAFT/);
  t.equal(pages[1]?.text, 'One');
  t.ok((pages[1]?.height ?? 0) > (pages[1]?.width ?? 0), 'it was turned');
  t.equal(info['Title'], 'Made of two');
  t.match(asked(pdf, '--list-attachments') ?? 'a.txt', 'a.txt');
  t.notMatch(asked(pdf, '--check') ?? '', /WARNING/);
});

void test('a document that cannot be read fails with words', async (t) => {
  const file = Buffer.from('hello').toString('base64');
  const document = { sources: [{ file }], steps: [] };
  const made = await renderer.render({ document }, {}, undefined, ACCOUNT);
  t.match(made, { kind: 'failed', code: 'unreadable_pdf', message: 'The file is not a PDF.' });
});
