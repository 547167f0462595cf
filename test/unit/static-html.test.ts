/** HTML that is written into a window. A wrong yes would let a script or a request into it. */
import t from 'tap';
import { animatedCharts, invoice, letter, scripted, statement } from '../../bench/documents.ts';
import { withoutData } from '../../src/renderer/chrome/own-data.ts';
import { judgeHtml } from '../../src/renderer/chrome/static-html.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';

const plain = [
  '<p>text</p>',
  letter(1),
  invoice(1),
  '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><p>a</p>',
  '<style>p { color: red }</style><style media="print">p > b { color: blue }</style><p>a</p>',
  '<a href="https://example.com/">a</a> <a href=#there>b</a> <a href="mailto:a@example.com">c</a>',
  '<svg><rect fill="url(#g)" /></svg>',
  '<p>Our conditions: shipping = free, version = 2, onload = "x", <b>url(http://a)</b> 1 < 2</p>',
  '<a href=" /relative">a</a><a href="//example.com/">b</a>',
  '<!-- a --><!doctype html><p>a</p>',
  '<style>.icon::before { content: "\\f101" }</style><style>@layer a { p { margin: 0 } }</style>',
  '<title>a &lt; b</title><x-y>custom</x-y><o:p></o:p><!--[if mso]><img src=x><![endif]-->',
  `<p>${'long '.repeat(100_000)}</p>`,
];
for (const html of plain) t.equal(judgeHtml(html)?.leaves, false, html.slice(0, 80));
t.equal(judgeHtml('\n<!DOCTYPE html><p>a</p>')?.doctype, '<!doctype html>');
t.equal(judgeHtml('<p>a</p>')?.doctype, '');
t.equal(judgeHtml('text<!doctype html>')?.doctype, '', 'a doctype after text is none');
t.equal(judgeHtml('<p>a</p><!doctype html>')?.doctype, '', 'nor is one after a tag');

const leaving = {
  loads: [
    `<img src="${PNG}">`,
    `<img loading=eager src="${PNG}">`,
    `<img srcset="${PNG} 1x, ${PNG} 2x">`,
    `<p style="background: url('${PNG}')">`,
    `<p style="background: u\\72l(${PNG})">`,
    `<style>@font-face { font-family: a; src: url(data:font/woff2;base64,AAAA) }</style>`,
    `<svg><image href="${PNG}"/></svg>`,
    `<table background="${PNG}">`,
  ],
  moves: [
    '<style>p { animation: a 1s }</style>',
    '<svg><animate attributeName="x" dur="1s"/></svg>',
    '<style>@starting-style { p { opacity: 0 } }</style>',
  ],
  leaves: [
    '<style>* { transition: all .3s }</style>',
    '<form action="/send"><input value=a><select><option>b</select></form>',
    '<style title="chosen">p { color: red }</style>',
    '<style>@property --a { syntax: "*"; inherits: false }</style>',
    '<meta name="referrer" content="origin">',
    '<meta http-equiv="Content-Type" content="text/html; charset=utf-8">',
    '<body link="red"><a href="https://example.com/">a</a>',
    '<body VLink=red>',
    '<svg><use href="#b"/></svg>',
  ],
} as const;
for (const [what, documents] of Object.entries(leaving)) {
  for (const html of documents) {
    const judged = judgeHtml(html);
    t.ok(judged?.leaves && judged[what as keyof typeof leaving], `${what}: ${html.slice(0, 80)}`);
  }
}

