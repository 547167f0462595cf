/** Documents of which something else is printed than a person expects: what is there, and what to do instead. */
import { BLUE, type Expectations, RED, script, style, word } from '../../support/expectations.ts';
import { twoWords } from './moving.ts';
import { OVERLAY } from './time.ts';

const loop = `<p id=s>Slide 1</p>${script('let n = 1, last = performance.now(); (function loop(now) { if (now - last > 3000) { last = now; n += 1; s.textContent = `Slide ${n}` } requestAnimationFrame(loop) })()')}`;
const covered = `${word('', 'Report', BLUE)}<div ${OVERLAY}>${word()}</div>${script("onload = () => setTimeout(() => { l.style.display = 'none' }, 2000)")}`;
const turning = (more = ''): string =>
  `${style(`@keyframes turn { 0% { opacity: 0 } 8% { opacity: 1 } 42% { opacity: 1 } 50% { opacity: 0 } 100% { opacity: 0 } } b { position: absolute; opacity: 0; animation: turn 8s infinite } b:nth-of-type(2) { animation-delay: 4s } ${more}`)}${twoWords()}`;

export const LIMITS: Expectations = {
  'a slider of CSS alone, whose slides are transparent but for their turn': {
    paper: 'no slide; show one by a rule in `@media print`',
    html: turning(),
    hides: [RED, BLUE],
  },
  'the same with a slide that `@media print` shows': {
    paper: 'that slide',
    html: turning('@media print { b:first-of-type { opacity: 1 } }'),
    shows: [RED],
    hides: [BLUE],
  },
  'a slider that a loop of animation frames turns every 3 seconds': {
    paper: 'its second slide, as after 5 seconds; set `budget_ms`',
    html: loop,
    has: /Slide 2/,
  },
  'the same with `budget_ms` 0': {
    paper: 'its first slide',
    html: loop,
    waitFor: { budget_ms: 0 },
    has: /Slide 1/,
  },
  'an overlay with a spinner that covers the page until 2 seconds after loading': {
    paper: 'the overlay; hide it in `@media print`, or wait for a `selector`',
    html: covered,
    shows: [RED],
    hides: [BLUE],
  },
  'the same with `wait_for` of the selector that the overlay has at its end': {
    paper: 'the content without the overlay',
    html: covered,
    waitFor: { selector: '#l[style*=none]' },
    shows: [BLUE],
    hides: [RED],
  },
  'a box over the page that CSS alone opens after 4 seconds': {
    paper: 'it is there; hide it in `@media print`',
    html: `${style('@keyframes open { to { opacity: 1 } } div { position: fixed; inset: 0; opacity: 0; animation: open .5s 4s forwards }')}<p>Text</p><div>${word()}</div>`,
    shows: [RED],
  },
  'a page that prints itself on loading, and closes its window': {
    paper: 'it fails (`page_crashed`); leave `close()` out',
    html: `<p>Text</p>${script('onload = () => { print(); close() }')}`,
    fails: /closed its own window/,
  },
};
