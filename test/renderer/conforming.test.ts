/** PDFs that conform, printed by Chrome: what they claim, what they keep, and what stands in the way. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { PdfRequest, RequestDocument } from '../../src/domain/request-document.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { JPEG, svg } from '../support/tiny-images.ts';
import { page, paragraphs, times } from './corpus/document.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const ACCOUNT = accountId();
const PHOTO = `<img alt="A photograph" src="${JPEG}">`;

const whole = page(
  'Report of May',
  'h1{border-bottom:2px solid #c00} td,th{border:1px solid} .box{background:#eee;opacity:.8;border-radius:4px}',
  `<h1>Report</h1><h3>Deep</h3>${paragraphs(2)}<p class=box>Boxed <em>text</em> with <a href="https://example.com/a">a link</a>
   and <a href="#end">an inner one</a>.</p>${PHOTO}<ol><li>One<ol><li>One point one</ol><li>Two</ol>
   <table><thead><tr><th>No<th>Item<tbody>${times(30, (n) => `<tr><td>${n}<td>Item ${n}`)}</table><h2 id=end>End</h2>`,
);

async function printed(
  html: string,
  pdf?: PdfRequest,
  options: Partial<PrintOptions> = {},
  more: Partial<RequestDocument> = {},
) {
  const request = { html, ...more, ...(pdf && { pdf }) };
  return await renderer.render(request, { print_background: true, ...options }, undefined, ACCOUNT);
}

async function bytesOf(html: string, pdf?: PdfRequest, more?: Partial<RequestDocument>) {
  return await renderer.bytes(
    { html, ...more, ...(pdf && { pdf }) },
    { print_background: true },
    ACCOUNT,
  );
}

const hasQpdf = spawnSync('qpdf', ['--version']).status === 0;
const NOTHING_WRONG = /No syntax or stream encoding errors/;

/** What qpdf says of the file. Without qpdf it is taken to be right: the set-up says that it is missing. */
function check(pdf: Buffer, name: string): string {
  if (!hasQpdf) return 'No syntax or stream encoding errors';
  const path = join(renderer.directory, `${name}.checked`);
  writeFileSync(path, pdf);
  return execFileSync('qpdf', ['--check', path], { encoding: 'utf8' });
}

