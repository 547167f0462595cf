/** Documents that are written into a window: they fetch nothing, and are printed whole and always the same. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { comparable } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { systemFont } from '../support/system-font.ts';
import { JPEG, png, svg } from '../support/tiny-images.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

let accounts = 0;
const newAccount = (): string => accountId((accounts += 1));

async function printed(html: string, account: string = newAccount()): Promise<string> {
  const result = await renderer.render({ html }, {}, undefined, account);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return comparable(await readFile(result.path));
}

const shift = '@keyframes shift { from { margin-left: 100px } to { margin-left: 200px } }';
// Each pair: what moves, and the picture of it that belongs on paper.
const MOVING: Readonly<Record<string, readonly [moving: string, still: string]>> = {
  'an animation that ends': [
    `<style>${shift} p { animation: shift 3s forwards }</style><p>a`,
    '<p style="margin-left:200px">a',
  ],
  'an animation that goes away': [`<style>${shift} p { animation: shift 3s }</style><p>a`, '<p>a'],
  'an animation that never ends': [
    `<style>${shift} p { animation: shift 4s -1s linear infinite }</style><p>a`,
    '<p>a',
  ],
  'an animation that is paused': [
    `<style>${shift} p { animation: shift 4s -1s linear paused }</style><p>a`,
    '<p style="margin-left:125px">a',
  ],
  'an animation that is paused where it turns': [
    '<style>@keyframes turn { from, to { rotate: 30deg } } p { animation: turn 4s paused }</style><p>a',
    '<p style="rotate:30deg">a',
  ],
  'a turn that a custom property names': [
    '<style>* { --turn: 30deg; --filter: none } p { rotate: var(--turn) }</style><p>a',
    '<p style="rotate:30deg">a',
  ],
  'a transition at the start': [
    '<style>p { transition: margin 1s; margin-left: 50px; @starting-style { margin-left: 0 } }</style><p>a',
    '<p style="margin-left:50px">a',
  ],
  'a transition that never starts': ['<style>* { transition: all 1s }</style><p>a', '<p>a'],
  'animations of an SVG within another one': [
    '<svg><svg><rect width=1 height=9><animate attributeName=width from=0 to=50 dur=20s repeatCount=indefinite /></rect></svg></svg>',
    '<svg><svg><rect width=12.5 height=9></rect></svg></svg>',
  ],
};

const colours = '@keyframes colours { from { fill: red } to { fill: blue } }';
/** A sign, hidden as signs are, and shown twice: by itself and within another one. */
const shown = (css: string, sign = '<rect class=sign width=9 height=9></rect>'): string =>
  `<style>${css}</style><svg width=0 height=0><symbol id=a>${sign}</symbol><symbol id=b><use href="#a" /></symbol></svg>` +
  '<svg><use href="#a" /></svg><svg><use href="#b" /></svg>';
const SHOWN_BY_USE: typeof MOVING = {
  'an animation that ends': [
    shown(`${colours} .sign { animation: colours 3s forwards }`),
    shown('.sign { fill: blue }'),
  ],
  'an animation that never ends': [
    shown(`${colours} .sign { animation: colours 3s infinite }`),
    shown(''),
  ],
  'an animation of SVG': [
    shown(
      '',
      '<rect width=1 height=9><animate attributeName=width from=0 to=50 dur=20s repeatCount=indefinite /></rect>',
    ),
    shown('', '<rect width=12.5 height=9></rect>'),
  ],
};

void test('what moves where use shows it is printed in the same way', async (t) => {
  for (const [what, [moving, still]] of Object.entries(SHOWN_BY_USE)) {
    t.ok((await printed(moving)) === (await printed(still)), what);
  }
  // Names of fields may cover an element's own.
  const covered = '<form id=f><input name=querySelectorAll><input name=querySelector></form>';
  const form = (css: string): string =>
    `<style>${css}</style>${covered}<p class=sign>a<svg><use href="#f" /></svg>`;
  t.ok(
    (await printed(form(`@keyframes a { from { opacity: 0 } } .sign { animation: a 3s }`))) ===
      (await printed(form(''))),
    'beside a form',
  );
});

