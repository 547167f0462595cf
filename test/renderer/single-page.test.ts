/** `single_page`: one page that is as long as the document. */
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { startTestRenderer } from '../support/renderer.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const MM = 72 / 25.4;
const lines = (count: number): string => '<p>line</p>'.repeat(count);

async function print(request: RequestDocument, options: Partial<PrintOptions> = {}) {
  const { pages } = await renderer.pdf(request, { single_page: true, ...options });
  const [page] = pages;
  if (page === undefined || pages.length !== 1) throw new Error(`${pages.length} pages`);
  return {
    ...page,
    width: page.width / MM,
    height: page.height / MM,
    bottom: Math.min(...page.items.map(({ y }) => y)) / MM,
  };
}

void test('the page ends where the document does', async (t) => {
  const html = `<!doctype html><body style="margin:0">${lines(100)}<p>end`;
  const page = await print({ html });
  t.ok(Math.abs(page.width - 210) < 1, `${page.width} mm wide`);
  t.match(page.text, /end/);
  t.ok(
    page.height > 600 && page.bottom > 10 && page.bottom < 25,
    `ends ${page.bottom} mm above the edge`,
  );
  const narrow = await print(
    { html: `<!doctype html>${'word '.repeat(400)}` },
    { width: '80mm', margin_left: '2mm', margin_right: '2mm', margin_bottom: '30mm' },
  );
  t.ok(
    Math.abs(narrow.width - 80) < 1 && narrow.bottom > 30 && narrow.bottom < 45,
    `${narrow.bottom} mm`,
  );
  const short = await print(
    { html: '<p style="font-size: 8px">x' },
    { margin_top: '0px', margin_bottom: '0px' },
  );
  t.ok(short.height >= 9.9 && short.height < 20, `${short.height} mm`);
  const landscape = await print({ html }, { landscape: true, scale: 0.5 });
  t.ok(
    Math.abs(landscape.width - 297) < 1 && landscape.height < page.height,
    `${landscape.height} mm`,
  );
});

void test('the window keeps its pixels while the page is measured', async (t) => {
  const html = `<!doctype html><p id=p></p><script>addEventListener('beforeprint', () => {
    p.textContent = 'ratio ' + devicePixelRatio + ', ' + innerWidth + ' by ' + innerHeight })</script>`;
  const viewport = { width: 600, height: 400, device_scale_factor: 2 };
  t.match((await print({ html }, { viewport })).text, /ratio 2, 600 by 400/);
});

void test('header and footer stand in the margins', async (t) => {
  const page = await print(
    {
      html: `<!doctype html>${lines(80)}`,
      header_html: '<b>top</b>',
      footer_html: '<b>bottom <i class="totalPages"></i></b>',
    },
    { margin_top: '2cm', margin_bottom: '2cm' },
  );
  t.match(page.text, /top/);
  t.match(page.text, /bottom\s*1/);
});

void test('what would part a document does not', async (t) => {
  const cases: Readonly<Record<string, string>> = {
    breaks: `<style>h1 { break-before: page } .wide { page: wide; break-after: always } @page wide { size: A3 landscape }</style>${'<h1>part</h1><p class=wide>x</p>'.repeat(5)}`,
    'a size and margins of its own': `<style>@page { size: A5; margin: 5cm } @page :first { margin-top: 9cm }</style>${lines(90)}`,
    'a box as tall as the window': `<style>html { height: 100% } body { min-height: 100vh; margin: 8px; background: #eee }</style>${lines(90)}`,
    'more than its width': `<div style="width: 900px; height: 1500px">wide</div><p>end`,
    'an image and rows': `<table>${'<tr style="break-inside: avoid"><td>row</td></tr>'.repeat(90)}</table><svg height=30></svg>`,
    'a table head': `<table><thead><tr><th>Head</th></tr></thead>${'<tr><td>row</td></tr>'.repeat(90)}</table>`,
  };
  for (const [what, html] of Object.entries(cases)) {
    const page = await print({ html: `<!doctype html>${html}` }).catch((error: unknown) =>
      String(error),
    );
    if (typeof page === 'string') t.fail(`${what}: ${page}`);
    else t.ok(page.bottom < 60, `${what}: ${page.bottom} of ${page.height}`);
  }
});

void test('a document that is too long, or is never on one page, fails', async (t) => {
  const render = async (html: string, options: Partial<PrintOptions> = {}) =>
    await renderer.render({ html }, { single_page: true, ...options });
  t.match(await render(`<div style="height: 6000mm">long`), {
    kind: 'failed',
    code: 'too_large',
    message: /would be 6\.0 m long on one page, of at most 5 m/,
  });
  const cover = `<!doctype html><style>.cover { height: 100vh }</style><div class=cover>cover</div>${lines(20)}`;
  t.match(await render(cover), { kind: 'failed', code: 'too_large', message: /100vh/ });
  const css = '.cover { height: 20cm }';
  t.equal((await renderer.pdf({ html: cover, css }, { single_page: true })).pages.length, 1);
  t.equal((await renderer.pdf({ html: cover })).pages.length, 2, 'the next document has its pages');
});
