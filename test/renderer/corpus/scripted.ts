/** Documents that scripts make, complete when they have loaded. None measures its layout: see `media` in the docs. */
import { fontUri } from '../../support/tiny-font.ts';
import { JPEG, png } from '../../support/tiny-images.ts';
import { type CorpusDocument, page } from './document.ts';

const FONT = fontUri('own', { advance: 700, height: 400 });

const scripted = (name: string, script: string, body = '<div id=root></div>'): CorpusDocument => ({
  name: `script: ${name}`,
  html: page(name, 'td{border:1px solid;padding:3px}', `${body}<script>${script}</script>`),
});

const moduleOf = (name: string, script: string, body = '<div id=root></div>'): CorpusDocument => ({
  name: `module: ${name}`,
  html: page(name, '', `${body}<script type=module>${script}</script>`),
});

const canvas = (name: string, script: string): CorpusDocument =>
  scripted(
    `canvas, ${name}`,
    `const g = c.getContext('2d'); ${script}`,
    '<canvas id=c width=300 height=150></canvas>',
  );

const data = (type: string, text: string): string => `data:${type},${encodeURIComponent(text)}`;

export const SCRIPTED: readonly CorpusDocument[] = [
  scripted(
    'statement of thirty rows',
    `const rows = Array.from({ length: 30 }, (_, n) => ({ n, sum: (n * 37 % 101) - 40 }));
    root.innerHTML = '<table>' + rows.map(({ n, sum }) => '<tr><td>' + n + '<td style="color:' + (sum < 0 ? 'red' : 'black') + '">' + sum.toFixed(2)).join('') + '</table>';`,
  ),
  scripted(
    'elements one by one',
    `for (let n = 1; n < 20; n++) { const p = document.createElement('p'); p.textContent = 'n ' + n; p.style.marginLeft = n * 9 + 'px'; p.dataset.n = n; root.append(p); }`,
  ),
  scripted(
    'templates filled in',
    `const t = document.querySelector('template'); for (const name of ['Ann', 'Bob', 'Čapek']) { const row = t.content.cloneNode(true); row.querySelector('b').textContent = name; root.append(row); }`,
    '<template><p>Dear <b></b>,</p></template><div id=root></div>',
  ),
  scripted(
    'JSON in the page',
    `const { items } = JSON.parse(document.getElementById('data').textContent); root.append(...items.map((i) => Object.assign(document.createElement('li'), { textContent: i })));`,
    '<script type=application/json id=data>{"items":["a","b","ü"]}</script><ul id=root></ul>',
  ),
  scripted(
    'a custom element',
    `customElements.define('x-card', class extends HTMLElement { static observedAttributes = ['label']; connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<style>:host{display:block;border:2px solid teal} ::slotted(b){color:red}</style><h3>' + this.getAttribute('label') + '</h3><slot></slot>'; } });`,
    '<x-card label=one><b>slotted</b></x-card><x-card label=two>text</x-card>',
  ),
  scripted(
    'style sheets by script',
    `const s = new CSSStyleSheet(); s.replaceSync('p{color:purple;border-left:9px solid}'); document.adoptedStyleSheets = [s]; document.styleSheets[0].insertRule('p:first-child{font-weight:bold}'); document.body.style.setProperty('--x', '3em');`,
    '<div><p>a<p style="margin-left:var(--x)">b</div>',
  ),
  scripted(
    'a drawing by script',
    `const ns = 'http://www.w3.org/2000/svg'; const svg = document.createElementNS(ns, 'svg'); svg.setAttribute('viewBox', '0 0 200 100'); for (let n = 0; n < 20; n++) { const c = document.createElementNS(ns, 'circle'); c.setAttribute('cx', n * 10); c.setAttribute('cy', 50 + 40 * Math.sin(n)); c.setAttribute('r', 4); c.setAttribute('fill', 'hsl(' + n * 18 + ' 80% 50%)'); svg.append(c); } root.append(svg);`,
  ),
  scripted(
    'written while it is parsed',
    `document.write('<h2>written</h2><table><tr><td>a'); for (let n = 0; n < 3; n++) document.write('<tr><td>' + n);`,
    '',
  ),
  scripted(
    'sorted and filtered',
    `const list = [...document.querySelectorAll('li')]; list.sort((a, b) => a.textContent.localeCompare(b.textContent, 'de')); list.filter((li) => li.className !== 'x').forEach((li) => li.parentNode.append(li)); document.querySelector('.x').remove();`,
    '<ol><li>Zebra<li class=x>x<li>Äpfel<li>apfel<li>Birne</ol>',
  ),
  scripted(
    'numbers and dates of languages',
    `for (const l of ['en', 'de', 'fr', 'hi', 'ar-EG', 'ja']) { const p = document.createElement('p'); p.lang = l; p.textContent = new Intl.NumberFormat(l, { style: 'currency', currency: 'EUR' }).format(1234567.891) + ' · ' + new Intl.DateTimeFormat(l, { dateStyle: 'full', timeZone: 'UTC' }).format(0); root.append(p); }`,
  ),
  scripted(
    'observers and promises',
    `new MutationObserver((all) => all.forEach((m) => m.addedNodes.forEach((n) => { if (n.tagName === 'P') n.style.color = 'green'; }))).observe(root, { childList: true }); Promise.resolve().then(() => root.insertAdjacentHTML('beforeend', '<p>promised')); queueMicrotask(() => root.insertAdjacentHTML('beforeend', '<p>queued'));`,
  ),
  scripted(
    'what load and ready do',
    `document.addEventListener('DOMContentLoaded', () => { root.append('parsed '); }); addEventListener('load', () => { root.append('loaded'); });`,
  ),
  scripted(
    'an error half-way',
    `root.textContent = 'before'; missing(); root.textContent = 'after';`,
  ),
  scripted(
    'forms filled in',
    `document.forms[0].name.value = 'typed'; document.forms[0].ok.checked = true; document.forms[0].s.selectedIndex = 1; document.forms[0].t.value = 'a\\nb';`,
    '<form><input name=name><input type=checkbox name=ok><select name=s><option>a<option>b</select><textarea name=t></textarea></form>',
  ),
  scripted(
    'a picture from a blob',
    `const bytes = Uint8Array.from(atob('${JPEG.split(',')[1]}'), (c) => c.charCodeAt(0)); const i = new Image(90, 60); i.src = URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' })); root.append(i);`,
  ),
  scripted(
    'a font by script',
    `const f = new FontFace('own', 'url(${FONT})'); document.fonts.add(f); f.load();`,
    '<p style="font-family:own">set in a font by script',
  ),
  scripted(
    'WebAssembly',
    `const bytes = Uint8Array.from([0,97,115,109,1,0,0,0,1,5,1,96,0,1,127,3,2,1,0,7,5,1,1,102,0,0,10,6,1,4,0,65,42,11]); root.textContent = 'answer ' + new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.f();`,
  ),
  scripted(
    'before it is printed',
    `onbeforeprint = () => { root.textContent = 'for paper'; };`,
    '<div id=root>for the screen</div>',
  ),
  canvas(
    'shapes',
    `g.fillStyle = '#c03'; g.fillRect(10, 10, 80, 60); g.strokeStyle = '#06c'; g.lineWidth = 6; g.beginPath(); g.arc(160, 60, 40, 0, 5); g.stroke(); g.setLineDash([6, 3]); g.strokeRect(220, 20, 60, 90);`,
  ),
  canvas(
    'text and gradients',
    `const l = g.createLinearGradient(0, 0, 300, 0); l.addColorStop(0, 'red'); l.addColorStop(1, 'blue'); g.fillStyle = l; g.font = 'bold 40px serif'; g.fillText('Canvas', 10, 60); g.shadowBlur = 5; g.shadowColor = '#000'; g.rotate(.1); g.fillText('turned', 60, 110);`,
  ),
  canvas(
    'pixels',
    `const d = g.createImageData(100, 100); for (let n = 0; n < d.data.length; n += 4) { d.data[n] = n % 256; d.data[n + 1] = n >> 8; d.data[n + 3] = 255; } g.putImageData(d, 20, 20); const o = new OffscreenCanvas(50, 50); o.getContext('2d').fillRect(0, 0, 25, 50); g.drawImage(o, 200, 20); g.globalCompositeOperation = 'xor'; g.fillRect(180, 30, 60, 60);`,
  ),
  canvas(
    'a bar chart',
    `[10, 20, 30, 25, 15].forEach((v, n) => { g.fillStyle = 'hsl(' + n * 60 + ' 70% 50%)'; g.fillRect(20 + n * 50, 140 - v * 4, 40, v * 4); g.fillStyle = '#000'; g.fillText(v, 30 + n * 50, 135 - v * 4); });`,
  ),
  scripted(
    'canvas as a picture',
    `const c = document.createElement('canvas'); c.width = c.height = 60; c.getContext('2d').fillRect(5, 5, 30, 50); const i = new Image(); i.src = c.toDataURL(); root.append(i);`,
  ),
  moduleOf(
    'inline',
    `root.innerHTML = '<h2>module</h2>' + [1, 2, 3].map((n) => \`<p>\${n}\`).join('');`,
  ),
  moduleOf(
    'from data',
    `import { text } from '${data('text/javascript', 'export const text = "imported"')}'; root.textContent = text;`,
  ),
  moduleOf(
    'with a map of imports',
    `import lib from 'lib'; root.textContent = lib(3);`,
    `<script type=importmap>{"imports":{"lib":"${data('text/javascript', 'export default (n) => "lib".repeat(n)')}"}}</script><div id=root></div>`,
  ),
  scripted(
    'scripts in data URIs',
    `root.textContent = globalThis.first + globalThis.second;`,
    `<script src="${data('text/javascript', 'first = "one "')}"></script><script defer src="${data('text/javascript', 'root.append(" deferred")')}"></script><script src="${data('text/javascript', 'second = "two"')}"></script><div id=root></div>`,
  ),
  scripted('no script for those without', '', '<noscript>no script</noscript><p>always'),
  {
    ...scripted(
      'scripts off',
      `root.textContent = 'on';`,
      '<noscript>no script</noscript><div id=root>off</div>',
    ),
    options: { javascript: false },
  },
  {
    ...scripted('on a screen', `root.textContent = matchMedia('screen').matches;`),
    options: { media: 'screen' },
  },
  scripted(
    'frames',
    '',
    `<iframe srcdoc="<p>inner<script>document.write('by script')</script>"></iframe><iframe src="${data('text/html', '<body style="background:gold">data')}" width=90 height=60></iframe><iframe srcdoc="<img src='${png(9, 9, [9, 9, 200])}' width=50>"></iframe>`,
  ),
];
