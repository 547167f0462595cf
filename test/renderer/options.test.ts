import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import { openPdf, type PdfPage } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const html = '<title>A letter</title><body style="margin:0"><p style="margin:0">first words</p>';
const pages = (count: number): string =>
  `<body>${Array.from({ length: count }, (_, i) => `<h1 style="break-after:page">Page ${i + 1}</h1>`).join('')}`.replace(
    /break-after:page(">[^<]*<\/h1>)$/,
    '$1',
  );

function place(page: PdfPage | undefined, text: string): { x: number; top: number } {
  const item = page?.items.find((each) => each.text.includes(text));
  if (page === undefined || item === undefined) throw new Error(`no ${text} on the page`);
  return { x: item.x, top: page.height - item.y - item.height };
}

const near = (found: number, wanted: number, by: number): boolean => Math.abs(found - wanted) <= by;

void test('every page size, upright and landscape', async (t) => {
  const sizes: Record<PrintOptions['page_size'], readonly [number, number]> = {
    A3: [842, 1191],
    A4: [595, 842],
    A5: [420, 595],
    Letter: [612, 792],
    Legal: [612, 1008],
  };
  for (const [size, [width, height]] of Object.entries(sizes)) {
    const page_size = size as PrintOptions['page_size'];
    const [upright] = (await renderer.pdf({ html }, { page_size })).pages;
    t.ok(upright && near(upright.width, width, 1) && near(upright.height, height, 1), size);
    const [wide] = (await renderer.pdf({ html }, { page_size, landscape: true })).pages;
    t.ok(wide && near(wide.width, height, 1) && near(wide.height, width, 1), `${size} landscape`);
  }
});

void test('margins in all four units move the text', async (t) => {
  for (const margin of ['96px', '2.54cm', '1in', '25.4mm']) {
    const pdf = await renderer.pdf({ html }, { margin_left: margin, margin_top: margin });
    const { x, top } = place(pdf.pages[0], 'first');
    t.ok(near(x, 72, 1.5), `${margin} from the left: ${x}`);
    t.ok(near(top, 72, 6), `${margin} from the top: ${top}`);
  }
  const none = place((await renderer.pdf({ html }, { margin_left: '0px' })).pages[0], 'first');
  t.ok(near(none.x, 0, 1));
  const right = '<body style="margin:0"><p style="text-align:right">end';
  const wide = place(
    (await renderer.pdf({ html: right }, { margin_right: '4in' })).pages[0],
    'end',
  );
  t.ok(wide.x < 595 - 4 * 72, 'the right margin holds text off');
  const lines = `<body>${'<p style="height:90px;margin:0">line</p>'.repeat(10)}`;
  t.equal((await renderer.pdf({ html: lines })).pages.length, 1);
  t.equal((await renderer.pdf({ html: lines }, { margin_bottom: '6in' })).pages.length, 2);
});

void test('backgrounds are printed only when asked for', async (t) => {
  const coloured = '<div style="background:#12ab34;height:100px">x</div>';
  t.notOk((await renderer.pdf({ html: coloured })).pages[0]?.fills.has('#12ab34'));
  const pdf = await renderer.pdf({ html: coloured }, { print_background: true });
  t.ok(pdf.pages[0]?.fills.has('#12ab34'));
});

const height = async (scale: number): Promise<number> =>
  (await renderer.pdf({ html }, { scale })).pages[0]?.items[0]?.height ?? 0;

void test('scale enlarges and shrinks', async (t) => {
  const normal = await height(1);
  t.ok(near((await height(2)) / normal, 2, 0.05));
  t.ok(near((await height(0.5)) / normal, 0.5, 0.05));
  t.ok(near((await height(0.1)) / normal, 0.1, 0.02));
});

void test('pages are counted in small and large documents', async (t) => {
  for (const count of [1, 9, 300]) {
    const result = await renderer.render({ html: pages(count) });
    t.equal(result.kind === 'completed' && result.pages, count);
  }
  t.equal((await renderer.pdf({ html: pages(9) })).pages.length, 9);
});

void test('page ranges pick pages, and one beyond the last fails with that reason', async (t) => {
  const pdf = await renderer.pdf({ html: pages(5) }, { page_ranges: '2, 4-5' });
  t.same(
    pdf.pages.map((page) => page.text.trim()),
    ['Page 2', 'Page 4', 'Page 5'],
  );
  for (const page_ranges of ['6', '2-9', '1,7', '6-']) {
    const result = await renderer.render({ html: pages(5) }, { page_ranges });
    t.match(result, { kind: 'failed', code: 'page_range', message: page_ranges });
  }
  const open = await renderer.pdf({ html: pages(5) }, { page_ranges: '4-' });
  t.equal(open.pages.length, 2, 'a range without an end goes on to the last page');
});

void test('header and footer are printed on every page, with page numbers', async (t) => {
  const small = 'style="font-size:10px;width:100%"';
  const pdf = await renderer.pdf(
    {
      html: pages(2),
      header_html: `<div ${small}>Acme <span class="title"></span></div>`,
      footer_html: `<div ${small}><span class="pageNumber"></span> of <span class="totalPages"></span></div>`,
    },
    { margin_top: '2cm', margin_bottom: '2cm' },
  );
  t.match(pdf.pages[0]?.text, /Acme/);
  t.match(pdf.pages[1]?.text, /2\s*of\s*2/);
  const footer = { html: pages(1), footer_html: `<div ${small}>only a footer</div>` };
  const only = await renderer.pdf(footer, { margin_bottom: '2cm' });
  t.match(only.text, /only a footer/);
  t.notMatch(only.text, /\d+\/\d+\/\d+/, "Chrome's own header stays away");
});

void test('header and footer can be read without a style of their own', async (t) => {
  const margins = { margin_top: '2cm', margin_bottom: '2cm', margin_left: '3cm' };
  const itemsOf = async (header_html: string, footer_html: string) => {
    const pdf = await renderer.pdf({ html: pages(1), header_html, footer_html }, margins);
    const find = (text: string) => pdf.pages[0]?.items.find((each) => each.text.includes(text));
    return { header: find('Acme'), footer: find('page') };
  };
  const numbers = 'page <span class="pageNumber"></span>';
  const plain = await itemsOf('<div>Acme</div>', numbers);
  for (const [which, item] of Object.entries(plain)) {
    t.ok(item && near(item.height, 8, 0.1), `${which} in letters of 8 pt`);
    t.ok(item && near(item.x, 85, 1), `${which} within the side margins`);
  }
  const styled = '<style>#footer { font-size: 12pt }</style>';
  const own = await itemsOf('<div style="font-size:10pt">Acme</div>', styled + numbers);
  t.ok(own.header && near(own.header.height, 10, 0.1) && near(own.header.x, 0, 0.1), 'its style');
  t.ok(own.footer && near(own.footer.height, 12, 0.1) && near(own.footer.x, 0, 0.1), 'its style');
  const coloured = await itemsOf('<b style="color:red">Acme</b>', numbers);
  t.ok(coloured.header && near(coloured.header.height, 8, 0.1), 'a style without a font size');
  const small = await itemsOf('<div>Acme <small style="font-size:7pt">Ltd</small></div>', numbers);
  t.ok(small.header && near(small.header.height, 8, 0.1), 'beside a word with a size of its own');
  const sized = await itemsOf('<style>html { font-size: 11pt }</style>Acme', numbers);
  t.ok(sized.header && near(sized.header.height, 11, 0.1), 'a size for the whole template');
  const text = await itemsOf('<div>Acme</div>', 'Visit url(page)');
  t.ok(text.footer && near(text.footer.height, 8, 0.1), 'a text that looks like CSS');
});

void test('the address in a header is that of a URL, and none for HTML', async (t) => {
  const header_html = '<div style="font-size:10px">at <span class="url"></span>.</div>';
  const margins = { margin_top: '2cm' };
  for (const body of [pages(1), `${pages(1)}<script>1</script>`]) {
    t.match((await renderer.pdf({ html: body, header_html }, margins)).text, /at \./);
  }
});

void test('media, CSS page size and JavaScript', async (t) => {
  const media =
    '<style>@media print{.s{display:none}}@media screen{.p{display:none}}</style><i class=s>screen</i><i class=p>paper</i>';
  t.match((await renderer.pdf({ html: media })).text, /^paper$/);
  t.match((await renderer.pdf({ html: media }, { media: 'screen' })).text, /^screen$/);

  const sized = '<style>@page{size:10cm 20cm}</style>x';
  const css = await renderer.pdf({ html: sized }, { prefer_css_page_size: true });
  t.ok(near(css.pages[0]?.width ?? 0, 283.5, 1.5));
  t.ok(near((await renderer.pdf({ html: sized })).pages[0]?.width ?? 0, 595, 1));

  const script = '<p id=a>still</p><script>a.textContent="moved"</script><noscript>off</noscript>';
  t.match((await renderer.pdf({ html: script })).text, /^moved$/);
  t.match((await renderer.pdf({ html: script }, { javascript: false })).text, /still\s*off/);
});

void test('tagged and outlined documents', async (t) => {
  const chapters = '<html lang=en><h1>One</h1><p>text</p><h2>Two</h2><h1>Three</h1>';
  const plain = await renderer.pdf({ html: chapters }, { tagged: false });
  t.notOk(plain.tagged);
  t.same(plain.outline, []);
  const rich = await renderer.pdf({ html: chapters }, { tagged: true, outline: true });
  t.ok(rich.tagged);
  t.same(rich.outline, ['One', 'Three']);
  const outlined = await renderer.pdf({ html: chapters }, { tagged: false, outline: true });
  t.same(outlined.outline, ['One', 'Three'], 'an outline needs no tags');
});

void test('metadata of every kind of text reaches the PDF', async (t) => {
  t.equal((await renderer.pdf({ html })).info['Title'], 'A letter');
  const metadata = {
    title: 'Angebot (5 %) \\ 価格 🙂',
    author: 'Žofia )(',
    subject: 'שלום',
    keywords: ['a', 'b c'],
  };
  const { info, pages: opened } = await renderer.pdf({ html, metadata });
  t.match(info, {
    Title: metadata.title,
    Author: metadata.author,
    Subject: metadata.subject,
    Keywords: 'a, b c',
    Producer: /Skia/,
  });
  t.equal(opened.length, 1);
});

void test('what metadata replace is gone from the bytes', async (t) => {
  const titled = { html: '<title>REPLACED TITLE</title><p>a' };
  const plain = await renderer.render(titled);
  const replaced = await renderer.render({ ...titled, metadata: { title: 'New' } });
  if (plain.kind !== 'completed' || replaced.kind !== 'completed') throw new Error('it fails');
  t.match(await readFile(plain.path, 'latin1'), 'REPLACED TITLE');
  const content = await readFile(replaced.path);
  t.notMatch(content.toString('latin1'), 'REPLACED TITLE');
  t.equal((await openPdf(replaced.path)).info['Title'], 'New');
  t.equal(replaced.sha256, createHash('sha256').update(content).digest('hex'));
  t.equal(replaced.bytes, content.length);
});

void test('a title of the page that looks like PDF, or is very long, leaves the file whole', async (t) => {
  const titles = [
    'endobj',
    'endobj\\',
    'a) >> endobj (b',
    '((( endobj % <<',
    '/Author &lt;4142> /Author (b)',
    'stream endobj',
    `${'long '.repeat(40_000)}endobj`,
    `${'łong '.repeat(40_000)}endobj`,
  ];
  for (const title of titles) {
    const metadata = { author: 'me' };
    const result = await renderer.render({ html: `<title>${title}</title><p>a`, metadata });
    if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
    const { info } = await openPdf(result.path);
    const whole = title.replace('&lt;', '<');
    t.ok(info['Author'] === 'me' && info['Title'] === whole, whole.slice(-40));
    t.match(info['Producer'], /Skia/);
    const appended = (await readFile(result.path, 'latin1')).split('%%EOF\n')[1] ?? '';
    t.match(appended, /^\n\d+ 0 obj\n<<[^]*>>\s*endobj\nxref\n/, 'the object ends once');
  }
});

void test('links to files, scripts and shares are removed, wherever they come from', async (t) => {
  const bad = [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'data:text/html,x',
    'smb://host/a',
    'FILE:///b',
  ];
  const anchors = bad.map((url) => `<p><a href="${url}">bad</a></p>`).join('');
  const good =
    '<h1 id=top>Head</h1><a href="https://example.com/a(b)c">good</a> <a href="mailto:a@example.com">mail</a> <a href="#top">top</a>';
  const svg = '<svg width=90 height=30><a href="file:///svg"><text y=20>svg</text></a></svg>';
  const picture = `<a href=b><img width=9 height=9 alt="\n/Annots [\n\nxref\n0 9\n" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"></a>`;
  const body = `${anchors}${good}${svg}<a href="/relative">own</a>${picture}<iframe srcdoc='${anchors}'></iframe>`;
  const header_html = '<a style="font-size:10px" href="file:///header">header</a>';
  for (const tagged of [true, false]) {
    const request = { html: body, header_html, metadata: { author: 'me' } };
    const pdf = await renderer.pdf(request, { margin_top: '2cm', outline: tagged, tagged });
    const [page] = pdf.pages;
    t.equal(page?.annotations, 3, 'no empty ones are left');
    t.same(
      [...new Set(page?.urls)].toSorted(),
      ['https://example.com/a(b)c', 'mailto:a@example.com'].toSorted(),
    );
    t.match(page?.text, /bad[^]*top[^]*svg[^]*own/, 'their text stays');
    t.equal(pdf.info['Author'], 'me');
    t.same(pdf.outline, tagged ? ['Head'] : []);
    t.same(pdf.roles.filter((role) => role === 'Link').length, tagged ? 3 : 0);
  }
});

const manyLinks = (href: string): string =>
  Array.from(
    { length: 1000 },
    (_, at) => `<p>see <a ${href}="page/${at}.html">number ${at}</a>`,
  ).join('');

void test('a document of many links that lead nowhere is as large as one of none', async (t) => {
  const sizes: number[] = [];
  for (const href of ['href', 'name']) {
    const result = await renderer.render({ html: manyLinks(href) });
    if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
    sizes.push((await readFile(result.path)).length);
  }
  const [links = 0, none = 0] = sizes;
  t.ok(links < none * 1.2, `${links} and ${none} bytes`);
});

void test('options that leave the page no room fail with that reason', async (t) => {
  const result = await renderer.render({ html }, { margin_top: '20cm', margin_bottom: '20cm' });
  t.match(result, { kind: 'failed', code: 'renderer_failed', message: /leave it no room/ });
});
