/** What warm tabs must not carry over: from one document to the next, and from one account to another. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import tap, { test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';
import { png } from '../support/tiny-images.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

/** Processor time of each renderer process of ours, in clock ticks, by its pid. */
function processorTimes(): Map<string, number> {
  const times = new Map<string, number>();
  const chromes = readdirSync(renderer.directory).flatMap((name) => {
    if (!name.endsWith('.process.json')) return [];
    const record = readFileSync(`${renderer.directory}/${name}`, 'utf8');
    return [String((JSON.parse(record) as { pid: number }).pid)];
  });
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (!chromes.includes(fields[2] ?? '') || !command.includes('--type=renderer')) continue;
      times.set(pid, Number(fields[11]));
    } catch {
      // It ended meanwhile.
    }
  }
  return times;
}

const LOOK_EVERY_MS = 20;
/** Clock ticks that a new process, which other tabs may get meanwhile, does not need. */
const BUSY_TICKS = 20;

/** The process of an account's tab: the one that is busy while its document is. */
async function processOf(account: string): Promise<string> {
  // Counted, not timed: on a busy machine a second may bring it no processor time.
  const busy = '<p>busy</p><script>for (let i = 0; i < 1.5e9; i += 1);</script>';
  // The tab of an account that comes once is not kept.
  await renderer.pdf({ html: '<p>first</p>' }, {}, account);
  const before = processorTimes();
  const spent = new Map<string, number>();
  const look = () => {
    for (const [pid, time] of processorTimes()) spent.set(pid, time - (before.get(pid) ?? 0));
  };
  // Not only at the end: its tab may be closed then.
  const looking = setInterval(look, LOOK_EVERY_MS);
  await renderer.render({ html: busy }, {}, 120_000, account);
  clearInterval(looking);
  look();
  const [most] = [...spent].toSorted(([, a], [, b]) => b - a);
  if (!most || most[1] < BUSY_TICKS) {
    throw new Error(`no process was busy: ${JSON.stringify([...spent])}`);
  }
  return most[0];
}

/**
 * True if an account has the same process after its documents as before. They are printed again if not: on a busy machine
 * Chrome may be late to confirm that a tab is empty, which closes it.
 */
async function keepsProcess(account: string, documents: () => Promise<void>): Promise<boolean> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const before = await processOf(account);
    await documents();
    if ((await processOf(account)) === before) return true;
  }
  return false;
}

const LEAVE = `<p>left</p><script>
  window.global = 1; window.name = 'named'; Array.prototype.tainted = 1;
  document.cookie = 'a=1'; document.cookie = 'b=1; domain=' + location.hostname.replace(/^[^.]*\\./, '');
  localStorage.a = sessionStorage.a = 1;
  indexedDB.open('left', 1);
  history.pushState(1, ''); history.pushState(2, '');
  setInterval(() => { document.body.textContent = 'overwritten'; }, 5);
  const chatter = new BroadcastChannel('x'); setInterval(() => chatter.postMessage('left'), 5);
  navigator.locks?.request('l', () => new Promise(() => {}));
  requestAnimationFrame(function again() { requestAnimationFrame(again); });
</script>`;

const LOOK = `<p id=p>?</p><script>
  const seen = [];
  const look = (name, value) => { if (value) seen.push(name); };
  look('global', 'global' in window); look('name', window.name); look('prototype', [].tainted);
  look('cookie', document.cookie); look('local', localStorage.length);
  look('session', sessionStorage.length); look('history', history.length > 2 || history.state);
  look('referrer', document.referrer); look('opener', window.opener); look('frames', frames.length);
  look('caches', 'caches' in window); look('workers', 'serviceWorker' in navigator);
  new BroadcastChannel('x').onmessage = () => look('broadcast', true);
  onstorage = () => look('storage event', true);
  (async () => {
    look('databases', (await indexedDB.databases()).length);
    look('locks', (await navigator.locks?.query())?.held.length);
    await new Promise((resolve) => setTimeout(resolve, 60));
    p.textContent = 'saw ' + (seen.join() || 'nothing') + ' at ' + location.host;
    p.id = 'done';
  })();
</script>`;

const look = { html: LOOK, wait_for: { selector: '#done' } };

