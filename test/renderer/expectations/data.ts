/** Content that scripts make: modules, promises, workers, components, measurements. */
import { type Expectations, PICTURE, RED, script, style } from '../../support/expectations.ts';

const module = (code: string): string => `<p id=p>LOADING</p><script type=module>${code}</script>`;
const done = (code: string): string => `<p id=p>LOADING</p>${script(code)}`;
const DONE = "p.textContent = 'done'";
/** Work that Chrome does off the thread of scripts, so often that a page which is printed too early shows it. */
const again = (prepare: string, work: string): string =>
  done(
    `(async () => { ${prepare}; for (let n = 1; n <= 16; n += 1) { p.textContent = n; ${work} } ${DONE} })()`,
  );
const PNG =
  "const canvas = Object.assign(document.createElement('canvas'), { width: 600, height: 600 }); canvas.getContext('2d').fillRect(0, 0, 600, 600); const url = canvas.toDataURL(); const png = new Blob([Uint8Array.from(atob(url.split(',')[1]), (letter) => letter.charCodeAt(0))])";
const TEXT = "const text = new Blob(['x'.repeat(1e6)])";
const ADD_WASM = 'AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=';

export const DATA: Expectations = {
  'a module that awaits its data': {
    paper: 'the data',
    html: module("p.textContent = (await (await fetch('data.json')).json()).name"),
    files: { 'data.json': '{"name":"done"}' },
    has: /^done$/,
  },
  'a module that is imported when it is needed': {
    paper: 'what it makes',
    html: done(
      "setTimeout(async () => { const { text } = await import('./part.mjs'); p.textContent = text }, 100)",
    ),
    files: { 'part.mjs': "export const text = 'done'" },
    has: /^done$/,
  },
  'scripts with `async` and `defer`': {
    paper: 'what they make',
    html: '<p id=a></p><p id=d></p><script src=a.js async></script><script src=d.js defer></script>',
    files: { 'a.js': "a.textContent = 'one'", 'd.js': "d.textContent = 'two'" },
    has: /^one\s+two$/,
  },
  'a script that asks every 100 ms whether a library has come': {
    paper: 'what the library makes',
    html: `<p id=p>LOADING</p><script src=library.js async></script>${script('const timer = setInterval(() => { if (!window.library) return; clearInterval(timer); p.textContent = window.library() }, 100)')}`,
    files: { 'library.js': "setTimeout(() => { window.library = () => 'done' }, 350)" },
    has: /^done$/,
  },
  'a long chain of promises': {
    paper: 'its end',
    html: done(
      `let chain = Promise.resolve(); for (let n = 0; n < 2000; n += 1) chain = chain.then(() => {}); chain.then(() => { ${DONE} })`,
    ),
    has: /^done$/,
  },
  'work in an idle moment': {
    paper: 'what it makes',
    html: done(`requestIdleCallback(() => { ${DONE} })`),
    has: /^done$/,
  },
  'work with a low priority': {
    paper: 'what it makes',
    html: done(`scheduler.postTask(() => { ${DONE} }, { priority: 'background', delay: 200 })`),
    has: /^done$/,
  },
  'a text that waits for `document.fonts.ready`': {
    paper: 'the text',
    html: done(`document.fonts.ready.then(() => { ${DONE} })`),
    has: /^done$/,
  },
  'a text that `MutationObserver` completes': {
    paper: 'the text',
    html: done(
      `new MutationObserver((_, observer) => { observer.disconnect(); ${DONE} }).observe(p, { childList: true }); setTimeout(() => { p.textContent = 'half' }, 100)`,
    ),
    has: /^done$/,
  },
  'a layout that `ResizeObserver` chooses': {
    paper: 'the layout',
    html: done(
      `new ResizeObserver(([{ contentRect }]) => { if (contentRect.width > 100) ${DONE} }).observe(p)`,
    ),
    has: /^done$/,
  },
  'a wall of cards that a script puts where there is room': {
    paper: 'the cards, none over another',
    html: `${style('main { position: relative } div { position: absolute; width: 200px }')}<main>${[1, 2, 3, 4].map((n) => `<div style="min-height:${n * 50}px">card ${n}</div>`).join('')}</main>${script("const place = () => { const heights = [0, 0]; for (const card of document.querySelectorAll('div')) { const column = heights[0] <= heights[1] ? 0 : 1; card.style.left = `${column * 220}px`; card.style.top = `${heights[column]}px`; heights[column] += card.offsetHeight + 20 } }; onload = () => new ResizeObserver(place).observe(document.body)")}`,
    holds: ({ pages }) => {
      const places = pages[0]?.items.map(({ x, y }) => `${Math.round(x)} ${Math.round(y)}`) ?? [];
      return places.length === 4 && new Set(places).size === 4;
    },
  },
  'a worker that answers': {
    paper: 'its answer',
    html: done(
      "const worker = new Worker('worker.js'); worker.onmessage = ({ data }) => { p.textContent = data }; worker.postMessage(20)",
    ),
    files: {
      'worker.js':
        'onmessage = ({ data }) => { let n = 0; for (let i = 0; i < 1e6; i += 1) n += i % 2; postMessage(`sum ${n + data}`) }',
    },
    has: /^sum 500020$/,
  },
  'a worker of a `Blob` that answers over a `BroadcastChannel`': {
    paper: 'its answer',
    html: done(
      'new BroadcastChannel(\'c\').onmessage = ({ data }) => { p.textContent = data }; new Worker(URL.createObjectURL(new Blob([\'new BroadcastChannel("c").postMessage("done")\'])))',
    ),
    has: /^done$/,
  },
  'a web component that is defined late': {
    paper: 'what it draws',
    html: `<late-card>…</late-card>${script("setTimeout(() => customElements.define('late-card', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'closed' }).innerHTML = '<p>done</p>' } }), 500)")}`,
    has: /^done$/,
  },
  'a web component that asks for its data': {
    paper: 'what it draws',
    html: `<data-card>…</data-card>${script("customElements.define('data-card', class extends HTMLElement { async connectedCallback() { const root = this.attachShadow({ mode: 'open' }); root.innerHTML = 'LOADING'; root.textContent = await (await fetch('name.txt')).text() } })")}`,
    files: { 'name.txt': 'done' },
    has: /^done$/,
  },
  'a shadow tree that the HTML declares': {
    paper: 'its content with the text of its slots',
    html: '<div><template shadowrootmode=open><p>Dear <slot></slot></p></template>Ada</div>',
    has: /Dear Ada/,
  },
  'a picture that a canvas makes': {
    paper: 'the picture',
    html: `<img id=i>${script(`const canvas = new OffscreenCanvas(80, 80); const context = canvas.getContext('2d'); context.fillStyle = '${RED}'; context.fillRect(0, 0, 80, 80); canvas.convertToBlob().then((blob) => { i.src = URL.createObjectURL(blob) })`)}`,
    shows: [RED],
  },
  'pictures that canvases make one after another': {
    paper: 'the last one',
    html: `<img id=i>${script(`(async () => { for (let n = 10; n >= 0; n -= 1) { const canvas = Object.assign(document.createElement('canvas'), { width: 800, height: 800 }); const context = canvas.getContext('2d'); context.fillStyle = n === 0 ? '${RED}' : '#eee'; context.fillRect(0, 0, 800, 800); const blob = await new Promise((made) => canvas.toBlob(made)); i.src = URL.createObjectURL(blob) } })()`)}`,
    shows: [RED],
  },
  'data that are decompressed': {
    paper: 'the data',
    html: module(
      "const packed = new Blob(['done']).stream().pipeThrough(new CompressionStream('gzip')); p.textContent = await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).text()",
    ),
    has: /^done$/,
  },
  'a file that is read': {
    paper: 'its text',
    html: done(
      "const reader = new FileReader(); reader.onload = () => { p.textContent = reader.result }; reader.readAsText(new Blob(['done']))",
    ),
    has: /^done$/,
  },
  'a sum that WebAssembly makes': {
    paper: 'the sum',
    html: module(
      `const bytes = Uint8Array.from(atob('${ADD_WASM}'), (letter) => letter.charCodeAt(0)); const { instance } = await WebAssembly.instantiate(bytes); p.textContent = 'sum ' + instance.exports.add(40, 2)`,
    ),
    has: /^sum 42$/,
  },
  'pictures that `createImageBitmap` decodes one after another': {
    paper: 'what comes after the last one',
    html: again(PNG, 'await createImageBitmap(png)'),
    has: /^done$/,
  },
  'images whose `decode()` a script awaits one after another': {
    paper: 'what comes after the last one',
    html: again(PNG, "const image = new Image(); image.src = url + '#' + n; await image.decode()"),
    has: /^done$/,
  },
  'texts of `Blob`s that are read one after another': {
    paper: 'what comes after the last one',
    html: again(TEXT, 'await text.text(); await new Response(text).arrayBuffer()'),
    has: /^done$/,
  },
  'chunks of a stream that are read one after another': {
    paper: 'what comes after the last one',
    html: again(
      TEXT,
      'const reader = text.stream().getReader(); while (!(await reader.read()).done); for await (const _ of text.stream());',
    ),
    has: /^done$/,
  },
  'files that are read one after another': {
    paper: 'what comes after the last one',
    html: again(
      TEXT,
      'await new Promise((resolve) => { const reader = new FileReader(); reader.onload = resolve; reader.readAsDataURL(text) })',
    ),
    has: /^done$/,
  },
  'data that are compressed one after another': {
    paper: 'what comes after the last one',
    html: again(
      TEXT,
      "await new Response(text.stream().pipeThrough(new CompressionStream('gzip'))).blob()",
    ),
    has: /^done$/,
  },
  'waves of sound that are computed one after another': {
    paper: 'what comes after the last one',
    html: again('', 'await new OfflineAudioContext(1, 44100, 44100).startRendering()'),
    has: /^done$/,
  },
  'entries of `indexedDB` that are written one after another': {
    paper: 'what comes after the last one',
    html: again(
      "const opened = indexedDB.open('a'); opened.onupgradeneeded = () => opened.result.createObjectStore('s'); await new Promise((resolve) => { opened.onsuccess = resolve })",
      "await new Promise((resolve) => { const writing = opened.result.transaction('s', 'readwrite'); writing.objectStore('s').put(n, n); writing.oncomplete = resolve })",
    ),
    has: /^done$/,
  },
  'a worker that reads texts one after another': {
    paper: 'what it tells at the end',
    html: done(
      `const worker = new Worker(URL.createObjectURL(new Blob(["(async () => { ${TEXT}; for (let n = 0; n < 16; n += 1) await text.text(); postMessage('done') })()"]))); worker.onmessage = ({ data }) => { p.textContent = data }`,
    ),
    has: /^done$/,
  },
  'a map of tiles, each of which fades in': {
    paper: 'the tiles',
    html: `<div id=map style="position:relative;height:160px"></div>${script("for (let n = 0; n < 4; n += 1) { const tile = new Image(); tile.style.cssText = `position:absolute;opacity:0;left:${n % 2 * 80}px;top:${(n >> 1) * 80}px`; tile.onload = () => { const begun = performance.now(); (function fade() { const part = Math.min(1, (performance.now() - begun) / 200); tile.style.opacity = part; if (part < 1) requestAnimationFrame(fade) })() }; tile.src = 'red.svg'; map.append(tile) }")}`,
    files: PICTURE,
    shows: [RED],
  },
  'a text that `document.startViewTransition` changes': {
    paper: 'the new text',
    html: done(`onload = () => document.startViewTransition(() => { ${DONE} })`),
    has: /^done$/,
  },
  'a listener to `pageshow`': {
    paper: 'what it makes',
    html: done(`addEventListener('pageshow', () => { ${DONE} })`),
    has: /^done$/,
  },
};
