/** The parts of random documents that run scripts, and those that a tab does not outlive. */
import { at, content, head, option, type Part, request, script } from './document-parts.ts';
import { fontUri } from './tiny-font.ts';

/** A script that says something later, at a place of its own: the order of several does not matter then. */
const listener = (code: string): Part => ({
  place: 'end',
  text: `<i>-</i><script>{ const place = document.currentScript.previousSibling; const say = (text) => { place.textContent = text }; ${code} }</script>`,
});

/** Files of the same names, with other content. */
function files(color: string, text: string, font: string): Readonly<Record<string, string>> {
  const all = {
    'own.css': `p { color: ${color}; font-family: own } @font-face { font-family: own; src: url(own.ttf) }`,
    'own.js': `(window.own ??= []).push('${text}'); document.cookie = 'own=${text}';`,
    'own.mjs': `document.body.append('${text}', String(window.own), document.cookie)`,
    'own.json': JSON.stringify(text),
    'own.html': `<p style="color:${color}">${text}<script>localStorage.own = '${text}'</script>`,
    'own.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect id="own" width="40" height="40" fill="${color}"/></svg>`,
  };
  const encoded = Object.entries(all).map(([name, each]) => [
    name,
    Buffer.from(each).toString('base64'),
  ]);
  return { ...Object.fromEntries(encoded), 'own.ttf': font.slice(font.indexOf(',') + 1) };
}

