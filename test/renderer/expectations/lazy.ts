/** Lazy images, lists that grow, content that appears on scrolling. */
import {
  type Expectations,
  FAR,
  PICTURE,
  RED,
  script,
  style,
  word,
} from '../../support/expectations.ts';

const SHOW =
  "const show = () => { if (q.getBoundingClientRect().top < innerHeight) q.textContent = 'picture' };";
const LOADER = `${SHOW} document.querySelector('main').addEventListener('scroll', show); addEventListener('resize', show)`;
const SWAP =
  'const swap = () => { for (const each of document.images) if (each.dataset.src && each.getBoundingClientRect().top < innerHeight + 200) { each.src = each.dataset.src; delete each.dataset.src } };';
const LAZY = '<img data-src=red.svg width=80 height=80>';
/** Observes an element, and calls code with it once it is seen. */
const onceSeen = (code: string, options = '{}'): string =>
  `const watch = new IntersectionObserver((entries) => { for (const { isIntersecting, target } of entries) if (isIntersecting) { watch.unobserve(target); ${code} } }, ${options});`;
const ROWS =
  'const add = (from, to) => { for (let n = from; n <= to; n += 1) list.append(Object.assign(document.createElement("p"), { textContent: `row ${n}.` })) };';
const PAGES = Object.fromEntries(
  [1, 2, 3].map((page) => [`page-${page}.json`, JSON.stringify([page * 40 - 39, page * 40])]),
);
const fullPage = (code: string): string => script(`${ROWS} ${code}`);

