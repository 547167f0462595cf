/** Documents of which something else is printed than a person expects; above each stands why. */
import {
  BLUE,
  type Expectations,
  FAR,
  PICTURE,
  RED,
  script,
  style,
  word,
} from '../../support/expectations.ts';
import { DONE, done } from './data.ts';
import { fullPage, LAZY, PAGES, SWAP } from './lazy.ts';
import { rect } from './motion.ts';
import { twoWords } from './moving.ts';
import { OVERLAY } from './time.ts';

export const UNMET: Expectations = {
  // Timers of 0.5 to 1 second are not drawing: clocks, watches, blinkers. They run for 5 seconds.
  'a question "still there?" after four idle seconds, counted by `setInterval`': {
    paper: 'it is not there',
    html: `<p>Form</p><p id=q></p>${script("let idle = 0; setInterval(() => { if ((idle += 1) >= 4) q.textContent = 'Are you still there?' }, 1000)")}`,
    has: /Form/,
    lacks: /still there/,
  },
  'a countdown from a number, each second': {
    paper: 'the number that it begins with',
    html: `<p>Offer ends in <b id=n>90</b></p>${script('let left = 90; setInterval(() => { n.textContent = left -= 1 }, 1000)')}`,
    has: /Offer ends in 90$/,
  },
  'a countdown of 3 seconds to the end of a test': {
    paper: 'the test has not ended',
    html: `<p id=c>Questions</p>${script("let left = 3; setInterval(() => { if ((left -= 1) === 0) c.textContent = 'Time is up' }, 1000)")}`,
    has: /^Questions$/,
  },
  'words that blink by `setInterval`, every 300, 500 and 700 ms': {
    paper: 'the words',
    html: `${word('id=a')}${word('id=b', 'SECOND', BLUE)}${word('id=c', 'THIRD', '#108040')}${script("[a, b, c].forEach((each, n) => setInterval(() => { const { style } = each; style.visibility = style.visibility === 'hidden' ? 'visible' : 'hidden' }, 300 + 200 * n))")}`,
    shows: [RED, BLUE, '#108040'],
  },
  // Passes by chance, for the same reason.
  'a typewriter that stops for 0.7 seconds after each phrase, and takes it back': {
    paper: 'one of its phrases',
    html: `<p id=p></p>${script("const phrases = ['We print.', 'We sign.']; let which = 0, n = 0, back = false; (function type() { p.textContent = phrases[which].slice(0, n); if (!back && n === phrases[which].length) { back = true; setTimeout(type, 700) } else if (back && n === 0) { back = false; which = 1 - which; setTimeout(type, 500) } else { n += back ? -1 : 1; setTimeout(type, 50) } })()")}`,
    has: /^We (print|sign)\.$/,
  },
  // A row of timers that are set at once is left where one is set for more than a second.
  'lines that appear one after the other, by timers of 0.3, 0.6 … 1.8 seconds': {
    paper: 'all lines',
    html: `<ol id=l>${'<li hidden>line</li>'.repeat(6)}</ol>${script('[...l.children].forEach((line, n) => setTimeout(() => { line.hidden = false }, 300 * (n + 1)))')}`,
    has: /^(\d\.\s*line\s*){6}$/,
  },
  // The window is as tall as the page for two frames: no timer comes meanwhile, and no listener hears of scrolling.
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
  'pictures with `data-src`, whose place a script asks for every 200 ms': {
    paper: 'the pictures',
    html: `${FAR}${LAZY}${script(`${SWAP} setInterval(swap, 200)`)}`,
    files: PICTURE,
    shows: [RED],
  },
  'sections that appear by a listener to scrolling alone': {
    paper: 'the sections',
    html: `${style('b { display: block; visibility: hidden }')}${FAR}${word('id=b')}${script("const look = () => { if (b.offsetTop < scrollY + innerHeight) b.style.visibility = 'visible' }; look(); addEventListener('scroll', look)")}`,
    shows: [RED],
  },
  // A page that has grown since is not shown whole again.
  'a list that loads its next batch when its end is seen, three batches': {
    paper: 'all batches',
    html: `<div id=list></div><p id=end></p>${fullPage("let page = 0; new IntersectionObserver(async ([end]) => { if (!end.isIntersecting || page === 3) return; page += 1; add(...await (await fetch(`page-${page}.json`)).json()) }, { rootMargin: '200px' }).observe(document.getElementById('end'))")}`,
    files: PAGES,
    has: /row 1\.[^]*row 120\./,
  },
  // Idle callbacks come once in a step of the clock; the delays of `postTask` go by real time.
  'rows that come in pieces, in idle moments': {
    paper: 'all rows',
    html: `<div id=list></div>${fullPage('let last = 0; requestIdleCallback(function more() { add(last + 1, last += 5); if (last < 60) requestIdleCallback(more) })')}`,
    has: /row 1\.[^]*row 60\./,
  },
  'work with a low priority': {
    paper: 'what it makes',
    html: done(`scheduler.postTask(() => { ${DONE} }, { priority: 'background', delay: 200 })`),
    has: /^done$/,
  },
  // Nothing waits for the database.
  'data that are kept in the database of the browser': {
    paper: 'the data',
    html: done(
      "const open = indexedDB.open('d'); open.onupgradeneeded = () => open.result.createObjectStore('s').put('done', 1); open.onsuccess = () => { open.result.transaction('s').objectStore('s').get(1).onsuccess = (event) => { p.textContent = event.target.result } }",
    ),
    has: /^done$/,
  },
  // The time of an animation that goes by scrolling is left as it is.
  'sections that appear by an animation of CSS that goes by scrolling': {
    paper: 'the sections',
    html: `${style('@keyframes appear { from { opacity: 0 } } b { display: block; animation: appear linear both; animation-timeline: view(); animation-range: entry 0% cover 40% }')}${FAR}${word()}`,
    shows: [RED],
  },
  // An animation that has not begun comes to its end, too.
  'a flash notice that a CSS animation takes away after 3 seconds': {
    paper: 'it is there',
    html: `${style('@keyframes out { to { opacity: 0 } } #t { animation: out .5s 3s forwards }')}${word('id=t')}`,
    shows: [RED],
  },
  // A `<marquee>` begins beside its box; its animation is in a closed root. SMIL without an end stands at its fifth second.
  'a `<marquee>`': {
    paper: 'its text',
    html: `<marquee>${word()}</marquee>`,
    shows: [RED],
  },
  'a part of an SVG that blinks by SMIL, for ever': {
    paper: 'the part',
    html: rect('<animate attributeName=opacity values="0;1;0" dur=1s repeatCount=indefinite />'),
    shows: [RED],
  },
  // What only an endless animation shows is not seen once that is cancelled.
  'a slider of CSS alone, whose slides are transparent but for their turn': {
    paper: 'its first slide',
    html: `${style('@keyframes turn { 0% { opacity: 0 } 8% { opacity: 1 } 42% { opacity: 1 } 50% { opacity: 0 } 100% { opacity: 0 } } b { position: absolute; opacity: 0; animation: turn 8s infinite } b:nth-of-type(2) { animation-delay: 4s }')}${twoWords()}`,
    shows: [RED],
    hides: [BLUE],
  },
  // A loop of frames without an end is not known to have none before its 5 seconds are over.
  'a slider that a loop of animation frames turns every 3 seconds': {
    paper: 'its first slide',
    html: `<p id=s>Slide 1</p>${script('let n = 1, last = performance.now(); (function loop(now) { if (now - last > 3000) { last = now; n += 1; s.textContent = `Slide ${n}` } requestAnimationFrame(loop) })()')}`,
    has: /Slide 1/,
  },
  // A timer of more than a second is left alone, whatever it takes away.
  'an overlay with a spinner that covers the page until 2 seconds after loading': {
    paper: 'the content without the overlay',
    html: `${word('', 'Report', BLUE)}<div ${OVERLAY}>${word()}</div>${script("onload = () => setTimeout(() => { l.style.display = 'none' }, 2000)")}`,
    shows: [BLUE],
    hides: [RED],
  },
  // A window that a script opened can be closed by one; a page that a person has opened cannot.
  'a page that prints itself on loading': {
    paper: 'the page',
    html: `<p>Text</p>${script('onload = () => { print(); close() }')}`,
    has: /^Text$/,
  },
};
