/**
 * Random documents of one account, one after another, in the windows and processes that it finds. Each PDF must
 * be the one that an account of its own gets. SEQUENCE_LENGTH runs more of them, TEST_SEED the same ones again.
 */
import { readFile } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/events.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { seededRandom } from '../support/random.ts';
import { accountId } from '../support/samples.ts';

const LENGTH = Number(process.env['SEQUENCE_LENGTH'] ?? 60);

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const random = seededRandom();
const isChosen = (percent: number): boolean => random.integer(1, 100) <= percent;
const oneOf = <T>(choices: readonly T[]): T => {
  const chosen = choices[random.integer(0, choices.length - 1)];
  if (chosen === undefined) throw new Error('There is nothing to choose from.');
  return chosen;
};
const someOf = (choices: readonly string[]): string => choices.filter(() => isChosen(30)).join('');

const DOCTYPES = [
  '',
  '',
  '<!doctype html>',
  '<!DOCTYPE html>\n',
  '<!doctype html public "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
  '\uFEFF<!doctype html>',
];
const LANGUAGES = [
  '',
  '',
  ' lang=en',
  ' lang=ja',
  ' lang="ko"',
  ' lang=zh-Hans',
  ' lang=he dir=rtl',
];
const BODIES = ['', '', ' link=red vlink=lime', ' text=blue', ' bgcolor=#eee', ' style="zoom:1.5"'];
const STYLES = [
  '<style>p { width: 200; color: 0000ff; margin: 1em }</style>',
  '<style>* { --left: red } p { color: var(--left) }</style>',
  '<style>@page { size: A5; margin: 3cm }</style>',
  '<style>@page :first { margin: 0 } h1 { counter-increment: left }</style>',
  '<style>@layer a { p { font: italic 20px serif } } a:visited { color: lime }</style>',
  '<style>div { transition: all 1s; transform: rotate(3deg) }</style>',
  '<style media=screen>p { display: none }</style>',
];
const PARTS = [
  '<div style="width:100;height:40;color:ff0000;border:1px solid">unitless</div>',
  '<p><a href="https://example.com/a">link</a> <a href="#there">there</a></p>',
  '<p id=there>直骨角 漢字</p>',
  '<p>&#x1f600; &check; &#x1d44e; 𝑎</p>',
  '<table border=1 width=300><tr><td>cell<td>cell</table>',
  '<p style="position:fixed;bottom:0">fixed</p>',
  '<ol><li>a<li>b</ol><details open><summary>s</summary>more</details>',
  '<svg width=50 height=20><linearGradient id=g><stop stop-color=red /></linearGradient><rect width=50 height=20 fill="url(#g)"/></svg>',
  '<h1>Title</h1><p style="break-after:page">page</p><p>next</p>',
  '<img alt=dot src="data:image/gif;base64,R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs=" width=9>',
];
const SCRIPTS = [
  'resizeTo(320, 240)',
  'resizeBy(50, 50); moveTo(9, 9)',
  'scrollTo(0, 500)',
  'localStorage.a = sessionStorage.a = 1; name = "left"; document.cookie = "a=1"',
  'onscroll = onresize = () => document.body.append("heard")',
  'matchMedia("print").onchange = () => document.body.append("print")',
  'history.pushState(1, ""); history.pushState(2, "")',
  'document.body.append([innerWidth, innerHeight, screenX, name, history.length, localStorage.length].join())',
  'setInterval(() => document.title = "left", 3)',
  'document.body.append(document.compatMode, document.documentElement.lang, devicePixelRatio)',
  'document.designMode = "on"; getSelection().selectAllChildren(document.body)',
];
const OPTIONS: readonly Partial<PrintOptions>[] = [
  {},
  {},
  { landscape: true },
  { media: 'screen' },
  { page_size: 'A5', scale: 1.4 },
  { outline: true },
  { tagged: false, print_background: false },
  { javascript: false },
  { prefer_css_page_size: true },
];

function makeDocument() {
  const script = isChosen(40) ? `<script>${oneOf(SCRIPTS)}</script>` : '';
  const head = `<title>${random.integer(1, 9)}</title>${someOf(STYLES)}`;
  const body = `<body${oneOf(BODIES)}><p>text</p>${someOf(PARTS)}${script}`;
  const html = `${oneOf(DOCTYPES)}<html${oneOf(LANGUAGES)}><head>${head}</head>${body}`;
  return { html, options: oneOf(OPTIONS) };
}

type Made = ReturnType<typeof makeDocument>;

/** A PDF but for what no two of them have in common. */
async function printed({ html, options }: Made, account: string): Promise<string> {
  const result = await renderer.render({ html }, options, undefined, account);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  const pdf = await readFile(result.path, 'latin1');
  return pdf.replace(/\/(Creation|Mod)Date \(D:[^)]*\)|\/ID ?\[[^\]]*\]/g, '');
}

void test(`documents in a row, by seed ${random.seed}`, async (t) => {
  const account = accountId(1);
  for (let number = 1; number <= LENGTH; number += 1) {
    const made = makeDocument();
    const after = await printed(made, account);
    const fresh = await printed(made, accountId(1_000 + number));
    if (after === fresh) {
      t.pass();
      continue;
    }
    // Chrome may print such a document in two ways by chance.
    const others = await Promise.all(
      [1, 2, 3].map((each) => printed(made, accountId(100_000 * each + number))),
    );
    const isByChance = others.some((other) => other !== fresh);
    if (isByChance) t.comment(`document ${number} differs from itself: ${made.html}`);
    t.ok(isByChance, `document ${number}, ${JSON.stringify(made)}`);
  }
});