void test('a bar of progress without a value is always printed the same', async (t) => {
  const native = '<progress></progress>';
  const styled =
    '<style>progress { border: 0 } ::-webkit-progress-bar { background: #ccc }</style><progress></progress>';
  for (const html of [native, styled]) {
    const first = await printed(html);
    for (let time = 0; time < 3; time += 1) t.ok((await printed(html)) === first, html);
  }
});

void test('what moves is printed at its end, or not at all if it has none', async (t) => {
  for (const [what, [moving, still]] of Object.entries(MOVING)) {
    t.ok((await printed(moving)) === (await printed(still)), what);
  }
});

const one = (content: string): string => `<!doctype html><style>p { margin: 0 }</style>${content}`;

void test('images and fonts of the document itself are on paper', async (t) => {
  const image = png(24, 16, [200, 30, 60]);
  const blank = await printed(one('<p></p>'));
  const pictures = [
    `<img src="${image}">`,
    `<img style="margin-top:3000px" src="${JPEG}">`,
    `<input type=image src="${image}">`,
    `<p style="width:24px;height:16px;print-color-adjust:exact;background:url(${image})">`,
    `<style>li { list-style-image: url(${image}) }</style><li>a`,
    `<img src="${svg(`<image width="40" height="40" href="${image}"/>`)}">`,
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

const inBase64 = (content: string): string =>
  `data:image/svg+xml;base64,${Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`).toString('base64')}`;

void test('a written document fetches nothing', async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const inside = inBase64(
    `<style>@import "${url}"; rect { fill: url(${url}) }</style><image href="${url}"/><script href="${url}"/>` +
      `<filter id="f"><feImage href="${url}"/></filter><foreignObject><img src="${url}"/></foreignObject>`,
  );
  const documents = [
    `<img src="${inside}"><p style="background:url('${inside}')">`,
    `<p style="filter:url('${inside}#f')">a<p style="mask:url('${inside}#f')">b<p style="clip-path:url('${inside}#f')">c`,
    `<a href="${url}">a</a><form action="${url}"><input value=a><button>b</button></form>`,
    `<!-- <img src="${url}"> --><title>&lt;img src="${url}"&gt;</title><p title='<img src="${url}">'>`,
    `<o:img src="data:image/png,"></o:img><math><mi data-src="${url}">x</mi></math>`,
    `<meta name=a content="${url}"><p>&lt;script src="${url}"&gt;</p>`,
    `<svg xmlns:a="${url}"><use href="#b"/><a href="#b"><text>a</text></a></svg>`,
  ];
  const account = newAccount();
  for (const html of documents) {
    await printed(html, account);
    const result = await renderer.render({ html }, {}, undefined, account);
    t.equal(result.kind, 'completed');
    if (result.kind === 'completed') t.same(result.page.resources, [], html.slice(0, 60));
  }
  t.equal(requests, 0);
});

void test('what Chrome draws in another way before its first frame is always printed the same', async (t) => {
  const far = '<div style="height:800px">b</div>';
  const documents = [
    `<div style="position:relative;height:1000px">a<div style="position:absolute;bottom:0;transform:translateY(40px)">b</div></div>${far}`,
    `<style>.a { backface-visibility: hidden; transform: translateZ(0) }</style><div class=a style="height:1500px">a<p class=a>b</div>${far}`,
    `<style>.a { transform-style: preserve-3d }</style><div class=a style="height:1500px">a<p class=a>b</div>${far}`,
  ];
  const account = newAccount();
  for (const html of documents) {
    const first = await printed(html);
    for (let time = 0; time < 5; time += 1) {
      t.ok((await printed(html, account)) === first, html.slice(0, 80));
    }
  }
});
