/** What moves is printed at its end, or as its own style says. Real Chrome. */
import { readFile } from 'node:fs/promises';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { comparable, visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer();
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
  'an animation within a frame': [
    `<iframe srcdoc="<style>${shift} p { animation: shift 3s forwards }</style><p>a"></iframe>`,
    '<iframe srcdoc="<p style=margin-left:200px>a"></iframe>',
  ],
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
  'an animation of SVG, at its fifth second': [
    '<svg><rect width=1 height=9><animate attributeName=width from=0 to=100 dur=10s fill=freeze /></rect></svg>',
    '<svg><rect width=50 height=9></rect></svg>',
  ],
  'animations of an SVG within another one': [
    '<svg><svg><rect width=1 height=9><animate attributeName=width from=0 to=50 dur=20s repeatCount=indefinite /></rect></svg></svg>',
    '<svg><svg><rect width=1 height=9></rect></svg></svg>',
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
    shown('', '<rect width=1 height=9></rect>'),
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

void test('animations stand at their end, and those without one are cancelled', async (t) => {
  const html = `<style>@keyframes k { from { color: #d01020 } to { color: #10d020 } }
    .end { animation: k 2s both } .start { animation: k 2s infinite }</style><p class=end>a<p class=start>b`;
  const { pages } = await renderer.pdf({ html });
  t.ok(pages[0]?.fills.has('#10d020'));
  t.notOk(pages[0]?.fills.has('#d01020'));
});

const fillsShown = async (css: string, code = ''): Promise<ReadonlySet<string> | undefined> => {
  const html = `<style>@keyframes k { from { fill: #d01020 } to { fill: #10d020 } } ${css}</style><svg width=0 height=0><symbol id=a><rect class=i width=9 height=9 /></symbol></svg>
    <svg id=s><use href="#a" /></svg><script>${code}</script>`;
  return (await renderer.pdf({ html })).pages[0]?.fills;
};

void test('animations stand still where no script reaches them', async (t) => {
  for (const [what, colour, css, code] of [
    ['one that ends', '#10d020', '.i { animation: k 3s forwards }'],
    ['one without an end', undefined, '.i { animation: k 3s infinite }'],
    [
      'a transition',
      '#10d020',
      '.i { transition: fill 3s; fill: inherit } .on { fill: #10d020 }',
      'setTimeout(() => s.classList.add("on"), 100)',
    ],
  ] as const) {
    const found = await fillsShown(css, code);
    t.same(
      ['#d01020', '#10d020'].filter((each) => found?.has(each)),
      colour === undefined ? [] : [colour],
      what,
    );
  }
});

const printBar = async (attributes: string, busyMs = 0): Promise<Buffer> => {
  const html = `<progress ${attributes}></progress><script>const t = Date.now(); while (Date.now() - t < ${busyMs});</script>`;
  return await renderer.bytes({ html }, {}, accountId(1));
};

void test('a bar of progress without a value is printed in one way', async (t) => {
  const expected = await printBar('');
  for (const ms of [0, 150, 300]) {
    t.equal(await visibleDifference(expected, await printBar('', ms)), undefined, `${ms} ms late`);
  }
});

void test('thousands of animations that begin late are looked at together', async (t) => {
  const hide = '@keyframes hide { to { opacity: 0 } } b { animation: hide 1s 2s forwards }';
  const html = `<style>${hide} b { display: inline-block }</style>${'<b>x</b> '.repeat(6_000)}`;
  // Looked at one by one they would take minutes; a busy machine may take its time, and so has a tab that had no other
  // document: a slow frame of one that had is taken for one that never ends, and tried again.
  const result = await renderer.render({ html }, {}, 90_000, accountId(2));
  t.match(result, { kind: 'completed', message: undefined });
});