void test('a document sees nothing of the one before it in the same process', async (t) => {
  const account = accountId(1);
  const first = await renderer.pdf(look, {}, account);
  t.match(first.text, /saw nothing/);
  const isSame = await keepsProcess(account, async () => {
    const hosts = new Set([first.text]);
    for (const between of [LEAVE, '<p>plain</p>', LEAVE]) {
      await renderer.pdf({ html: between }, {}, account);
      const { text } = await renderer.pdf(look, {}, account);
      t.match(text, /saw nothing/);
      hosts.add(text);
    }
    t.equal(hosts.size, 4, 'each on a host of its own');
  });
  t.ok(isSame, 'in the same process');
  await renderer.pdf({ html: LEAVE }, {}, account);
  t.match((await renderer.pdf({ html: '<p>plain</p>' }, {}, account)).text, /^plain$/);
});

void test('documents of two accounts have no process in common', async (t) => {
  const isOwn = await keepsProcess(accountId(2), async () => {
    const processes = new Set<string>();
    for (const account of [accountId(1), accountId(2), accountId(3)]) {
      await renderer.pdf({ html: LEAVE }, {}, account);
      t.match((await renderer.pdf(look, {}, account)).text, /saw nothing/);
      processes.add(await processOf(account));
    }
    t.equal(processes.size, 3);
  });
  t.ok(isOwn, 'each keeps its own');
});

/** A page with files that tell what they find. */
const withFiles = (text: string) => ({
  html: '<p id=p>x</p><link rel=stylesheet href=a.css><script src=b.js></script><img src=lacking.png>',
  files: {
    'a.css': Buffer.from(`p::after { content: '${text} style' }`).toString('base64'),
    'b.js': Buffer.from(
      `p.textContent = '${text} script ' + (window.name + document.cookie || 'alone');
      window.name = document.cookie = 'a=${text}'`,
    ).toString('base64'),
  },
});

void test("a page's own files leave nothing that ends its process", async (t) => {
  const account = accountId(4);
  const isSame = await keepsProcess(account, async () => {
    for (const text of ['one', 'another']) {
      const pdf = await renderer.pdf(withFiles(text), {}, account);
      t.match(pdf.text, new RegExp(`^${text} script alone ?${text} style`));
    }
  });
  t.ok(isSame);
});

void test('a tab is not used again after what may outlive its document', async (t) => {
  const doubtful = {
    'a dialog': { html: '<p>x</p><script>alert(1)</script>' },
    'a worker': {
      html: '<p>x</p><script>new Worker("data:text/javascript,setInterval(()=>{},9)")</script>',
    },
    'something fetched': { html: '<p>x</p><img src="http://no-such-name.invalid/">' },
    'a shared worker': {
      html: '<p>x</p><script>new SharedWorker("data:text/javascript,setInterval(()=>{},9)")</script>',
    },
    'a failure': { html: '<p>x</p>', wait_for: { selector: ':::' } },
    'a loop after it was printed': {
      html: '<p>x</p><script>onafterprint = () => setTimeout(() => { for (;;); })</script>',
    },
  };
  for (const [index, [name, request]] of Object.entries(doubtful).entries()) {
    const account = accountId(10 + index);
    const before = await processOf(account);
    await renderer.render(request, {}, undefined, account);
    t.not(await processOf(account), before, name);
  }
});

void test('scripts that are off stay off for their document alone', async (t) => {
  const account = accountId(30);
  const html = '<p id=p>off</p><script>p.textContent = "on"</script>';
  t.match((await renderer.pdf({ html }, {}, account)).text, /^on$/);
  t.match((await renderer.pdf({ html }, { javascript: false }, account)).text, /^off$/);
  t.match((await renderer.pdf({ html }, {}, account)).text, /^on$/);
});

/** A PDF but for the moment of its making. */
async function content(html: string, options: Partial<PrintOptions>, account: string) {
  const result = await renderer.render({ html }, options, undefined, account);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  const text = await readFile(result.path, 'latin1');
  return text.replace(/\/(Creation|Mod)Date \(D:[^)]*\)/g, '');
}

const PLAIN = `<!doctype html><html lang="en"><head><title>Second</title><style>
  p:target, p:hover { color: #ff0000 } a:visited { color: #00ff00 } p { color: var(--left, #0000ff) }
  ol { counter-reset: none } li { counter-increment: left } li::after { content: counter(left) }
  </style></head><body><h1>One</h1><p id="there">text 1 &#x6f22;</p><a href="#there">there</a>
  <a href="https://example.com/a">seen</a><ol><li>a<li>b</ol><details><summary>s</summary>more</details>
  <svg width="50" height="20"><rect width="50" height="20" fill="url(#left)"/></svg>
  <h2>Two</h2><p hidden>not shown</p></body></html>`;

