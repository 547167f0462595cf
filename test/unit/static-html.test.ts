/** HTML that is taken to be static. A wrong yes would let a script into a shared window. */
import t from 'tap';
import { invoice, letter, scripted } from '../../bench/documents.ts';
import { staticMode } from '../../src/renderer/chrome/load.ts';

const isStatic = [
  '<p>text</p>',
  letter(1),
  invoice(1),
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><p>a</p>',
  '<style>p { color: red }</style><style media="print">p > b { color: blue }</style><p>a</p>',
  '<a href="https://example.com/">a</a> <a href=#there>b</a> <a href="mailto:a@example.com">c</a>',
  '<svg><rect fill="url(#g)" /></svg>',
  '<p>Our conditions: shipping = free, version = 2</p>',
];
for (const html of isStatic) t.ok(staticMode(html), html.slice(0, 80));
t.equal(staticMode('\n<!DOCTYPE html><p>a</p>'), 'standards');
t.equal(staticMode('<p>a</p>'), 'quirks');

const not = [
  scripted(1),
  '<SCRIPT>1</SCRIPT>',
  '<script src=x></script>',
  '<svg><script href="#"/></svg>',
  '<body onload=run()>',
  '<img/onerror=run() src>',
  '<p title="a"onclick="x">',
  '<p\nonclick\n=\n"x">',
  '<iframe srcdoc="&lt;script&gt;"></iframe>',
  '<frameset><frame></frameset>',
  '<object data=x></object>',
  '<embed src=x>',
  '<a href="javascript:run()">a</a>',
  '<a href=" /relative">a</a>',
  '<a href="//example.com/">a</a>',
  '<img src="a.png">',
  '<link rel=stylesheet href="https://example.com/">',
  '<style>@import "a.css";</style>',
  '<style>@font-face { font-family: a; src: local("b") }</style>',
  '<style>p { background: url("a.png") }</style>',
  '<style>p { background: u\\72l(a.png) }</style>',
  '<style title="chosen">p { color: red }</style>',
  '<style>p { animation: a 1s }</style>',
  '<meta http-equiv="refresh" content="0;url=https://example.com/">',
  '<meta http-equiv="Content-Security-Policy" content="default-src none">',
  '<meta name="referrer" content="origin">',
  '<base href="https://example.com/">',
  '<template shadowrootmode=open><script>1</script></template>',
  '<svg><animate attributeName="x" dur="1s"/></svg>',
  '<svg><use href="https://example.com/a.svg#b"/></svg>',
  '<video autoplay></video>',
  '<body link="red"><a href="https://example.com/">a</a>',
  '<body VLink=red>',
  '<!doctype html public "-//W3C//DTD HTML 4.01 Transitional//EN"><p>a</p>',
  '<!-- a --><!doctype html><p>a</p>',
  '<input autofocus>',
  `<p>${'long '.repeat(100_000)}</p>`,
];
for (const html of not) t.notOk(staticMode(html), html.slice(0, 80));

const floods = [
  '<',
  '<meta',
  '<style',
  'style=',
  ' ',
  'on',
  'href=',
  'url(',
  '<meta name=',
  'on a ',
];
for (const each of floods) {
  const begun = performance.now();
  staticMode(each.repeat(Math.floor(250_000 / each.length)));
  t.ok(performance.now() - begun < 1_000, `a flood of ${JSON.stringify(each)} is soon judged`);
}