const drawn = {
  '<style>.a:hover, p::before { transform: none } b { text-transform: none }</style>': [
    '.a:hover, p',
  ],
  '<style>@media print { .a { color: red } .b { filter: none } }</style>': ['.b'],
  '<style>.a { .b { color: red } opacity: 1; mix-blend-mode: multiply }</style>': ['*'],
  '<p style="transform: none">': ['*'],
  '<style>* { --transform: rotate(1deg); --filter: ; color: red } b { --a: 1; rotate: var(--a) }</style>':
    ['b'],
  '<style>input:not(:placeholder-shown) { scale: 2 } p::placeholder { scale: 2 }</style>': [
    'input:not(:placeholder-shown)',
    'p',
  ],
  '<style>@keyframes a { from, 20% { scale: 0 } 50.5% { scale: 2 } to { scale: 1 } }</style>': [],
  '<p style="--transform: none">': [],
  '<style>input[accept="image/*"] { color: red } .a { rotate: 1deg }</style>': ['.a'],
  '<style>b { background: url(data:image/png,/*) } .a { rotate: 1deg } /* { scale: 1 } */</style>':
    ['.a'],
  '<style>#method\\.new { rotate: 1deg } .a { r\\6ftate: 1deg }</style>': ['*', '.a'],
  '<style>.a\\{b { rotate: 1deg }</style>': ['*', 'b'],
  '<style>.print\\:-x-1 { rotate: 1deg }</style>': ['*'],
  '<style>@scope (.w) { :scope > .x { rotate: 1deg } }</style>': ['*'],
  '<style>[title="a::b"] { rotate: 1deg } [title="a-b"], [id] { rotate: 1deg }</style>': [
    '*',
    '[title="a-b"], [id]',
  ],
  '<style>:is(.w :-webkit-any(.x)) { rotate: 1deg } b:not(:-moz-any(i)) { rotate: 1deg }</style>': [
    ':is(.w :-webkit-any(.x))',
  ],
  '<style>.a { @supports not selector(:-moz-focusring) { rotate: 1deg } }</style>': ['*'],
  '<style>.md\\:-ms-4 { rotate: 1deg }</style>': ['*'],
  '<style>[style*="display:-ms-flexbox"] { rotate: 1deg }</style>': ['*'],
  '<style>.x:BEFORE { rotate: 1deg }</style>': ['.x'],
  '<style>.x { content: ";b{"; rotate: 1deg }</style>': ['*', 'b'],
  '<style>p { x: "\f" /*"; } .x { rotate: 1deg }/**/</style>': ['.x'],
  '<style>p { x: url(#a"b) " /*"; } .x { rotate: 1deg }/**/</style>': ['*', '.x'],
  '<style>input::file-selector-button { rotate: 1deg } i::part(x) { rotate: 1deg }</style>': [
    'input',
    'i',
  ],
  [`<style>/*# data:application/json;base64,${'A'.repeat(99)}0*/.a{rotate:1deg}</style>`]: ['.a'],
};
for (const [html, selectors] of Object.entries(drawn)) {
  t.same([...(judgeHtml(html)?.drawnFirst ?? [])], selectors, html);
}

const running = [
  scripted(1),
  statement(1),
  '<SCRIPT>1</SCRIPT>',
  '<script type="text/javascript" id=a>p.innerHTML = "<td>a</td>"</script>',
  '<svg></svg><script>if (1 < 2 && 3) 4</script>',
  '<script>window.onload = () => { document.title = performance.now() }</script>',
  '<script>addEventListener("DOMContentLoaded", () => { window.total = [1].at(0) })</script>',
  '<canvas id=c></canvas><script>requestAnimationFrame(() => c.getContext("2d").fillRect(0, 0, 9, 9))</script>',
  '<script>p.append(document.documentElement.lang, document.createDocumentFragment()); let windowWidth = 1</script>',
  '<script>p.style.background = "red"; matchMedia("print"); c.measureText("a")</script>',
  '<script>c.textBaseline = "top"; class A { f() { this.a = "Top parent: none" } } p.setAttribute("title", "a")</script>',
  '<p>1 &lt; 2 &amp; 3</p><script>1</script>',
  '<script>const date = "\\u2013"; p.style.marginTop = rect.top + "px"; const o = { top: 1, parent: 2 }</script>',
];
// A pattern that took more than linear time would not end within the time of a test.
for (const [part, runs] of [
  ['storage', undefined],
  ['Worker', undefined],
  ['RTC', undefined],
  ['URI', true],
  ['a', true],
] as const) {
  const script = `${part.repeat(200_000)}$ ${' '.repeat(1_000_000)}`;
  t.equal(judgeHtml(`<script>${script}</script>`)?.runs, runs, part);
}

for (const html of running) {
  const judged = judgeHtml(html);
  t.equal(judged?.runs, true, html.slice(0, 80));
  t.equal(judged?.leaves, true, html.slice(0, 80));
}

