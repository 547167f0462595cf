/** Documents that go on after they have loaded, each beside the one that it is at its end. */
import { page } from './document.ts';

export interface MovingDocument {
  readonly name: string;
  readonly moving: string;
  readonly still: string;
}

type Halves = readonly [css: string, body: string];

const pair = (name: string, [css, body]: Halves, [endCss, endBody]: Halves): MovingDocument => ({
  name,
  moving: page(name, css, body),
  still: page(name, endCss, endBody),
});

/** A script that draws by frames for a time, or at once when it is not animated. */
const drawn = (name: string, body: string, draw: string): MovingDocument => {
  const run = (animated: boolean): Halves => [
    '',
    `${body}<script>const draw = (part) => { ${draw} };
    const begun = performance.now();
    const step = (now) => { const part = Math.min(1, (now - begun) / 1000); draw(part); if (part < 1) requestAnimationFrame(step); };
    if (${animated}) requestAnimationFrame(step); else draw(1);</script>`,
  ];
  return pair(name, run(true), run(false));
};

const later = (name: string, script: string, end: string): MovingDocument =>
  pair(
    name,
    ['', `<div id=root>-</div><script>${script}</script>`],
    ['', `<div id=root>${end}</div><script></script>`],
  );

export const MOVING: readonly MovingDocument[] = [
  drawn(
    'bars of a canvas that grow',
    '<canvas id=c width=300 height=150></canvas>',
    `const g = c.getContext('2d'); g.clearRect(0, 0, 300, 150); [10, 20, 30].forEach((v, n) => { g.fillStyle = '#06c'; g.fillRect(20 + n * 90, 150 - v * 4 * part, 60, v * 4 * part); });`,
  ),
  drawn(
    'bars of a drawing that grow',
    '<svg width=300 height=150><rect id=r width=60 y=0 fill=teal /></svg>',
    `r.setAttribute('height', Math.round(120 * part));`,
  ),
  drawn('a number that counts up', '<p id=n>0</p>', `n.textContent = Math.round(4321 * part);`),
  pair(
    'fading in',
    ['@keyframes f{from{opacity:0;transform:translateX(-90px)}} p{animation:f 1s}', '<p>text'],
    ['', '<p>text'],
  ),
  pair(
    'an animation that stays at its end',
    ['@keyframes f{to{margin-left:90px;color:red}} p{animation:f 2s .5s forwards}', '<p>text'],
    ['p{margin-left:90px;color:red}', '<p>text'],
  ),
  pair(
    'an animation by script',
    [
      '',
      '<p id=p>text</p><script>p.animate([{ marginLeft: 0 }, { marginLeft: "80px" }], { duration: 700, fill: "forwards" })</script>',
    ],
    ['p{margin-left:80px}', '<p id=p>text</p><script></script>'],
  ),
  pair(
    'a transition after a timer',
    [
      'p{transition:margin-left .6s}.on{margin-left:99px}',
      '<p id=p>text</p><script>setTimeout(() => { p.className = "on" }, 100)</script>',
    ],
    ['p{margin-left:99px}', '<p id=p>text</p><script></script>'],
  ),
  later('drawn by a timer', `setTimeout(() => { root.textContent = 'drawn'; }, 200);`, 'drawn'),
  later(
    'typed letter by letter',
    `root.textContent = ''; let n = 0; const t = setInterval(() => { root.textContent += 'typed'[n++]; if (n === 5) clearInterval(t); }, 90);`,
    'typed',
  ),
  later(
    'data fetched and then shown',
    `fetch('data:application/json,[1,2]').then((r) => r.json()).then((all) => setTimeout(() => { root.textContent = all.join(); }, 300));`,
    '1,2',
  ),
  later(
    'several waits in a row',
    `(async () => { for (let n = 0; n < 4; n++) await new Promise((r) => setTimeout(r, 150)); root.textContent = 'waited'; })();`,
    'waited',
  ),
  later(
    'a part when there is time',
    `requestIdleCallback(() => setTimeout(() => { root.textContent = 'idle'; }, 50));`,
    'idle',
  ),
];
