/** Clocks, countdowns, progress, spinners, skeletons. */
import { BLUE, type Expectations, RED, script, style, word } from '../../support/expectations.ts';

export const OVERLAY = 'id=l style="position:fixed;inset:0;background:#fff;transition:opacity .4s"';
const year = new Date().getUTCFullYear();

export const TIME: Expectations = {
  'a clock that goes each second': {
    paper: 'the time',
    html: `<p id=c>--:--:--</p>${script("const tell = () => { c.textContent = new Date().toLocaleTimeString('de-DE') }; setInterval(tell, 1000); tell()")}`,
    has: /^\d\d:\d\d:\d\d$/,
  },
  'a date that a script writes': {
    paper: 'the date of printing',
    html: `<p id=c></p>${script("c.textContent = new Date().toLocaleDateString('en-GB', { dateStyle: 'long' })")}`,
    has: new RegExp(String.raw`^\d+ \w+ (${year}|${year + 1})$`),
  },
  'a countdown to a day, each second': {
    paper: 'the days until then',
    html: `<p id=c></p>${script('const end = Date.now() + 3.5 * 864e5; const tell = () => { c.textContent = `${Math.floor((end - Date.now()) / 864e5)} days` }; tell(); setInterval(tell, 1000)')}`,
    has: /^3 days$/,
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
  'a progress bar of a script that fills up to its value': {
    paper: 'its value',
    html: `<div id=b style="height:40px;width:0;background:${RED};print-color-adjust:exact"></div><p id=p>0 %</p>${script('let n = 0; const timer = setInterval(() => { n += 1; b.style.width = p.textContent = `${n}%`; if (n === 72) clearInterval(timer) }, 20)')}`,
    has: /72%/,
    shows: [RED],
  },
  'a progress bar of CSS that fills up to its value': {
    paper: 'its value',
    html: `${style(`@keyframes fill { from { width: 0 } to { width: 70% } } i { display: block; height: 40px; width: 0; background: ${RED}; print-color-adjust: exact; animation: fill 1.5s forwards }`)}<i></i>`,
    shows: [RED],
  },
  'a progress bar of CSS that moves for ever': {
    paper: 'the bar at its place',
    html: `${style(`@keyframes move { from { margin-left: -40% } to { margin-left: 100% } } i { display: block; height: 40px; width: 40%; background: ${RED}; print-color-adjust: exact; animation: move 2s infinite }`)}<i></i>`,
    shows: [RED],
  },
  'a progress bar that fills up in 3 seconds, and then gives way to the content': {
    paper: 'the content',
    html: `<p id=p>0%</p>${script("let n = 0; const timer = setInterval(() => { p.textContent = `${n += 1}%`; if (n === 100) { clearInterval(timer); p.textContent = 'The report' } }, 30)")}`,
    has: /^The report$/,
  },
  'a `<progress>` with a value': {
    paper: 'it and its text',
    html: '<progress value=70 max=100></progress> 70 of 100',
    has: /70 of 100/,
  },
  'a spinner that goes when the page has loaded': {
    paper: 'the content without the spinner',
    html: `${word('id=l', 'LOADING')}<p>The report</p>${script('onload = () => l.remove()')}`,
    has: /^The report$/,
  },
  'an overlay that fades away when the page has loaded': {
    paper: 'the content without the overlay',
    html: `${word('', 'Report', BLUE)}<div ${OVERLAY}>${word()}</div>${script("onload = () => { l.style.opacity = 0; l.addEventListener('transitionend', () => l.remove()) }")}`,
    shows: [BLUE],
    hides: [RED],
  },
  'an overlay that fades away half a second after loading': {
    paper: 'the content without the overlay',
    html: `${word('', 'Report', BLUE)}<div ${OVERLAY}>${word()}</div>${script("onload = () => setTimeout(() => { l.style.opacity = 0; setTimeout(() => { l.style.display = 'none' }, 400) }, 500)")}`,
    shows: [BLUE],
    hides: [RED],
  },
  'a spinner of CSS that turns until its data come': {
    paper: 'the data',
    html: `${style('@keyframes turn { to { rotate: 1turn } } #l { display: inline-block; animation: turn 1s infinite }')}<p id=l>LOADING</p>${script("fetch('name.txt').then((answer) => answer.text()).then((name) => { l.outerHTML = `<p>${name}` })")}`,
    files: { 'name.txt': 'Ada Lovelace' },
    has: /^Ada Lovelace$/,
  },
  'skeletons that data replace': {
    paper: 'the data',
    html: `${style('@keyframes shine { to { background-position: 400px } } i { background: linear-gradient(90deg, #eee, #fff) 0 0 / 400px; animation: shine 1s infinite }')}<p id=p><i>LOADING</i></p>${script("const request = new XMLHttpRequest(); request.open('GET', 'name.txt'); request.onload = () => { p.textContent = request.responseText }; request.send()")}`,
    files: { 'name.txt': 'Ada Lovelace' },
    has: /^Ada Lovelace$/,
  },
  'skeletons that timers of 50, 400 and 1,000 ms replace': {
    paper: 'the data',
    html: `${[50, 400, 1000].map((ms) => `<p id=p${ms}>LOADING</p>`).join('')}${script('for (const ms of [50, 400, 1000]) setTimeout(() => { document.getElementById(`p${ms}`).textContent = `after ${ms}` }, ms)')}`,
    has: /^after 50\s+after 400\s+after 1000$/,
  },
  'a skeleton that a timer of 10 seconds replaces': {
    paper: 'the skeleton, as in a browser that has just loaded the page',
    html: `<p id=p>LOADING</p>${script("setTimeout(() => { p.textContent = 'Ada Lovelace' }, 10000)")}`,
    has: /^LOADING$/,
  },
  'a skeleton that a timer of 1.2 seconds replaces, with `wait_for` of its selector': {
    paper: 'the data',
    html: `<p id=p>LOADING</p>${script("setTimeout(() => { p.textContent = 'Ada Lovelace'; p.className = 'there' }, 1200)")}`,
    waitFor: { selector: '#p.there' },
    has: /^Ada Lovelace$/,
  },
  'data that are asked for 0.8 seconds after loading': {
    paper: 'the data',
    html: `<p id=p>LOADING</p>${script("onload = () => setTimeout(async () => { p.textContent = await (await fetch('name.txt')).text() }, 800)")}`,
    files: { 'name.txt': 'Ada Lovelace' },
    has: /^Ada Lovelace$/,
  },
  'data that a page shows half a second after they have come': {
    paper: 'the data',
    html: `<p id=p>LOADING</p>${script("fetch('name.txt').then((answer) => answer.text()).then((name) => setTimeout(() => { p.textContent = name }, 500))")}`,
    files: { 'name.txt': 'Ada Lovelace' },
    has: /^Ada Lovelace$/,
  },
  'data with a time limit of the page, 3 seconds': {
    paper: 'the data',
    html: `<p id=p>LOADING</p>${script("fetch('name.txt', { signal: AbortSignal.timeout(3000) }).then((answer) => answer.text()).then((name) => { p.textContent = name }, () => { p.textContent = 'Too late' }); const timer = setTimeout(() => { if (p.textContent === 'LOADING') p.textContent = 'Too late' }, 3000)")}`,
    files: { 'name.txt': 'Ada Lovelace' },
    has: /^Ada Lovelace$/,
  },
  'data that are not there': {
    paper: 'what the page says of that',
    html: `<p id=p>LOADING</p>${script("fetch('nothing.json').then((answer) => answer.json()).catch(() => { p.textContent = 'No data' })")}`,
    has: /^No data$/,
  },
};
