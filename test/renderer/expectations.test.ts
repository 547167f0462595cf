/** Documents that change after they have loaded: on paper is what a person expects. Real Chrome; the PDF is read. */
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

interface Expectation {
  readonly html: string;
  /** The words on paper, and those that are not. */
  readonly has?: RegExp;
  readonly lacks?: RegExp;
  readonly files?: Readonly<Record<string, string>>;
}

const script = (code: string): string => `<script>${code}</script>`;
const far = '<div style="height:4000px"></div>';
const SHOW =
  "const show = () => { if (q.getBoundingClientRect().top < innerHeight) q.textContent = 'picture' };";
const LOADER = `${SHOW} document.querySelector('main').addEventListener('scroll', show); addEventListener('resize', show)`;

/** Each by the line that says what a person expects. */
const DOCUMENTS: Readonly<Record<string, Expectation>> = {
  'a message that leaves by itself is there': {
    html: `<p>Receipt</p><p id=t>Payment received, reference 4711</p>${script('setTimeout(() => t.remove(), 3000)')}`,
    has: /Payment received/,
  },
  'a box that comes after some seconds is not there': {
    html: `<p>Article</p>${script(`setTimeout(() => { document.body.innerHTML += '<div style="position:fixed;inset:0;background:#fff">Newsletter</div>' }, 4000)`)}`,
    has: /Article/,
    lacks: /Newsletter/,
  },
  'a session does not end': {
    html: `<p>Your orders</p>${script("setTimeout(() => { document.body.textContent = 'Your session has expired' }, 4500)")}`,
    has: /Your orders/,
    lacks: /expired/,
  },
  'a slider stands on its first slide': {
    html: `<p id=s>Slide 1</p>${script('let n = 1; setInterval(() => { n += 1; s.textContent = `Slide ${n}` }, 3000)')}`,
    has: /Slide 1/,
  },
  'a slider that runs while a chart is drawn stands on its first slide': {
    html: `<p id=s>Slide 1</p>${script('setInterval(() => { s.textContent = "Slide 2" }, 1500); (function draw() { requestAnimationFrame(draw) })()')}`,
    has: /Slide 1/,
  },
  'a lazy loader in the page shows what is far down': {
    html: `<main>top</main>${far}<p id=q>grey box</p>${script(LOADER)}`,
    has: /picture/,
  },
  'a lazy loader in a file shows what is far down': {
    html: `<main>top</main>${far}<p id=q>grey box</p><script src=loader.js></script>`,
    files: { 'loader.js': LOADER },
    has: /picture/,
  },
  'a lazy loader in a file with a long tag shows what is far down': {
    html: `<main>top</main>${far}<p id=q>grey box</p><script data-a="${'a'.repeat(250)}" src=loader.js></script>`,
    files: { 'loader.js': LOADER },
    has: /picture/,
  },
  'a ticker shows its text': {
    html: '<style>@keyframes run { from { transform: translateX(100vw) } to { transform: translateX(-100%) } } p { animation: run 9s linear infinite }</style><p>Breaking news',
    has: /Breaking news/,
  },
  'a typewriter has written all of its text': {
    html: `<p id=p></p>${script("const text = 'The whole sentence is on paper.'; let n = 0; (function type() { p.textContent = text.slice(0, n); n += 1; if (n <= text.length) setTimeout(type, 60) })()")}`,
    has: /The whole sentence is on paper\./,
  },
  'a number that counts up has come to its end': {
    html: `<p id=p>0</p>${script('let n = 0; const t = setInterval(() => { n += 25; p.textContent = n; if (n >= 2000) clearInterval(t) }, 25)')}`,
    has: /^2000$/,
  },
  'a page that reloads itself once is printed as it is then': {
    html: `<p id=p>first</p>${script("if (sessionStorage.seen) p.textContent = 'second'; else { sessionStorage.seen = 1; location.reload() }")}`,
    has: /second/,
  },
};

for (const [line, { html, has, lacks, files = {} }] of Object.entries(DOCUMENTS)) {
  void test(line, async (t) => {
    const encoded = Object.entries(files).map(
      ([name, text]) => [name, Buffer.from(text).toString('base64')] as const,
    );
    const own = encoded.length === 0 ? {} : { files: Object.fromEntries(encoded) };
    const { text } = await renderer.pdf({ html: `<!doctype html>${html}`, ...own });
    if (has !== undefined) t.match(text.trim(), has);
    if (lacks !== undefined) t.notMatch(text, lacks);
  });
}

void test('a word that blinks is visible', async (t) => {
  const html =
    '<style>@keyframes blink { 0% { opacity: 0 } 100% { opacity: 1 } } b { color: #d01020; animation: blink 1s infinite }</style><b>OVERDUE</b>';
  const { pages } = await renderer.pdf({ html });
  t.ok(pages[0]?.fills.has('#d01020'));
});