const not = [
  animatedCharts(1),
  '<script>p.append(location)</script>',
  '<script>p.append(window .location)</script>',
  '<script>a-origin</script>',
  '<script>p.append(originAgentCluster)</script>',
  '<script>fetchLater("x")</script>',
  '<script>new Audio("https://example.com/")</script>',
  '<script>p.style.background = `image-set("https://example.com/" 1x)`</script>',
  '<script>Object.assign(document.createElement("meta"), { httpEquiv: "refresh", content: 0 })</script>',
  '<script>p.innerHTML = "<meta http-equiv=refresh content=0>"</script>',
  '<script>clientInformation.sendBeacon("x")</script>',
  '<script>new webkitRTCPeerConnection()</script>',
  '<script>document["coo" + "kie"]</script>',
  '<script>const d = document; d[x]</script>',
  '<script>window["local" + "Storage"]</script>',
  '<script>this[x]</script>',
  '<script>top[x]</script>',
  '<script>window.parent[x]</script>',
  '<script>document.\\u0063ookie</script>',
  '<script>document.\\u{63}ookie</script>',
  '<script>p.innerHTML = "<img src=a.png>"</script>',
  '<script>p.innerHTML = "<IMG SRC=a.png>"</script>',
  '<script>p.innerHTML = "<td background=a.png>"</script>',
  '<script>style.textContent = "p { background: image-set(\'a.png\' 1x) }"</script>',
  '<script>style.textContent = "p { background: Url(a.png) }"</script>',
  '<script>window.print()</script>',
  '<script>p.append(performance.timeOrigin)</script>',
  '<script>p.append(performance.measure("a").duration)</script>',
  '<script>addEventListener("pageshow", run)</script>',
  '<script>for (const [k, v] of all) i.setAttribute(k, v)</script>',
  '<script>const s = document.createElement("script"); s.text = "1"</script>',
  '<script>const w = this; w[x]</script>',
  '<pre>&lt;img&#32;x></pre><script>p.innerHTML = q.textContent</script>',
  '<script type=module>1</script>',
  '<script type=importmap>{}</script>',
  '<script type=speculationrules>{}</script>',
  '<script src="data:image/png,x"></script>',
  '<script async>1</script>',
  '<script/>1</script>',
  '<script>1',
  '<script>1</script a>',
  '<script><!-- <script> </script> --></script>',
  '<svg><script>a &lt; b</script></svg>',
  '<svg><script>a<b</script></svg>',
  '<p onclick="1"><script>1</script>',
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
  '<img src="a.png">',
  `<img loading=lazy src="${PNG}">`,
  '<link rel=stylesheet href="https://example.com/">',
  '<style>@import "a.css";</style>',
  '<style>p { background: url("a.png") }</style>',
  '<style>p { background: u\\72l(a.png) }</style>',
  '<meta http-equiv="refresh" content="0;url=https://example.com/">',
  '<meta http-equiv="Content-Security-Policy" content="default-src none">',
  '<base href="https://example.com/">',
  '<template shadowrootmode=open><script>1</script></template>',
  '<svg><use href="https://example.com/a.svg#b"/></svg>',
  '<video autoplay></video>',
  `<p style="x: &amp;'/*'; rotate: 1deg">`,
  '<input autofocus>',
  '<p style="background:u&#114;l(http://a)">',
  '<p fill="u&#114;l(http://a)">',
  '<p style="background:\\75rl(http://a)">',
  '<style>@\\69mport "http://a"</style>',
  '<div style="background:image-set(\'http://a\' 1x)">',
  '<svg><style><img src=http://a></style></svg>',
  '<svg><style>rect{fill:u&#114;l(http://a)}</style></svg>',
  '<svg><![CDATA[><img src=http://a>]]></svg>',
  '<svg><set attributeName=href to=http://a /></svg>',
  '<svg><set attributeName="&#104;ref" to=http://a /></svg>',
  '<img data:image/png;base64,AAA/onload=run()>',
  `<img srcset="${PNG} 1x, http://a/b 2x">`,
  '<title><img src=http://a></title>',
  '<!--><img src=http://a>-->',
  '<!-- --!><img src=http://a>-->',
  '<textarea></title><img src=http://a></textarea>',
  '<img\0src=http://a>',
  '<p a=">',
];
for (const html of not) t.equal(judgeHtml(html), undefined, html.slice(0, 80));

const long = `url(data:font/woff2;base64,${'A'.repeat(500)}b`;
for (const rest of ['==)', '"onload=', '+src("http://a")', ')é']) {
  const cut = withoutData(`${long}${rest}`);
  t.ok(
    cut.length < 100 && cut.endsWith(`AAb${rest}`),
    `data before ${rest} is cut but for its end`,
  );
}

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
  '<a ',
  '<p style="{">',
  '<style>{transform',
  'data:image/png;base64,',
];
for (const each of floods) {
  const begun = performance.now();
  judgeHtml(each.repeat(Math.floor(250_000 / each.length)));
  t.ok(performance.now() - begun < 1_000, `a flood of ${JSON.stringify(each)} is soon judged`);
}
