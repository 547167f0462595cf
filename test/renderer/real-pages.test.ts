/** Pages as people write them: charts, observers, fonts, scripts of the world, a thousand pages. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import type { RenderResult } from '../../src/renderer/messages.ts';
import { openPdf } from '../support/pdf.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { comparable } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { systemFont } from '../support/system-font.ts';
import { JPEG, png, svg as svgUrl } from '../support/tiny-images.ts';

const AT_ONCE = 3;
const renderer = await startTestRenderer({ allowPrivateNetwork: true, concurrency: AT_ONCE });
tap.teardown(() => renderer.close());

// A face that no fallback of these pages would choose.
const font = await readFile(systemFont('LiberationMono-Italic.ttf'));
const server = createServer(({ url }, response) => {
  const cross = { 'Access-Control-Allow-Origin': '*' };
  if (url === '/font.ttf') response.writeHead(200, cross).end(font);
  else if (url === '/never.ttf') response.writeHead(200, { ...cross, 'Content-Length': '9999' });
  else if (url === '/red.svg') {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40" fill="#d01020"/></svg>';
    response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(svg);
  } else response.writeHead(404).end();
  if (url === '/never.ttf') response.flushHeaders();
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
tap.teardown(() => {
  server.closeAllConnections();
  server.close();
});

function completed(result: RenderResult) {
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return result;
}

void test('charts drawn in animation frames are drawn', async (t) => {
  const svg = `<svg id=s width=200 height=100></svg><script>
    requestAnimationFrame(() => requestAnimationFrame(() => {
      s.innerHTML = '<rect width=50 height=90 fill="#0a64c8"/><text x=60 y=50>42 %</text>';
    }))</script>`;
  const chart = await renderer.pdf({ html: svg });
  t.match(chart.text, /42 %/);
  t.ok(chart.pages[0]?.fills.has('#0a64c8'));

  // One that grows over 40 frames says by itself when it is done.
  const growing = `<svg id=s width=200 height=100><rect id=r height=9 fill="#0a64c8"/></svg><script>
    let n = 0; (function grow() { r.setAttribute('width', n += 5);
      if (n < 200) requestAnimationFrame(grow);
      else document.body.insertAdjacentHTML('beforeend', '<p class=done>drawn ' + n + '</p>') })()
    </script>`;
  const grown = await renderer.pdf({ html: growing, wait_for: { selector: '.done' } });
  t.match(grown.text, /drawn 200/);

  const canvas = `<canvas id=c width=200 height=100></canvas><script>requestAnimationFrame(() => {
    const g = c.getContext('2d'); g.fillStyle = '#00f'; g.fillRect(0, 0, 200, 100) })</script>`;
  const painted = completed(await renderer.render({ html: canvas }));
  const empty = completed(
    await renderer.render({ html: '<canvas width=200 height=100></canvas>' }),
  );
  t.ok(painted.bytes > empty.bytes, 'the canvas is in the PDF as an image');
});

void test('documents that render at once each have their animation frames', async (t) => {
  const counting = `<p id=p></p><script>let n = 0; const begun = performance.now();
    (function next() { if (++n < 60) requestAnimationFrame(next);
      else { p.textContent = 'frames in ' + Math.round(performance.now() - begun); p.className = 'done' }
    })()</script>`;
  const request = { html: counting, wait_for: { selector: '.done' } };
  const results = await Promise.all(
    Array.from({ length: AT_ONCE }, () => renderer.render(request, {}, 60_000)),
  );
  for (const result of results) {
    const { text } = await openPdf(completed(result).path);
    const [, ms] = /frames in (\d+)/.exec(text) ?? [];
    // One that is not drawn for, as a tab in the background, has one a second.
    t.ok(Number(ms) < 30_000, `60 frames took ${ms} ms`);
  }
});

void test('observers: what is sized, and what shows only when it is scrolled to', async (t) => {
  const html = `<p id=sized></p>${'<section style="height:900px">far down</section>'.repeat(8)}
    <p class=late>-</p><div style="height:700px"></div><p class=late>-</p><script>
    new ResizeObserver(([{ contentRect }]) => sized.textContent ||= 'width ' + contentRect.width)
      .observe(document.body);
    const watch = new IntersectionObserver((seen) => {
      for (const { isIntersecting, target } of seen) if (isIntersecting) target.textContent = 'revealed';
    });
    for (const each of document.querySelectorAll('.late')) watch.observe(each);</script>`;
  const result = completed(await renderer.render({ html }));
  const { text } = await openPdf(result.path);
  t.match(text, /width \d+/);
  t.equal(text.match(/revealed/g)?.length, 2);
  t.ok(result.page.waits.some((each) => each.for === 'view'));
});

void test('lazy images far down are there', async (t) => {
  const html = `<div style="height:6000px"></div><img loading=lazy src="${origin}/red.svg">`;
  const { pages } = await renderer.pdf({ html }, { print_background: true });
  t.ok(pages.at(-1)?.fills.has('#d01020'));
});

void test('Chrome does not wait two seconds for lazy images that are there', async (t) => {
  const account = accountId();
  const printMs = async (source: string): Promise<number> => {
    const html = `<div style="height:6000px"></div><img loading=lazy src="${source}">`;
    return completed(await renderer.render({ html }, {}, undefined, account)).timings.print;
  };
  for (const source of [`${origin}/red.svg`, svgUrl('<rect width="20" height="20"/>')]) {
    // The tab keeps what it has loaded.
    await printMs(source);
    const again: number[] = [];
    // No print that waits is shorter; one that does not may be longer on a busy machine.
    while (again.length < 8 && !(Math.min(...again) < 2_000)) again.push(await printMs(source));
    t.ok(Math.min(...again) < 2_000, `${source.slice(0, 20)}: ${again.join(', ')} ms`);
  }
});

const styled = (path: string): string =>
  `<style>@font-face{font-family:own;src:url(${origin}${path})}p{font-family:own,"Liberation Sans"}</style>
   <p>Written in the page's own font</p>`;

void test('a web font is used, and one that does not come is replaced', async (t) => {
  const loaded = completed(await renderer.render({ html: styled('/font.ttf') }));
  t.same(loaded.page.fonts, ['LiberationMono-Italic']);
  const missing = completed(await renderer.render({ html: styled('/gone.ttf') }));
  t.same(missing.page.fonts, ['LiberationSans']);
  t.match((await openPdf(missing.path)).text, /Written in the page's own font/);

  // A font server that never ends is not waited out: the limit would be reached.
  const held = completed(await renderer.render({ html: styled('/never.ttf') }, {}, 10_000));
  t.same(held.page.fonts, ['LiberationSans']);
  t.match((await openPdf(held.path)).text, /Written in the page's own font/);
  t.match(
    held.page.waits.find((each) => each.capped),
    { for: /^(load|fonts)$/ },
    'and the manifest says what was given up',
  );
});

const one = (content: string): string => `<!doctype html><style>p { margin: 0 }</style>${content}`;

const printed = async (html: string): Promise<string> =>
  comparable(await renderer.bytes({ html }, {}, accountId()));

void test('images and fonts of the document itself are on paper', async (t) => {
  const image = png(24, 16, [200, 30, 60]);
  const blank = await printed(one('<p></p>'));
  const pictures = [
    `<img src="${image}">`,
    `<img style="margin-top:3000px" src="${JPEG}">`,
    `<input type=image src="${image}">`,
    `<p style="width:24px;height:16px;print-color-adjust:exact;background:url(${image})">`,
    `<style>li { list-style-image: url(${image}) }</style><li>a`,
    `<img src="${svgUrl(`<image width="40" height="40" href="${image}"/>`)}">`,
    `<svg width=24 height=16><image width=24 height=16 href="${image}"/></svg>`,
    `<style>@page { margin: 2cm; @top-left { content: url(${image}) } }</style><p>a`,
  ];
  for (const picture of pictures) {
    const pdf = await printed(one(picture));
    t.not(pdf, blank, picture.slice(0, 60));
    t.ok(/\/Subtype \/Image/.test(pdf), `there is an image of ${picture.slice(0, 40)}`);
  }
  const data = `url(data:font/ttf;base64,${(await readFile(systemFont('LiberationMono-Bold.ttf'))).toString('base64')})`;
  const face = `@font-face { font-family: own; font-display: swap; src: ${data} }`;
  for (const rule of [
    'p { font-family: own }',
    '@page { margin: 2cm; @top-left { content: "head"; font-family: own } }',
  ]) {
    const pdf = await printed(
      one(`<style>${face} p { font-family: sans-serif } ${rule}</style><p>text`),
    );
    t.match(pdf, /LiberationMono-Bold/, rule);
  }
});

/** Its letters in an order that does not depend on how the PDF's reader puts lines together. */
const letters = (all: string): string =>
  Array.from(all.replaceAll(/\s/g, '').normalize('NFKC')).toSorted().join('');

