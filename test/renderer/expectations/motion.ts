/** Fades, reveals, the Web Animations API, SMIL, charts, what blinks. */
import { BLUE, type Expectations, RED, script, style, word } from '../../support/expectations.ts';

const FADE = '@keyframes fade { from { opacity: 0 } }';
const animated = (code: string, more = ''): string => `${word('id=w')}${more}${script(code)}`;
const IN = '[{ opacity: 0 }, { opacity: 1 }]';
const rect = (content: string, attributes = ''): string =>
  `<svg width=200 height=100><rect width=80 height=80 fill="${RED}" ${attributes}>${content}</rect></svg>`;

export const MOTION: Expectations = {
  'a fade-in of CSS': {
    paper: 'its end',
    html: `${style(`${FADE} b { animation: fade 1s both }`)}${word()}`,
    shows: [RED],
  },
  'a fade-in of CSS that takes 8 seconds': {
    paper: 'its end',
    html: `${style(`${FADE} b { animation: fade 8s 1s both }`)}${word()}`,
    shows: [RED],
  },
  'lines that fade in one after the other, by delays of CSS up to 3 seconds': {
    paper: 'all lines',
    html: `${style(`${FADE} b { display: block; animation: fade .6s both } b:nth-of-type(2) { animation-delay: 3s }`)}${word()}${word('', 'SECOND', BLUE)}`,
    shows: [RED, BLUE],
  },
  'the same where the lines are transparent by their own style': {
    paper: 'all lines',
    html: `${style('@keyframes show { to { opacity: 1 } } b { opacity: 0; animation: show .5s forwards } b:last-child { animation-delay: 2.4s }')}${word()}${word('', 'SECOND', BLUE)}`,
    shows: [RED, BLUE],
  },
  'bars that grow one after the other, by delays of CSS up to 2 seconds': {
    paper: 'all bars',
    html: `${style(`@keyframes grow { to { width: 80% } } p { height: 20px; width: 0; print-color-adjust: exact; animation: grow 1s 2s forwards }`)}<p style="background:${RED}"></p>`,
    shows: [RED],
  },
  'lines that appear one after the other, by an interval of 200 ms': {
    paper: 'all lines',
    html: `<ol id=l>${'<li hidden>line</li>'.repeat(6)}</ol>${script('let n = 0; const timer = setInterval(() => { l.children[n].hidden = false; if ((n += 1) === 6) clearInterval(timer) }, 200)')}`,
    has: /^(\d\.\s*line\s*){6}$/,
  },
  'the same by an interval of 600 ms': {
    paper: 'all lines',
    html: `<ol id=l>${'<li hidden>line</li>'.repeat(6)}</ol>${script('let n = 0; const timer = setInterval(() => { l.children[n].hidden = false; if ((n += 1) === 6) clearInterval(timer) }, 600)')}`,
    has: /^(\d\.\s*line\s*){6}$/,
  },
  'lines that appear one after the other, by timers of 0.3, 0.6 … 1.8 seconds': {
    paper: 'all lines',
    html: `<ol id=l>${'<li hidden>line</li>'.repeat(6)}</ol>${script('[...l.children].forEach((line, n) => setTimeout(() => { line.hidden = false }, 300 * (n + 1)))')}`,
    has: /^(\d\.\s*line\s*){6}$/,
  },
  'the same by timers of 0.7 seconds, each of which sets the next': {
    paper: 'all lines',
    html: `<ol id=l>${'<li hidden>line</li>'.repeat(6)}</ol>${script('let n = 0; (function next() { l.children[n].hidden = false; if ((n += 1) < 6) setTimeout(next, 700) })()')}`,
    has: /^(\d\.\s*line\s*){6}$/,
  },
  'a fade-in by steps of 13 ms, as jQuery does': {
    paper: 'its end',
    html: `${word('id=w style="opacity:0"')}${script('const begun = Date.now(); const timer = setInterval(() => { const part = Math.min(1, (Date.now() - begun) / 600); w.style.opacity = part; if (part === 1) clearInterval(timer) }, 13)')}`,
    shows: [RED],
  },
  'a class that is set two frames after loading': {
    paper: 'the end of what it begins',
    html: `${style('b { opacity: 0; transition: opacity .4s } .in { opacity: 1 }')}${word('id=w')}${script("requestAnimationFrame(() => requestAnimationFrame(() => { w.className = 'in' }))")}`,
    shows: [RED],
  },
  'a transition that a class begins on loading': {
    paper: 'its end',
    html: `${style('b { opacity: 0; transition: opacity .5s 1.5s } .ready b { opacity: 1 }')}${word()}${script("addEventListener('load', () => document.documentElement.classList.add('ready'))")}`,
    shows: [RED],
  },
  'a transition from `@starting-style`': {
    paper: 'its end',
    html: `${style('b { opacity: 1; transition: opacity 2s; @starting-style { opacity: 0 } }')}${word()}`,
    shows: [RED],
  },
  'a step that begins when an animation has ended': {
    paper: 'the step',
    html: `${style('@keyframes go { to { margin-left: 50px } } #p { animation: go 1s; opacity: 1; transition: opacity .5s }')}<p id=p>one</p>${script("p.onanimationend = () => { p.style.opacity = .9; p.ontransitionend = () => { p.textContent = 'two' } }")}`,
    has: /^two$/,
  },
  'a fade-in by `element.animate`': {
    paper: 'its end',
    html: animated(`w.animate(${IN}, { duration: 2000, fill: 'both' })`),
    shows: [RED],
  },
  'a fade-in by `element.animate` after a delay of 3 seconds': {
    paper: 'its end',
    html: animated(`w.animate(${IN}, { duration: 500, delay: 3000, fill: 'backwards' })`),
    shows: [RED],
  },
  'a fade-in that is played backwards': {
    paper: 'its end, which is nothing',
    html: animated(`w.animate(${IN}, { duration: 1000, fill: 'both' }).reverse()`, '<p>Text'),
    has: /Text/,
    hides: [RED],
  },
  'an animation that a script has paused where its element is seen': {
    paper: 'the element as it was paused',
    html: animated(
      `const animation = w.animate([{ marginLeft: '0px', color: '${RED}' }, { marginLeft: '3000px' }], { duration: 1000, fill: 'both' }); animation.pause(); animation.currentTime = 10`,
    ),
    shows: [RED],
  },
  'a text that waits for the end of an animation': {
    paper: 'the text',
    html: animated(`w.animate(${IN}, 1500).finished.then(() => { w.textContent = 'done' })`),
    has: /^done$/,
  },
  'a word that pulses for ever by `element.animate`': {
    paper: 'the word, in full colour',
    html: animated(
      `w.animate([{ opacity: 1 }, { opacity: 0 }], { duration: 800, iterations: Infinity, direction: 'alternate' })`,
    ),
    shows: [RED],
  },
  'a word that blinks by CSS, transparent at first': {
    paper: 'the word',
    html: `${style('@keyframes blink { 0% { opacity: 0 } 100% { opacity: 1 } } b { animation: blink 1s infinite }')}${word()}`,
    shows: [RED],
  },
  'a word that blinks by CSS in steps of `visibility`': {
    paper: 'the word',
    html: `${style('@keyframes blink { 0%, 49% { visibility: hidden } 50% { visibility: visible } } b { animation: blink 1s step-end infinite }')}${word()}`,
    shows: [RED],
  },
  'words that blink by `setInterval`, every 300, 500 and 700 ms': {
    paper: 'the words',
    html: `${word('id=a')}${word('id=b', 'SECOND', BLUE)}${word('id=c', 'THIRD', '#108040')}${script("[a, b, c].forEach((each, n) => setInterval(() => { const { style } = each; style.visibility = style.visibility === 'hidden' ? 'visible' : 'hidden' }, 300 + 200 * n))")}`,
    shows: [RED, BLUE, '#108040'],
  },
  'a bar of an SVG that grows by SMIL': {
    paper: 'its end',
    html: rect('<animate attributeName=height from=0 to=80 dur=2s fill=freeze />', 'height=0'),
    shows: [RED],
  },
  'a part of an SVG that blinks by SMIL, for ever': {
    paper: 'the part',
    html: rect('<animate attributeName=opacity values="0;1;0" dur=1s repeatCount=indefinite />'),
    shows: [RED],
  },
  'a line of an SVG that draws itself': {
    paper: 'the line',
    html: `${style('@keyframes draw { to { stroke-dashoffset: 0 } } path { stroke-dasharray: 400; stroke-dashoffset: 400; animation: draw 3s ease forwards }')}<svg width=420 height=40><path d="M0 20H400" stroke="${RED}" stroke-width=10 /></svg>`,
    shows: [RED],
  },
  'a chart on a canvas that grows by animation frames': {
    paper: 'its end',
    html: `<canvas id=c width=200 height=200></canvas>${script(`const context = c.getContext('2d'); let begun; requestAnimationFrame(function draw(now) { begun ??= now; const part = Math.min(1, (now - begun) / 1000); context.clearRect(0, 0, 200, 200); context.fillStyle = part < 1 ? '${BLUE}' : '${RED}'; context.fillRect(0, 200 - 200 * part, 100, 200 * part); if (part < 1) requestAnimationFrame(draw) })`)}`,
    shows: [RED],
    hides: [BLUE],
  },
  'a game on a canvas that is drawn for ever': {
    paper: 'a picture of it',
    html: `<canvas id=c width=200 height=200></canvas>${script(`const context = c.getContext('2d'); (function draw(now) { context.fillStyle = '${RED}'; context.fillRect(0, 0, 150, 150); requestAnimationFrame(draw) })()`)}`,
    shows: [RED],
  },
  'a chart that is drawn once its width is known': {
    paper: 'the chart',
    html: `<div id=d></div>${script(`new ResizeObserver(([{ contentRect }]) => { d.innerHTML = \`<svg width="\${contentRect.width}" height=80><rect width="\${contentRect.width / 2}" height=80 fill="${RED}"/></svg>\` }).observe(d)`)}`,
    shows: [RED],
  },
};
