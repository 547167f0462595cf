/** Sliders, tickers, counters, typewriters. */
import {
  BLUE,
  type Expectations,
  FAR,
  RED,
  script,
  style,
  word,
} from '../../support/expectations.ts';

export const twoWords = (first = '', second = ''): string =>
  `${word(first)}${word(second, 'SECOND', BLUE)}`;

export const MOVING: Expectations = {
  'a slider that `setInterval` turns every 3 seconds': {
    paper: 'its first slide',
    html: `<p id=s>Slide 1</p>${script('let n = 1; setInterval(() => { n += 1; s.textContent = `Slide ${n}` }, 3000)')}`,
    has: /Slide 1/,
  },
  'a slider beside a chart that is drawn for ever': {
    paper: 'its first slide',
    html: `<p id=s>Slide 1</p>${script('setInterval(() => { s.textContent = "Slide 2" }, 1500); (function draw() { requestAnimationFrame(draw) })()')}`,
    has: /Slide 1/,
  },
  'testimonials that fade over every 6 seconds': {
    paper: 'the first, in full colour',
    html: `${style('b { display: block; opacity: 0; transition: opacity 1s } b.on { opacity: 1 }')}${twoWords('class=on')}${script("const all = document.querySelectorAll('b'); let n = 0; (function turn() { setTimeout(() => { all[n].className = ''; n = 1 - n; all[n].className = 'on'; turn() }, 6000) })()")}`,
    shows: [RED],
    hides: [BLUE],
  },
  'a slider of CSS alone, whose row of slides moves': {
    paper: 'its first slide',
    html: `${style('@keyframes turn { 0%, 45% { transform: none } 50%, 95% { transform: translateX(-600px) } 100% { transform: none } } main { width: 600px; overflow: hidden } div { width: 1200px; display: flex; animation: turn 10s infinite } b { flex: 0 0 600px }')}<main><div>${twoWords()}</div></main>`,
    shows: [RED],
    hides: [BLUE],
  },
  'a carousel that is turned by scrolling': {
    paper: 'its first slide',
    html: `${style('main { display: flex; width: 600px; overflow-x: auto; scroll-snap-type: x mandatory } b { flex: 0 0 600px; scroll-snap-align: start }')}<main>${twoWords()}</main>`,
    shows: [RED],
    hides: [BLUE],
  },
  'a ticker of CSS': {
    paper: 'its text',
    html: `${style('@keyframes run { from { transform: translateX(100vw) } to { transform: translateX(-100%) } } b { display: block; animation: run 9s linear infinite }')}${word()}`,
    shows: [RED],
  },
  'a ticker of CSS that has its text twice': {
    paper: 'its text',
    html: `${style('@keyframes run { to { transform: translateX(-50%) } } main { overflow: hidden } div { width: 2000px; animation: run 9s linear infinite } b { display: inline-block; width: 1000px }')}<main><div>${word()}${word()}</div></main>`,
    shows: [RED],
  },
  'a `<marquee>`': {
    paper: 'its text',
    html: `<marquee>${word()}</marquee>`,
    shows: [RED],
  },
  'a ticker that a script begins by `element.animate`, for ever': {
    paper: 'its text',
    html: `<main style="overflow:hidden">${word('id=t style="display:block"')}</main>${script("t.animate([{ transform: 'translateX(100vw)' }, { transform: 'translateX(-100%)' }], { duration: 9000, iterations: Infinity })")}`,
    shows: [RED],
  },
  'a ticker that a script moves in from the right by `setInterval`': {
    paper: 'its text',
    html: `<main style="overflow:hidden;position:relative;height:80px">${word('id=t style="position:absolute;left:100%"')}</main>${script('let left = 700; setInterval(() => { t.style.left = `${left -= 2}px`; if (left < -400) left = 700 }, 30)')}`,
    shows: [RED],
  },
  'a number that `setInterval` counts up in 2 seconds': {
    paper: 'its last value',
    html: `<p id=p>0</p>${script('let n = 0; const t = setInterval(() => { n += 25; p.textContent = n; if (n >= 2000) clearInterval(t) }, 25)')}`,
    has: /^2000$/,
  },
  'a number that counts up by animation frames, with easing, as libraries do': {
    paper: 'its last value',
    html: `<p id=p>0</p>${script("const end = 12345; let start; const ease = (t, d) => end * (1 - 2 ** (-10 * t / d)) * 1024 / 1023; requestAnimationFrame(function step(now) { start ??= now; const t = now - start; p.textContent = Math.round(Math.min(end, ease(t, 2000))).toLocaleString('en-US'); if (t < 2000) requestAnimationFrame(step) })")}`,
    has: /^12,345$/,
  },
  'a number that counts animation frames': {
    paper: 'its last value',
    html: `<p id=p>0</p>${script('let n = 0; (function step() { p.textContent = n; if (n < 120) { n += 1; requestAnimationFrame(step) } })()')}`,
    has: /^120$/,
  },
  'a number that begins to count up after a second': {
    paper: 'its last value',
    html: `<p id=p>0</p>${script('setTimeout(() => { let n = 0; const timer = setInterval(() => { p.textContent = n += 10; if (n === 990) clearInterval(timer) }, 20) }, 1000)')}`,
    has: /^990$/,
  },
  'a number far down that counts up once it is seen': {
    paper: 'its last value',
    html: `${FAR}<p id=p>0</p>${script('new IntersectionObserver(([seen], observer) => { if (!seen.isIntersecting) return; observer.disconnect(); const begun = Date.now(); const timer = setInterval(() => { const part = Math.min(1, (Date.now() - begun) / 1500); p.textContent = Math.round(part * 860); if (part === 1) clearInterval(timer) }, 16) }).observe(p)')}`,
    has: /^860$/,
  },
  'a number that counts up for 3 seconds after its data have come': {
    paper: 'its last value',
    html: `<p id=p>–</p>${script("fetch('sum.json').then((answer) => answer.json()).then((end) => { const begun = performance.now(); (function step() { const part = Math.min(1, (performance.now() - begun) / 3000); p.textContent = Math.round(part * end); if (part < 1) requestAnimationFrame(step) })() })")}`,
    files: { 'sum.json': '4711' },
    has: /^4711$/,
  },
  'a number that CSS counts up by a registered property': {
    paper: 'its last value',
    html: `${style("@property --n { syntax: '<integer>'; initial-value: 0; inherits: false } @keyframes up { to { --n: 75 } } p { animation: up 2s forwards; counter-reset: n var(--n) } p::after { content: counter(n) }")}<p></p>`,
    has: /^75$/,
  },
  'an odometer whose column of digits moves by a transition': {
    paper: 'its last digit',
    html: `${style('main { height: 80px; overflow: hidden } div { transition: transform 2s } b { display: block; height: 80px }')}<main><div id=d>${twoWords()}</div></main>${script("setTimeout(() => { d.style.transform = 'translateY(-80px)' })")}`,
    shows: [BLUE],
    hides: [RED],
  },
  'a typewriter by `setTimeout`': {
    paper: 'all of its text',
    html: `<p id=p></p>${script("const text = 'The whole sentence is on paper.'; let n = 0; (function type() { p.textContent = text.slice(0, n); n += 1; if (n <= text.length) setTimeout(type, 60) })()")}`,
    has: /The whole sentence is on paper\./,
  },
  'a typewriter by promises': {
    paper: 'all of its text',
    html: `<p id=p></p><script type=module>const sleep = (ms) => new Promise((done) => setTimeout(done, ms)); for (const letter of 'The whole sentence is on paper.') { p.textContent += letter; await sleep(40) }</script>`,
    has: /The whole sentence is on paper\./,
  },
  'a typewriter of CSS, with a cursor that blinks': {
    paper: 'all of its text',
    html: `${style('@keyframes type { from { width: 0 } } @keyframes blink { 50% { border-color: transparent } } p { width: 700px; overflow: hidden; white-space: nowrap; border-right: 2px solid; animation: type 3s steps(20), blink .7s step-end infinite }')}<p>A word is ${word()}`,
    shows: [RED],
  },
  'a typewriter that stops for 0.7 seconds after each phrase, and takes it back': {
    paper: 'one of its phrases',
    html: `<p id=p></p>${script("const phrases = ['We print.', 'We sign.']; let which = 0, n = 0, back = false; (function type() { p.textContent = phrases[which].slice(0, n); if (!back && n === phrases[which].length) { back = true; setTimeout(type, 700) } else if (back && n === 0) { back = false; which = 1 - which; setTimeout(type, 500) } else { n += back ? -1 : 1; setTimeout(type, 50) } })()")}`,
    has: /^We (print|sign)\.$/,
  },
  'a typewriter that stops for 2 seconds after each phrase, and takes it back': {
    paper: 'its first phrase',
    html: `<p id=p></p>${script("const phrases = ['We print.', 'We sign.']; let which = 0, n = 0, back = false; (function type() { p.textContent = phrases[which].slice(0, n); if (!back && n === phrases[which].length) { back = true; setTimeout(type, 2000) } else if (back && n === 0) { back = false; which = 1 - which; setTimeout(type, 500) } else { n += back ? -1 : 1; setTimeout(type, 60) } })()")}`,
    has: /^We print\.$/,
  },
  'letters that are shuffled until they are a word': {
    paper: 'the word',
    html: `<p id=p></p>${script("const text = 'LEDGER'; let n = 0; (function step() { p.textContent = [...text].map((letter, at) => at * 8 < n ? letter : 'QXZ'[n % 3]).join(''); if (n < 48) { n += 1; requestAnimationFrame(step) } })()")}`,
    has: /^LEDGER$/,
  },
};