// What could stay: the document's mode, title, language and sheets, names, counters, sizes, positions.
const BEFORE: readonly (readonly [html: string, options: Partial<PrintOptions>])[] = [
  [
    '<title>Left</title><style>* { --left: #ff0000; font-size: 40px !important }</style><p>quirks',
    {},
  ],
  [
    '<style media="print">p { color: #ff0000 } @page { size: A5; margin: 9cm }</style><p>red</p>',
    {},
  ],
  ['<p id="there">1</p><a href="#there">x</a><a href="https://example.com/a">seen</a>', {}],
  [
    '<svg><linearGradient id="left"><stop stop-color="#f00"/></linearGradient></svg><h1>left</h1>',
    {},
  ],
  [
    '<meta name="viewport" content="width=200, initial-scale=4"><p style="zoom:3">z</p>',
    { scale: 2 },
  ],
  [
    '<html lang="he" dir="rtl" style="writing-mode:vertical-rl"><body style="counter-reset:left 7">',
    {},
  ],
  ['<style>@layer left { p { color: red } } @page :first { margin: 0 }</style><p>a</p>', {}],
  ['<p>screen</p>', { media: 'screen', landscape: true, page_size: 'A3', outline: true }],
  [`<h1>long</h1>${'<p style="break-after:page">x</p>'.repeat(9)}`, { page_ranges: '3-4' }],
  ['<details open><summary>s</summary>x</details><p>&#x6f22;&#x1f600;</p>', { tagged: false }],
];

void test('plain documents that follow each other are printed as if each were the first', async (t) => {
  const account = accountId(31);
  const printings: readonly Partial<PrintOptions>[] = [
    {},
    { outline: true },
    { tagged: false, media: 'screen' },
  ];
  for (const options of printings) {
    const fresh = await content(PLAIN, options, accountId(32));
    const other = await content(PLAIN.replace('text 1', 'text 2'), {}, accountId(33));
    t.not(other, fresh, 'another document is another PDF');
    for (const [html, before] of BEFORE) {
      await renderer.pdf({ html }, before, account);
      t.ok((await content(PLAIN, options, account)) === fresh, html.slice(0, 60));
    }
  }
  const untitled = await renderer.pdf({ html: '<p>no title</p>' }, {}, account);
  t.not(untitled.info['Title'], 'Second');
});

// Each pair: what the first one leaves would be seen in the second.
const PAIRS: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'a layout mode': [
    '<div style="width:100;height:40;color:ff0000;border:1px solid">x</div>',
    '<!doctype html><div style="width:100;height:40;color:ff0000;border:1px solid">x</div>',
  ],
  'no layout mode': [
    '<!doctype html><div style="width:100;height:40;color:ff0000;border:1px solid">x</div>',
    '<div style="width:100;height:40;color:ff0000;border:1px solid">x</div>',
  ],
  'a colour of links': [
    '<body link="red"><p><a href="https://example.com/">a</a>',
    '<p><a href="https://example.com/">a</a>',
  ],
  'no colour of links': [
    '<p><a href="https://example.com/">a</a>',
    '<body link="red"><p><a href="https://example.com/">a</a>',
  ],
  'the size of the window': [
    '<p>x<script>resizeTo(320,240)</script>',
    '<p id=p><script>p.textContent=innerWidth+"x"+innerHeight</script>',
  ],
  'a frame that was drawn': [
    '<p>text<script>1</script>',
    `<body background="${png(8, 8, [200, 0, 55])}" bgcolor="#eee"><p>text<script>1</script>`,
  ],
  'a Japanese font': [
    '<!doctype html><html lang=ja><p>直骨角 漢字</p>',
    '<!doctype html><html lang=ko><p>直骨角 漢字</p>',
  ],
};

const WITH_BACKGROUNDS = { print_background: true };

void test('a document is printed as if it were the first, whatever came before it', async (t) => {
  for (const [index, [what, [before, after]]] of Object.entries(PAIRS).entries()) {
    const account = accountId(40 + index);
    // The tab of an account that comes once is not kept.
    await content('<p>first</p>', {}, account);
    await content(before, {}, account);
    const printed = await renderer.bytes({ html: after }, WITH_BACKGROUNDS, account);
    const first = await renderer.bytes({ html: after }, WITH_BACKGROUNDS, accountId(60 + index));
    t.equal(await visibleDifference(printed, first), undefined, what);
  }
});

void test('a byte order mark is not text of the document', async (t) => {
  const html = '<!doctype html><div style="width:100;border:1px solid">x</div>';
  const marked = await content(`\uFEFF${html}`, {}, accountId(80));
  t.ok(marked === (await content(html, {}, accountId(81))));
});