export const SCRIPTED_THEMES: Readonly<Record<string, readonly Part[]>> = {
  scripts: [
    'document.body.insertAdjacentHTML("beforeend", "<p class=own>written by script")',
    'document.write("<p>written"); document.title = "by script"',
    'customElements.define("x-card", class extends HTMLElement { connectedCallback() { this.append("card one") } })',
    'customElements.define("x-card", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = "<p>card two<slot>" } })',
    'document.body.append(document.createElement("x-card"))',
    'const sheet = new CSSStyleSheet(); sheet.replaceSync("p { color: purple }"); document.adoptedStyleSheets = [sheet]',
    'CSS.registerProperty({ name: "--own", syntax: "<color>", inherits: true, initialValue: "orange" })',
    'const c = document.createElement("canvas"); document.body.append(c); const g = c.getContext("2d"); g.font = "20px own, serif"; g.fillText("canvas", 9, 30); g.fillRect(0, 40, 90, 9)',
    'for (const made of document.querySelectorAll("template")) document.body.append(made.content.cloneNode(true))',
    'Array.prototype.tainted = Object.prototype.own = 1',
    'document.dir = "rtl"; document.body.lang = "fr"; document.designMode = "on"',
    'getSelection().selectAllChildren(document.body); document.execCommand("bold")',
    'document.open(); document.write("<p>opened anew"); document.close()',
    'document.documentElement.requestFullscreen?.().catch(() => {})',
    'throw new Error("own")',
  ]
    .map(script)
    .concat(
      content('<template><p>of a template</p></template><x-card>card</x-card>'),
      content(
        '<div><template shadowrootmode=open><style>p{color:red}</style><p>shadow</p></template></div>',
      ),
      content('<script type=module>document.title += "module"</script><noscript>none</noscript>'),
      listener('document.startViewTransition?.(() => say("transition")).skipTransition()'),
      listener('requestAnimationFrame(() => say("frame"))'),
      listener('setTimeout(() => say("timer"))'),
      content(
        '<iframe srcdoc="<p>framed<script>parent.document.body.className = 1</script>"></iframe>',
      ),
    ),
  window: [
    'resizeTo(320, 240)',
    'resizeBy(50, 50); moveTo(9, 9)',
    'scrollTo(0, 500); scrollBy(9, 9)',
    'location.hash = "there"',
    'history.scrollRestoration = "manual"; history.pushState(1, ""); history.pushState(2, "")',
    'screen.orientation.lock?.("portrait").catch(() => {})',
    'document.body.append([innerWidth, innerHeight, outerWidth, screenX, scrollY, devicePixelRatio].join())',
    'document.body.append([screen.orientation.type, document.hasFocus(), document.visibilityState].join())',
    'document.body.append(["print", "(min-width:600px)", "(prefers-color-scheme:dark)", "(orientation:portrait)"].map((q) => matchMedia(q).matches).join())',
    'document.body.append(document.compatMode, document.documentElement.lang)',
  ]
    .map(script)
    .concat(
      [
        'onscroll = onresize = () => say("heard")',
        'matchMedia("print").onchange = () => say("print")',
        'matchMedia("(min-width: 600px)").onchange = () => say("width")',
        'onbeforeprint = () => say(document.activeElement.tagName)',
        'onbeforeprint = () => say("before"); onafterprint = () => say("after")',
        'document.onvisibilitychange = onfocus = onblur = () => say("visible")',
        'screen.orientation.onchange = onorientationchange = () => say("turned")',
        'onstorage = onmessage = onhashchange = onpopstate = () => say("told")',
        'new BroadcastChannel("own").onmessage = () => say("broadcast")',
        'setInterval(() => document.title = "left", 3); setInterval(() => new BroadcastChannel("own").postMessage(1), 3)',
        'new ResizeObserver((all) => say(all[0].contentRect.width)).observe(document.documentElement)',
      ].map(listener),
    ),
  storage: [
    'localStorage.own = sessionStorage.own = 1; name = "left"; document.cookie = "own=1"',
    'document.cookie = "wide=1; domain=" + location.hostname.replace(/^[^.]*\\./, "")',
    'indexedDB.open("own", 1).onupgradeneeded = (e) => e.target.result.createObjectStore("own")',
    'globalThis.caches?.open("own"); navigator.storage?.getDirectory?.().catch(() => {})',
    'document.body.append([name, history.length, history.state, localStorage.length, sessionStorage.length, document.cookie].join())',
    'document.body.append([document.referrer, opener, [].tainted, ({}).own, frames.length, document.title].join())',
    'document.body.append([typeof caches, customElements.get("x-card"), document.adoptedStyleSheets?.length, document.fonts.size].join())',
  ].map(script),
  files: [
    ...[
      files('#c00', 'one', fontUri('Own Wide', { advance: 900, height: 700 })),
      files('#00c', 'two', fontUri('Own Flat', { advance: 300, height: 300 })),
    ].map((each) => request({ files: each })),
    ...[
      '<link rel=stylesheet href="own.css">',
      '<script src="own.js"></script>',
      '<script type=module src="own.mjs"></script>',
    ].map(head),
    ...[
      '<img src="own.svg">',
      '<img src="lacking.svg" alt=lacking>',
      '<svg width=40 height=40><use href="own.svg#own"/></svg>',
      '<iframe src="own.html" height=50></iframe>',
      '<p id=fetched></p><script>fetch("own.json").then((r) => r.json()).then((t) => fetched.append(t), (e) => fetched.append("failed"))</script>',
      '<script>addEventListener("load", () => document.body.append(performance.getEntriesByType("resource").length))</script>',
      '<script>document.fonts.load("20px own").then((all) => document.body.append(all.length))</script>',
    ].map(content),
  ],
};

/** Themes after whose documents a tab is closed, or may be. Rows have them seldom: the others grow old in a tab. */
export const TAB_ENDING: Readonly<Record<string, readonly Part[]>> = {
  languages: [
    ...[' lang=ja', ' lang="ko"', ' lang=zh-Hans', ' lang=he dir=rtl'].map(at('html')),
    ...[
      '<p>直骨角 漢字</p>',
      '<p>&#x1f600; &check; &#x1d44e; 𝑎</p>',
      '<p lang=zh-Hant>直骨角 返</p>',
      '<p>नमस्ते สวัสดี გამარჯობა العربية</p>',
      '<p style="writing-mode:vertical-rl;height:9em"><ruby>漢<rt>かん</rt></ruby>。ABC</p>',
      '<math><mi>x</mi><mo>∑</mo></math>',
    ].map(content),
  ],
  ends: [
    option({ javascript: false }),
    script('alert("own")'),
    script('new Worker("data:text/javascript,setInterval(() => {}, 9)")'),
    script('open("about:blank", "own")'),
    content('<img src="missing.png" width=40 height=20 alt=missing>'),
    content('<iframe src="data:text/html,<p>framed"></iframe>'),
  ],
};
