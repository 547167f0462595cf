/** Messages that come and go, boxes that open, sessions that end. */
import {
  BLUE,
  type Expectations,
  FAR,
  RED,
  script,
  style,
  word,
} from '../../support/expectations.ts';

const NEWSLETTER = `document.body.insertAdjacentHTML('beforeend', '<div style="position:fixed;inset:0;background:#fff">Newsletter</div>')`;

export const MESSAGES: Expectations = {
  'a message that a script removes after 3 seconds': {
    paper: 'it is there',
    html: `<p>Receipt</p><p id=t>Payment received, reference 4711</p>${script('setTimeout(() => t.remove(), 3000)')}`,
    has: /Payment received/,
  },
  'a toast that a script adds when the page has loaded, and removes after 5 seconds': {
    paper: 'it is there',
    html: `<p>Receipt</p>${script("onload = () => { const toast = document.createElement('p'); toast.textContent = 'Saved'; document.body.append(toast); setTimeout(() => toast.remove(), 5000) }")}`,
    has: /Saved/,
  },
  'a banner that fades in by a class that is set on loading': {
    paper: 'it is there, in full colour',
    html: `${style('#t { opacity: 0; transition: opacity .6s } #t.in { opacity: 1 }')}${word('id=t')}${script("onload = () => setTimeout(() => t.classList.add('in'), 100)")}`,
    shows: [RED],
  },
  'a flash notice that slides away by a class after 4 seconds': {
    paper: 'it is there',
    html: `${style('#t { display: block; transition: transform .4s } #t.out { transform: translateX(-200vw) }')}${word('id=t')}${script("setTimeout(() => t.classList.add('out'), 4000)")}`,
    shows: [RED],
  },
  'a toast of CSS that fades in, and after 2.5 seconds out': {
    paper: 'it is there',
    html: `${style('@keyframes in { from { opacity: 0 } } @keyframes out { to { opacity: 0 } } #t.show { animation: in .5s, out .5s 2.5s }')}${word('id=t')}${script("t.className = 'show'; setTimeout(() => { t.className = '' }, 3000)")}`,
    shows: [RED],
  },
  'a flash notice that a CSS animation takes away after 3 seconds': {
    paper: 'it is there',
    html: `${style('@keyframes out { to { opacity: 0 } } #t { animation: out .5s 3s forwards }')}${word('id=t')}`,
    shows: [RED],
  },
  'the same that fills its delay, and slides it out of the page': {
    paper: 'it is there',
    html: `${style('@keyframes out { from { transform: none } to { transform: translateY(-400px) } } #t { display: block; animation: out .5s 3s both }')}${word('id=t')}`,
    shows: [RED],
  },
  'notices that take turns, each for 2.5 seconds': {
    paper: 'the first is there',
    html: `<p id=t>Saved</p>${script("const next = ['Mail sent', 'Done']; (function turn() { setTimeout(() => { t.textContent = next.shift() ?? ''; turn() }, 2500) })()")}`,
    has: /^Saved$/,
  },
  'a box over the page that opens after 4 seconds': {
    paper: 'it is not there',
    html: `<p>Article</p>${script(`setTimeout(() => { ${NEWSLETTER} }, 4000)`)}`,
    has: /Article/,
    lacks: /Newsletter/,
  },
  'a box that opens when half of the page has been scrolled': {
    paper: 'it is not there',
    html: `<p>Article</p>${FAR}<p>End</p>${script(`addEventListener('scroll', () => { if (scrollY > document.body.scrollHeight / 2) ${NEWSLETTER} })`)}`,
    has: /Article[^]*End/,
    lacks: /Newsletter/,
  },
  'a box that opens when the mouse leaves the page': {
    paper: 'it is not there',
    html: `<p>Article</p>${script(`document.documentElement.addEventListener('mouseleave', () => { ${NEWSLETTER} })`)}`,
    lacks: /Newsletter/,
  },
  'a cookie banner at the foot of the window, in the page from the start': {
    paper: 'it is there, as in a browser',
    html: '<p>Article</p><div style="position:fixed;bottom:0">We use cookies</div>',
    has: /We use cookies/,
  },
  'a cookie banner that comes after 2 seconds': {
    paper: 'it is not there',
    html: `<p>Article</p><div id=c hidden>We use cookies</div>${script('setTimeout(() => { c.hidden = false }, 2000)')}`,
    lacks: /cookies/,
  },
  'a consent overlay that a file adds 1.5 seconds after loading': {
    paper: 'it is not there',
    html: '<p>Article</p><script src=consent.js async></script>',
    files: {
      'consent.js': `addEventListener('load', () => setTimeout(() => { ${NEWSLETTER} }, 1500))`,
    },
    has: /Article/,
    lacks: /Newsletter/,
  },
  'a chat box that opens after 3 seconds behind a chat button': {
    paper: 'the button is there, the box is not',
    html: `<p>Article</p><button id=b>Chat</button><div id=c></div>${script("setTimeout(() => { c.textContent = 'How can we help?' }, 3000)")}`,
    has: /Chat/,
    lacks: /How can we help/,
  },
  'a question "still there?" after four idle seconds, counted by `setInterval`': {
    paper: 'it is not there',
    html: `<p>Form</p><p id=q></p>${script("let idle = 0; setInterval(() => { if ((idle += 1) >= 4) q.textContent = 'Are you still there?' }, 1000)")}`,
    has: /Form/,
    lacks: /still there/,
  },
  'a session that a script ends after 4.5 seconds': {
    paper: 'it does not end',
    html: `<p>Your orders</p>${script("setTimeout(() => { document.body.textContent = 'Your session has expired' }, 4500)")}`,
    has: /Your orders/,
    lacks: /expired/,
  },
  'a session that a script ends on another page after 5 seconds': {
    paper: 'it does not end',
    html: `<p>Your orders</p>${script("setTimeout(() => { location.href = 'expired.html' }, 5000)")}`,
    files: { 'expired.html': '<p>Your session has expired' },
    has: /Your orders/,
    lacks: /expired/,
  },
  'a session that `<meta http-equiv=refresh>` ends after 3 seconds': {
    paper: 'it does not end',
    html: '<meta http-equiv=refresh content="3;url=expired.html"><p>Your orders',
    files: { 'expired.html': '<p>Your session has expired' },
    has: /Your orders/,
    lacks: /expired/,
  },
  'a page that `<meta http-equiv=refresh>` moves on at once': {
    paper: 'the page that it moves on to',
    html: '<meta http-equiv=refresh content="0;url=report.html"><p>One moment',
    files: { 'report.html': '<p>The report' },
    has: /^The report$/,
  },
  'a page that loads itself again every minute': {
    paper: 'the page, once',
    html: '<meta http-equiv=refresh content=60><p>Status board',
    has: /^Status board$/,
  },
  'a page that loads itself again once': {
    paper: 'the page as it is then',
    html: `<p id=p>first</p>${script("if (sessionStorage.seen) p.textContent = 'second'; else { sessionStorage.seen = 1; location.reload() }")}`,
    has: /second/,
  },
  'a notice that counts five seconds down until the page moves on': {
    paper: 'the page has not moved on',
    html: `<p>You will be forwarded in <i id=n>5</i></p>${script("let left = 5; setInterval(() => { n.textContent = left -= 1; if (left === 0) location.href = 'next.html' }, 1000)")}`,
    files: { 'next.html': '<p>Next page' },
    has: /You will be forwarded/,
    lacks: /Next page/,
  },
  'a notice for those who are offline': {
    paper: 'it is not there',
    html: `<p>Article</p><p id=o></p>${script("if (!navigator.onLine) o.textContent = 'You are offline'; addEventListener('offline', () => { o.textContent = 'You are offline' })")}`,
    lacks: /offline/,
  },
  'a badge that asks for its number each second': {
    paper: 'the number is there',
    html: `<p>Messages: <b id=n>…</b></p>${script("const ask = async () => { n.textContent = await (await fetch('count.txt')).text() }; ask(); setInterval(ask, 1000)")}`,
    files: { 'count.txt': '37' },
    has: /Messages: 37/,
  },
  'a message in front of a page, both at once': {
    paper: 'both are there',
    html: `${word()}<div style="position:fixed;bottom:10px">${word('', 'Saved', BLUE)}</div>`,
    shows: [RED, BLUE],
  },
};