void test('a conforming PDF looks, reads and links as before, and says what it is', async (t) => {
  const plain = await bytesOf(whole);
  for (const conformance of [['pdfa-2b'], ['pdfa-3u', 'pdfua-1'], ['pdfa-3a']] as const) {
    const pdf = await bytesOf(whole, { conformance });
    const name = conformance.join(' ');
    t.match(check(pdf, conformance[0]), NOTHING_WRONG, name);
    t.equal(await visibleDifference(plain, pdf), undefined, `${name}: nothing visible differs`);
    const text = pdf.toString('latin1');
    const [, part, level] = /pdfa-(\d)(\w)/.exec(conformance[0]) ?? [];
    t.match(text, `<pdfaid:part>${part}</pdfaid:part>`);
    t.match(text, `<pdfaid:conformance>${level?.toUpperCase()}</pdfaid:conformance>`);
    t.equal(text.includes('<pdfuaid:part>1<'), name.includes('pdfua'), `${name}: says PDF/UA`);
    t.match(text, /<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Report of May</);
    t.match(text, /\/ID \[/);
  }
});

void test('tags are mended: headings close their gaps, links say where they lead', async (t) => {
  const pdf = await bytesOf(whole, { conformance: ['pdfua-1'] });
  const { roles } = await openPdf(pdf);
  t.strictSame(
    roles.filter((role) => /^H\d/.test(role)),
    ['H1', 'H2'],
    'the third level follows the first no more',
  );
  t.match(pdf.toString('latin1'), /\/Contents \(a link\)/);
  t.match(pdf.toString('latin1'), /\/Contents \(an inner one\)/);
});

void test('the metadata of the request is in XMP too, whatever its characters', async (t) => {
  const title = 'Rechnung <4711> & “mehr”\u0001';
  const metadata = { title, author: 'Ann & Bob', subject: 'Über alles', keywords: ['a', 'b'] };
  const pdf = await bytesOf('<p>x', { conformance: ['pdfa-2u'] }, { metadata });
  const text = pdf.toString('utf8');
  t.match(text, 'Rechnung &lt;4711&gt; &amp; “mehr” </rdf:li>');
  t.match(text, '<rdf:li>Ann &amp; Bob</rdf:li>');
  t.match(text, 'Über alles');
  t.match(text, '<pdf:Keywords>a, b</pdf:Keywords>');
  t.match(check(pdf, 'metadata'), NOTHING_WRONG);
});

const skip = hasQpdf ? false : 'qpdf is missing';
void test('files lie within the PDF, with what they are', { skip }, async (t) => {
  const content = Buffer.from('a,b\n1,2\n');
  const pdf = await bytesOf(whole, {
    conformance: ['pdfa-3b'],
    attachments: [
      {
        filename: 'Zahlen – Mai.csv',
        content: content.toString('base64'),
        type: 'text/csv',
        relationship: 'Data',
        description: 'The numbers',
      },
      { filename: 'empty.txt', content: '', type: 'text/plain' },
    ],
  });
  t.match(check(pdf, 'attachments'), NOTHING_WRONG);
  const path = join(renderer.directory, 'attachments.checked');
  const list = execFileSync('qpdf', ['--list-attachments', path], { encoding: 'utf8' });
  t.match(list, /Zahlen – Mai\.csv/);
  t.match(list, /empty\.txt/);
  const shown = execFileSync('qpdf', ['--show-attachment=Zahlen – Mai.csv', path]);
  t.strictSame(shown, content);
  t.match(pdf.toString('latin1'), /\/AFRelationship \/Data/);
  t.match(pdf.toString('latin1'), /\/Subtype \/text#2fcsv/);
});

/** The page, and what is said of it. */
const OBSTACLES: Readonly<Record<string, readonly [string, RegExp]>> = {
  'an image without a text': [
    page('t', '.b{break-before:page}', `<p>1<p class=b>2<p class=b>3<img src="${JPEG}">`),
    /page 3: an image has no alternative text \(ISO 14289-1, 7\.3\)/,
  ],
  'an SVG image without a text': [
    page('t', '', `<p>a<img src='${svg('<circle cx="20" cy="20" r="18"/>')}'>`),
    /page 1: an image has no alternative text/,
  ],
  'no title': ['<!doctype html><html lang=en><p>a', /the document has no title/],
  'a title that cannot be seen': [
    '<!doctype html><html lang=en><title>&#8203;&nbsp;&#xfeff;</title><p>a',
    /the document has no title/,
  ],
  'an image whose text cannot be seen': [
    page('t', '', `<p>a<img src="${JPEG}" alt="&#8203;">`),
    /page 1: an image has no alternative text/,
  ],
  'no language': ['<!doctype html><title>t</title><p>a', /the document names no language/],
  'a strange language': [page('t', '', '<p>a', '"en us"'), /“en us” is not a language/],
  'nothing tagged': [page('t', 'body{background:#eee}', ''), /nothing in the document has a tag/],
  'uneven rows': [
    page('t', '', '<table><tr><th>a<th>b<tr><td>c</table>'),
    /rows of a table have different numbers of columns/,
  ],
  'text of a style sheet': [
    page('t', 'p::before{content:"generated "}', '<p>a<p>b'),
    /page 1: the text “generated ” has no tag/,
  ],
  'text in a form field': [
    page('t', '', '<p>a<p><select><option>chosen</select><p>b'),
    /page 1: the text “chosen” has no tag/,
  ],
  'an item without a list': [
    page('t', '', '<div><li>a</div>'),
    /a <li> stands outside of its list/,
  ],
  'tagged text that an effect paints twice': [
    page(
      't',
      '.m{-webkit-mask:linear-gradient(#000,transparent)} .c{background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent}',
      '<p class=m>masked<p class=c>clipped<p>b',
    ),
    /a part with tags is painted twice/,
  ],
  'a character without a glyph': [
    page('t', '', '<p>a \u{10FF00} b'),
    /page 1: a character has no glyph in any installed font/,
  ],
};

for (const [name, [html, expected]] of Object.entries(OBSTACLES)) {
  void test(`${name}: fails, or is made without where that will do`, async (t) => {
    const result = await printed(html, { conformance: ['pdfua-1'] });
    t.match(result, { kind: 'failed', code: 'not_conforming', message: expected });
    t.match(result, { message: /cannot conform to PDF\/UA-1/ });
    const made = await printed(html, {
      conformance: ['pdfua-1', 'pdfa-2b'],
      conformance_required: false,
    });
    if (made.kind !== 'completed') return t.fail(`${made.kind}: ${made.message}`);
    t.notOk(made.conformance?.includes('pdfua-1'), 'it does not say that it conforms');
    t.match(made.shortfalls?.join('\n'), expected);
  });
}

void test('headers and footers are no text of the document, and need no tag', async (t) => {
  const frame = {
    header_html: '<div>Example Ltd</div>',
    footer_html: '<div>Page <span class=pageNumber></span></div>',
  };
  const result = await printed(whole, { conformance: ['pdfua-1'] }, {}, frame);
  t.match(result, { kind: 'completed', conformance: ['pdfua-1'] });
});

void test('a plain request says nothing of conformance', async (t) => {
  const result = await printed('<p>a');
  t.equal(result.kind, 'completed');
  t.notOk('conformance' in result);
});