export const LAZY_CONTENT: Expectations = {
  'pictures with `loading=lazy` far down': {
    paper: 'the pictures',
    html: `${FAR}<img loading=lazy src=red.svg>`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `loading=lazy`, `srcset` and `sizes=auto` far down': {
    paper: 'the pictures',
    html: `${FAR}<img loading=lazy sizes=auto srcset="red.svg 80w" width=80 height=80>`,
    files: PICTURE,
    shows: [RED],
  },
  'a frame with `loading=lazy` far down': {
    paper: 'its content',
    html: `${FAR}<iframe loading=lazy src=frame.html></iframe>`,
    files: { 'frame.html': '<p>The frame' },
    has: /The frame/,
  },
  'a lazy loader in the page that listens to scrolling of a box and to sizes': {
    paper: 'the pictures',
    html: `<main>top</main>${FAR}<p id=q>grey box</p>${script(LOADER)}`,
    has: /picture/,
  },
  'the same in a file': {
    paper: 'the pictures',
    html: `<main>top</main>${FAR}<p id=q>grey box</p><script src=loader.js></script>`,
    files: { 'loader.js': LOADER },
    has: /picture/,
  },
  'the same in a file with a long tag': {
    paper: 'the pictures',
    html: `<main>top</main>${FAR}<p id=q>grey box</p><script data-a="${'a'.repeat(250)}" src=loader.js></script>`,
    files: { 'loader.js': LOADER },
    has: /picture/,
  },
  'pictures with `data-src`, by listeners to scrolling and sizes': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} for (const name of ['load', 'scroll', 'resize']) addEventListener(name, swap, { passive: true })`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `data-src`, by a listener to scrolling alone': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} swap(); addEventListener('scroll', swap)`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `data-src`, by a listener to sizes that waits 150 ms for the next': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} let timer; addEventListener('resize', () => { clearTimeout(timer); timer = setTimeout(swap, 150) })`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `data-src`, by an observer': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${onceSeen('target.src = target.dataset.src')} for (const each of document.images) watch.observe(each)`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'the same that wants to see all of a picture, and loads it in an idle moment': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${onceSeen('requestIdleCallback(() => { target.src = target.dataset.src })', '{ threshold: 1 }')} for (const each of document.images) watch.observe(each)`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `data-src`, whose place a script asks for with each frame': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} (function look() { swap(); requestAnimationFrame(look) })()`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures with `data-src`, whose place a script asks for every 200 ms': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} setInterval(swap, 200)`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures in the background, by a class that an observer sets': {
    paper: 'the pictures',
    html: `${style('i { display: block; height: 80px; print-color-adjust: exact } .seen { background-image: url(red.svg) }')}${FAR}<i></i>${script(`${onceSeen("target.className = 'seen'")} watch.observe(document.querySelector('i'))`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'a `<picture>` whose `srcset` an observer sets': {
    paper: 'the pictures',
    html: `${FAR}<picture><source data-srcset=red.svg><img width=80 height=80></picture>${script(`${onceSeen("const source = target.querySelector('source'); source.srcset = source.dataset.srcset")} watch.observe(document.querySelector('picture'))`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'pictures that fade in once they are loaded': {
    paper: 'the pictures, in full colour',
    html: `${style('img { opacity: 0; transition: opacity .5s } .there { opacity: 1 }')}${FAR}<img loading=lazy src=red.svg onload="this.className = 'there'">`,
    files: PICTURE,
    shows: [RED],
  },
  'a small picture that a larger one replaces once that is loaded': {
    paper: 'the larger one',
    html: `<img id=i width=80 height=80 src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E">${script("const large = new Image(); large.onload = () => { i.src = large.src }; large.src = 'red.svg'")}`,
    files: PICTURE,
    shows: [RED],
  },
  'the picture of a video that has not been started': {
    paper: 'the picture',
    html: '<video poster=red.svg width=80 height=80 preload=none src=film.mp4></video>',
    files: PICTURE,
    shows: [RED],
  },
  'a list that loads its next batch when its end is seen, three batches': {
    paper: 'all batches',
    html: `<div id=list></div><p id=end></p>${fullPage("let page = 0; new IntersectionObserver(async ([end]) => { if (!end.isIntersecting || page === 3) return; page += 1; add(...await (await fetch(`page-${page}.json`)).json()) }, { rootMargin: '200px' }).observe(document.getElementById('end'))")}`,
    files: PAGES,
    has: /row 1\.[^]*row 120\./,
  },
  'a list that never ends, and loads when its end is seen': {
    paper: 'a few batches',
    html: `<div id=list></div><p id=end></p>${fullPage("let last = 0; new IntersectionObserver(([end]) => { if (end.isIntersecting) add(last + 1, last += 20) }).observe(document.getElementById('end'))")}`,
    has: /row 20\./,
    lacks: /row 5000\./,
  },
  'a list that a scroll listener lets grow': {
    paper: 'what it has at first',
    html: `<div id=list></div>${fullPage("let last = 0; const grow = () => add(last + 1, last += 50); grow(); addEventListener('scroll', () => { if (scrollY + innerHeight > document.body.scrollHeight - 100) grow() })")}`,
    has: /row 1\.[^]*row 50\./,
  },
  'a list with a button for more': {
    paper: 'what it has at first, and the button',
    html: `<div id=list></div><button id=more>More</button>${fullPage('add(1, 10); more.onclick = () => add(11, 20)')}`,
    has: /row 10\.[^]*More/,
    lacks: /row 11\./,
  },
  'a list that keeps only the rows that the window shows': {
    paper: 'the rows of one window, as in a browser',
    html: `<div id=list style="height:8000px;position:relative"></div>${script("const draw = () => { list.textContent = ''; const from = Math.floor(scrollY / 40); for (let n = from; n < Math.min(200, from + Math.ceil(innerHeight / 40)); n += 1) list.insertAdjacentHTML('beforeend', `<div style=\"position:absolute;top:${n * 40}px\">row ${n + 1}.</div>`) }; draw(); addEventListener('scroll', draw); addEventListener('resize', draw)")}`,
    has: /row 1\.[^]*row 15\./,
  },
  'a list in a box of its own that is scrolled': {
    paper: 'the rows that the box shows',
    html: `<div id=list style="height:200px;overflow:auto"></div>${fullPage('add(1, 90)')}`,
    has: /row 1\./,
    lacks: /row 90\./,
  },
  'rows that come in batches, one every 200 ms': {
    paper: 'all rows',
    html: `<div id=list></div>${fullPage('let last = 0; const timer = setInterval(() => { add(last + 1, last += 6); if (last === 60) clearInterval(timer) }, 200)')}`,
    has: /row 1\.[^]*row 60\./,
  },
  'rows that come in pieces, in idle moments': {
    paper: 'all rows',
    html: `<div id=list></div>${fullPage('let last = 0; requestIdleCallback(function more() { add(last + 1, last += 5); if (last < 60) requestIdleCallback(more) })')}`,
    has: /row 1\.[^]*row 60\./,
  },
  'rows that come in messages that the page sends itself, as React does': {
    paper: 'all rows',
    html: `<div id=list></div>${fullPage('let last = 0; const channel = new MessageChannel(); channel.port1.onmessage = () => { add(last + 1, last += 5); if (last < 60) channel.port2.postMessage(0) }; channel.port2.postMessage(0)')}`,
    has: /row 1\.[^]*row 60\./,
  },
  'rows of an answer that is read as a stream': {
    paper: 'all rows',
    html: `<div id=list></div><script type=module>${ROWS} const reader = (await fetch('rows.txt')).body.pipeThrough(new TextDecoderStream()).getReader(); let text = ''; for (let part; !(part = await reader.read()).done;) text += part.value; for (const line of text.split(' ')) add(+line, +line)</script>`,
    files: { 'rows.txt': Array.from({ length: 60 }, (_, n) => n + 1).join(' ') },
    has: /row 1\.[^]*row 60\./,
  },
  'pages that are asked for one after the other': {
    paper: 'all rows',
    html: `<div id=list></div><script type=module>${ROWS} for (let page = 1; page <= 3; page += 1) add(...await (await fetch(\`page-\${page}.json\`)).json())</script>`,
    files: PAGES,
    has: /row 1\.[^]*row 120\./,
  },
  'sections that appear when an observer sees them': {
    paper: 'the sections',
    html: `${style('b { display: block; opacity: 0; transform: translateY(80px); transition: all .8s } .in { opacity: 1; transform: none }')}${FAR}${word()}${script(`${onceSeen("target.className = 'in'", "{ rootMargin: '0px 0px -120px' }")} watch.observe(document.querySelector('b'))`)}<p style="height:300px">`,
    shows: [RED],
  },
  'sections that appear by listeners to scrolling and sizes': {
    paper: 'the sections',
    html: `${style('b { display: block; visibility: hidden }')}${FAR}${word('id=b')}${script("const look = () => { if (b.offsetTop < scrollY + innerHeight) b.style.visibility = 'visible' }; look(); addEventListener('scroll', look); addEventListener('resize', look)")}`,
    shows: [RED],
  },
  'sections that appear by a listener to scrolling alone': {
    paper: 'the sections',
    html: `${style('b { display: block; visibility: hidden }')}${FAR}${word('id=b')}${script("const look = () => { if (b.offsetTop < scrollY + innerHeight) b.style.visibility = 'visible' }; look(); addEventListener('scroll', look)")}`,
    shows: [RED],
  },
  'sections that appear by an animation of CSS that goes by scrolling': {
    paper: 'the sections',
    html: `${style('@keyframes appear { from { opacity: 0 } } b { display: block; animation: appear linear both; animation-timeline: view(); animation-range: entry 0% cover 40% }')}${FAR}${word()}`,
    shows: [RED],
  },
  'sections with `content-visibility: auto`': {
    paper: 'the sections',
    html: `${style('section { content-visibility: auto; contain-intrinsic-size: auto 300px }')}${FAR}<section>${word()}</section>`,
    shows: [RED],
  },
  'a hero that a script makes as tall as the window': {
    paper: 'as tall as the window of 600 pixels, and the text behind it',
    html: `<div id=h>Hero</div><p>Text</p>${FAR}<p>End</p>${script("const fit = () => { h.style.height = `${innerHeight}px` }; fit(); addEventListener('resize', fit)")}`,
    has: /Hero[^]*Text[^]*End/,
    holds: ({ pages }) => pages.length <= 6 && /Hero\s+Text/.test(pages[0]?.text ?? ''),
  },
};