void test('CJK, right-to-left and emoji text has its glyphs', async (t) => {
  const texts = {
    Chinese: '漢字與假名',
    Japanese: 'かなカナ漢字',
    Korean: '한국어',
    Arabic: 'مرحبا بالعالم',
    Hebrew: 'שלום עולם',
    Thai: 'สวัสดี',
    Devanagari: 'नमस्ते',
    Greek: 'Καλημέρα',
    Cyrillic: 'Здравствуйте',
  };
  for (const [language, words] of Object.entries(texts)) {
    const { page, path } = completed(await renderer.render({ html: `<p>${words}</p>` }));
    const { text } = await openPdf(path);
    if (language === 'Devanagari' || language === 'Thai') t.ok(text.trim() !== '', language);
    else t.equal(letters(text), letters(words), language);
    t.ok(page.fonts.length > 0, `${language} in ${page.fonts.join(', ')}`);
  }
  const emoji = completed(await renderer.render({ html: '<p>😀 👩‍👩‍👧 🇪🇺</p>' }));
  t.ok(emoji.page.fonts.some((name) => /emoji/i.test(name)));
});

void test('right-to-left text begins at the right', async (t) => {
  const html = '<body dir=rtl style="margin:0"><p>שלום</p>';
  const [page] = (await renderer.pdf({ html })).pages;
  t.ok((page?.items[0]?.x ?? 0) > (page?.width ?? 0) / 2);
});

const chapter = (n: number): string =>
  `<h1 style="break-before:page">Chapter ${n}</h1><p>words</p>`;

void test('a thousand pages', async (t) => {
  const html = `<body>${Array.from({ length: 1_000 }, (_, n) => chapter(n + 1)).join('')}`;
  const result = completed(await renderer.render({ html }, { outline: true }, 60_000));
  t.equal(result.pages, 1_000);
});
