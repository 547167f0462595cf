/** Everything that a page draws after it has loaded is on paper: its clock runs ahead. Real Chrome, real servers. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { visibleDifference } from '../support/same-pdf.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());

/** The answers of the server, by path, and after how many milliseconds. */
const ANSWERS: Readonly<Record<string, readonly [type: string, body: string, ms: number]>> = {
  '/data': ['application/json', '["fetched"]', 300],
  '/module.mjs': ['text/javascript', 'export const text = "imported"', 300],
  '/list': ['application/json', '["/dot.svg"]', 50],
  '/dot.svg': [
    'image/svg+xml',
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20" fill="#d01020"/></svg>',
    200,
  ],
  '/slow': ['text/plain', 'slow', 2_700],
  '/late.svg': ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg"/>', 1_000],
  '/frame': [
    'text/html',
    '<p id=p>-</p><script>setTimeout(() => { p.textContent = "frame drawn" }, 900)</script>',
    0,
  ],
  '/endless': [
    'text/html',
    '<p>frame</p><script>setTimeout(() => { for (;;); }, 1000)</script>',
    0,
  ],
  '/page': [
    'text/html',
    '<p id=p>-</p><script>setTimeout(() => fetch("/data").then((r) => r.json()).then(([t]) => setTimeout(() => { p.textContent = t }, 900)), 900)</script>',
    0,
  ],
};
/** Pages that `served` made, by path. */
const sent = new Map<string, string>();
const server = createServer((request, response) => {
  const page = sent.get(request.url ?? '');
  const [type, body, ms] =
    page === undefined ? (ANSWERS[request.url ?? ''] ?? []) : (['text/html', page, 0] as const);
  // Anything else is never answered.
  if (type === undefined) return;
  setTimeout(() => {
    const headers = { 'Content-Type': type, 'Access-Control-Allow-Origin': '*' };
    response.writeHead(200, headers).end(body);
  }, ms);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;
const origin = `http://127.0.0.1:${port}`;
tap.teardown(() => {
  server.closeAllConnections();
  server.close();
});

/** The URL of a page that the server sends. */
const served = (html: string): string => {
  const path = `/page-${sent.size}`;
  sent.set(path, html);
  return `${origin}${path}`;
};
const rendered = async (request: Parameters<typeof renderer.render>[0]) => {
  const result = await renderer.render(request);
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  return result;
};

const script = (code: string): string =>
  `<!doctype html><body><p id=p>-</p><script>${code}</script>`;
const textOf = async (html: string, budget_ms?: number): Promise<string> => {
  const wait_for = budget_ms === undefined ? {} : { wait_for: { budget_ms } };
  return (await renderer.pdf({ html, ...wait_for })).text;
};
const completed = async (html: string, budget_ms?: number) =>
  await rendered({ html, ...(budget_ms === undefined ? {} : { wait_for: { budget_ms } }) });

const capped = async (html: string, budget?: number) =>
  (await completed(html, budget)).page.waits.filter((each) => each.capped).map((each) => each.for);

const LATER: Readonly<Record<string, string>> = {
  'a timer': 'setTimeout(() => { p.textContent = "done" }, 900)',
  'a timer with values': 'setTimeout((a, b) => { p.textContent = a + b }, 500, "do", "ne")',
  'timers in a row':
    'let n = 0; (function f() { n += 1; if (n < 20) setTimeout(f, 100); else p.textContent = "done" })()',
  'an interval that ends':
    'let n = 0; const i = setInterval(() => { n += 1; if (n === 9) { clearInterval(i); p.textContent = "done" } }, 300)',
  'frames that a library cancels by its own list':
    'const own = new Map(); const { requestAnimationFrame: ask, cancelAnimationFrame: cancel } = window; window.requestAnimationFrame = (run) => { const id = ask((t) => { if (own.delete(id)) run(t) }); own.set(id, run); return id }; window.cancelAnimationFrame = (id) => { own.delete(id); cancel(id) }; let n = 0; (function f() { n += 1; if (n < 50) requestAnimationFrame(f); else p.textContent = "done" })()',
  'timers and frames beside a library that replaces methods':
    'Array.prototype.reduce = function () { return this[0] }; Array.from = () => []; Map.prototype.values = null; Object.prototype.toJSON = () => ({}); let n = 0; setTimeout(function f() { n += 1; if (n < 50) requestAnimationFrame(f); else p.textContent = "done" }, 900)',
  'frames by time':
    'const t0 = performance.now(); requestAnimationFrame(function f() { if (performance.now() - t0 < 1500) requestAnimationFrame(f); else p.textContent = "done" })',
  'frames by their own time':
    'let t0; requestAnimationFrame(function f(t) { t0 ??= t; if (t - t0 < 1500) requestAnimationFrame(f); else p.textContent = "done" })',
  'frames by the date':
    'const t0 = Date.now(); requestAnimationFrame(function f() { if (new Date() - t0 < 1500) requestAnimationFrame(f); else p.textContent = "done" })',
  'frames that are counted':
    'let n = 0; requestAnimationFrame(function f() { n += 1; if (n < 300) requestAnimationFrame(f); else p.textContent = "done" })',
  'an idle moment': 'requestIdleCallback(() => { p.textContent = "done" })',
  'promises and timers':
    '(async () => { for (let n = 0; n < 5; n += 1) await new Promise((r) => setTimeout(r, 400)); p.textContent = "done" })()',
  'the end of an animation':
    'p.animate([{ opacity: 0 }, { opacity: 1 }], 2000).onfinish = () => { p.textContent = "done" }',
  'the end of a transition':
    'p.style.transition = "opacity 1s"; p.ontransitionend = () => { p.textContent = "done" }; p.offsetTop; p.style.opacity = 0.5',
  'a fade in steps':
    'p.style.opacity = 0; const i = setInterval(() => { p.style.opacity = +p.style.opacity + 0.1; if (p.style.opacity >= 1) { clearInterval(i); p.textContent = "done" } }, 50)',
  'a worker':
    'const w = new Worker(URL.createObjectURL(new Blob(["setTimeout(() => postMessage(0), 20)"]))); w.onmessage = () => { setTimeout(() => { p.textContent = "done" }, 300) }; setTimeout(() => {}, 4000)',
  'a worker that computes for a while':
    'const w = new Worker(URL.createObjectURL(new Blob(["onmessage = () => { const t = Date.now(); while (Date.now() - t < 200); postMessage(0) }"]))); w.onmessage = () => { p.textContent = "done" }; w.postMessage(0)',
  'an element far down a long page':
    'p.insertAdjacentHTML("beforebegin", "<div style=height:60000px>"); new IntersectionObserver(([e]) => { if (e.isIntersecting) p.textContent = "done" }).observe(p)',
  'messages of a framework to itself':
    'const c = new MessageChannel(); let n = 0; c.port1.onmessage = () => { const t = Date.now(); while (Date.now() - t < 5); n += 1; if (n < 20) c.port2.postMessage(0); else p.textContent = "done" }; setTimeout(() => c.port2.postMessage(0), 300)',
  'a frame of the page':
    'const f = document.createElement("iframe"); f.srcdoc = "<p id=p>-</p><script>setTimeout(() => { p.textContent = \\"done\\" }, 1000)<" + "/script>"; p.replaceWith(f)',
  'an element that comes into view':
    'p.insertAdjacentHTML("beforebegin", "<div style=height:3000px>"); new IntersectionObserver(([e]) => { if (e.isIntersecting) setTimeout(() => { p.textContent = "done" }, 700) }).observe(p)',
  'a loader that listens to scrolling and sizes':
    'p.insertAdjacentHTML("beforebegin", "<div style=height:3000px>"); const show = () => { if (p.getBoundingClientRect().top < innerHeight) p.textContent = "done" }; addEventListener("scroll", show); addEventListener("resize", show)',
  'handlers of scrolling and sizes':
    'p.insertAdjacentHTML("beforebegin", "<div style=height:3000px>"); document.onscroll = onresize = () => { if (p.getBoundingClientRect().top < innerHeight) p.textContent = "done" }',
  'a change of size':
    'new ResizeObserver(() => requestAnimationFrame(() => setTimeout(() => { p.textContent = "done" }, 500))).observe(p)',
  'a document that was opened anew':
    'onload = () => { document.open(); document.write("<p id=q>-</p>"); document.close(); setTimeout(() => { q.textContent = "done" }, 900) }',
};

for (const [name, code] of Object.entries(LATER)) {
  void test(`drawn later, by ${name}`, async (t) => {
    t.match(await textOf(script(code)), /done/);
    t.equal((await completed(script(code))).page.console_errors.length, 0);
  });
}

/** Work that Chrome does for pages of secure origins only. */
const SECURE: Readonly<Record<string, string>> = {
  'hashes and keys':
    "const data = new Uint8Array(1e6); await crypto.subtle.digest('SHA-512', data); await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])",
  'a cache':
    "const cache = await caches.open('a'); await cache.put('/' + n, new Response('b')); await (await cache.match('/' + n)).text()",
  'files of the page':
    "const file = await (await navigator.storage.getDirectory()).getFileHandle('a' + n, { create: true }); const writable = await file.createWritable(); await writable.write('b'); await writable.close()",
};
for (const [name, work] of Object.entries(SECURE)) {
  void test(`work in a row that Chrome does off the page's thread is waited for: ${name}`, async (t) => {
    const code = `(async () => { for (let n = 0; n < 16; n += 1) { p.textContent = n; ${work} } p.textContent = "done" })()`;
    t.match((await renderer.pdf({ url: served(script(code)) })).text, /^done/);
  });
}

void test('work that does not end takes no more than seconds, and timers run beside it', async (t) => {
  const html = script(
    'new ReadableStream().getReader().read(); setTimeout(() => { p.textContent = "done" }, 900)',
  );
  t.match(await textOf(html), /done/);
  t.same(await capped(html), ['drawing']);
});

void test('work that fails is reported unless the page catches the error', async (t) => {
  const failing = 'createImageBitmap(new Blob(["a"]))';
  const reported = await completed(script(failing));
  t.equal(reported.page.console_errors.length, 1);
  const caught = await completed(script(`${failing}.catch(() => {})`));
  t.equal(caught.page.console_errors.length, 0);
});

void test('what the page fetches is waited for, and what it does with it', async (t) => {
  const fetched = `fetch("${origin}/data").then((r) => r.json()).then(([t]) => setTimeout(() => { p.textContent = t }, 200))`;
  t.match(await textOf(script(fetched)), /fetched/);
  t.match(await textOf(script(`setTimeout(() => { ${fetched} }, 1000)`)), /fetched/);
  const imported = `<p id=p>-</p><script type=module>const { text } = await import("${origin}/module.mjs"); p.textContent = text</script>`;
  t.match(await textOf(imported), /imported/);
  const list = `fetch("${origin}/list").then((r) => r.json()).then(([src]) => { const i = new Image(); i.src = "${origin}" + src; document.body.append(i) })`;
  const { pages } = await renderer.pdf({ html: script(list) });
  t.ok(pages[0]?.fills.has('#d01020'), 'an image that a fetched list names');
  t.match((await renderer.pdf({ url: `${origin}/page` })).text, /fetched/);
  const patient = `const c = new AbortController(); setTimeout(() => c.abort(), 1000); fetch("${origin}/list", { signal: c.signal }).then(() => { p.textContent = "in time" }, () => { p.textContent = "too late" })`;
  t.match(await textOf(script(patient)), /in time/, "the page's own time limit does not run ahead");
});

void test('what comes after slow answers is drawn', async (t) => {
  const ask = `fetch("${origin}/slow")`;
  const slow = `${ask}.then(() => setTimeout(() => ${ask}.then(() => setTimeout(() => { p.textContent = "done" }, 900)), 900))`;
  t.match(await textOf(script(slow)), /^done/);
});

void test("a page's own time limit for an answer leaves the answer its time", async (t) => {
  const load = `setTimeout(async () => {
    const limit = new AbortController();
    setTimeout(() => limit.abort(), 600);
    try {
      p.textContent = await (await fetch('data.txt', { signal: limit.signal })).text();
    } catch {
      p.textContent = 'gave up';
    }
  }, 100)`;
  const html = '<p id=p>waiting</p><script src=app.js></script>';
  const files = { 'app.js': btoa(load), 'data.txt': btoa('answered') };
  t.match((await renderer.pdf({ html, files })).text, /^answered/);
});

void test('frames of the same and of another site run ahead as well', async (t) => {
  const other = `http://localhost:${port}/frame`;
  t.match(await textOf(`<iframe src="${origin}/frame"></iframe>`), /frame drawn/);
  t.match(await textOf(`<iframe src="${other}"></iframe><p>x</p>`), /frame drawn/);
});

void test('one document after another has a clock of its own that begins with it', async (t) => {
  const clock = script(
    'const drift = Date.now() - performance.timeOrigin - performance.now(); p.textContent = Math.abs(drift) < 50 ? "agree" : "drift " + drift; setTimeout(() => { p.append(Date.now() - performance.timeOrigin - performance.now() - drift < 50 ? " still" : " no more") }, 900)',
  );
  for (let each = 0; each < 3; each += 1) t.match(await textOf(clock), /agree still/);
  const date = script(
    'class D extends Date {}; p.textContent = [new D() instanceof Date, new D(0).getTime(), typeof Date(), Date.UTC(1970, 0, 1), new Date().constructor === Date, Date.length].join()',
  );
  t.match(await textOf(date), /true,0,string,0,true,7/);
  const today = script('setTimeout(() => { p.textContent = new Date().toISOString() }, 900)');
  const [shown = ''] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(await textOf(today)) ?? [];
  t.ok(Math.abs(Date.parse(shown) - Date.now()) < 60_000, shown);
});

void test('what a page takes back does not come', async (t) => {
  const code = `const no = () => { p.textContent = "came" };
    clearTimeout(setTimeout(no, 100)); clearInterval(setInterval(no, 100)); clearTimeout(setInterval(no, 100));
    cancelAnimationFrame(requestAnimationFrame(no)); cancelIdleCallback(requestIdleCallback(no));
    const a = requestAnimationFrame(() => cancelAnimationFrame(b)), b = requestAnimationFrame(no)`;
  t.match(await textOf(script(code)), /^-$/);
});

void test('a busy wait ends, and an error in a timer is told', async (t) => {
  const busy =
    'setTimeout(() => { const t0 = Date.now(); while (Date.now() - t0 < 50); p.textContent = "done" }, 1000)';
  t.match(await textOf(script(busy)), /done/);
  const { page } = await completed(script('setTimeout(() => { throw new Error("boom") }, 1000)'));
  t.match(page.console_errors[0]?.text, /boom/);
});

const drawnLate = (start: string): string =>
  script(`${start}; let n = 0; requestAnimationFrame(function f() { n += 1; if (n < 20) requestAnimationFrame(f); else p.textContent = "done" });
 setTimeout(() => { p.after(" late " + (Math.abs(new Date() - Date.now()) < 500)) }, 900)`);

void test('a library that replaces functions keeps its timers and frames', async (t) => {
  const replaced: Readonly<Record<string, string>> = {
    'a date made by another': 'Date.now = () => new Date().getTime()',
    'a frame that is forgotten once it is taken back': `{ const ask = requestAnimationFrame, cancel = cancelAnimationFrame, known = new Set();
        window.requestAnimationFrame = (f) => { const id = ask((time) => { if (known.delete(id)) f(time) }); known.add(id); return id };
        window.cancelAnimationFrame = (id) => { known.delete(id); cancel(id) } }`,
    'methods of arrays': 'Array.from = (one) => [one]; Array.prototype.reduce = () => []',
  };
  for (const [name, code] of Object.entries(replaced)) {
    t.match(await textOf(drawnLate(code)), /done\s+late true/, name);
    t.equal((await completed(drawnLate(code))).page.console_errors.length, 0, name);
  }
});

void test('a page moves on early, and not late', async (t) => {
  const to = (ms: number): string =>
    script(`setTimeout(() => { location = "${origin}/frame" }, ${ms})`);
  t.match(await textOf(to(100)), /frame drawn/);
  t.match(await textOf(to(3000)), /^-$/);
  t.match(await textOf(script('setTimeout(() => location.reload(), 3000)')), /^-$/);
});

void test('the client sets the budget, and what was unfinished is told', async (t) => {
  const late = script('setTimeout(() => { p.textContent = "done" }, 20_000)');
  t.match(await textOf(late), /^-$/);
  t.match(await textOf(late, 28_000), /^-$/, 'a timer that is set for long is not waited for');
  t.match(await textOf(script('setTimeout(() => { p.textContent = "done" }, 900)'), 0), /^-$/);
  t.same(await capped(late), ['timers']);
  const chained = script(
    'let n = 0; (function f() { n += 1; p.textContent = n; if (n < 10) setTimeout(f, 900) })()',
  );
  t.match(await textOf(chained), /^[56]$/);
  t.match(await textOf(chained, 10_000), /^10$/);
  t.same(await capped(script('(function f() { requestAnimationFrame(f) })()'), 500), ['drawing']);
  t.same(await capped(script('setInterval(() => {}, 10)'), 500), [], 'an interval is no work');
  t.same(await capped(script('setTimeout(() => {}, 900_000)')), [], 'the end of a session');
  const failing = { html: late, fail_on: ['timeout' as const] };
  t.match(await renderer.render(failing), {
    code: 'incomplete',
    message: /A timer of the page had not run out/,
  });
});

void test('showing all of a page leaves no traces of scrolling', async (t) => {
  const html = `<!doctype html><p id=p>unscrolled</p><div style="height:4000px"></div><p id=q>hidden</p><p id=s></p><script>
    onscroll = () => { if (scrollY > 0) p.textContent = 'scrolled' };
    new IntersectionObserver(([e]) => { if (e.isIntersecting) q.textContent = 'revealed' }).observe(q);
    const size = innerWidth + 'x' + innerHeight;
    setTimeout(() => { s.append(size === innerWidth + 'x' + innerHeight ? 'same' : 'other') }, 500)</script>`;
  const { text } = await renderer.pdf({ html });
  t.match(text, /unscrolled/);
  t.match(text, /revealed\s*same/);
});

void test('a listener for the print medium hears of printing', async (t) => {
  const html = script(
    'matchMedia("print").addEventListener("change", (e) => { p.textContent = "print " + e.matches })',
  );
  t.match(await textOf(html), /print true/);
  t.match(await textOf(html), /print true/, 'also after another one');
});

const LIKE_LOADED: Readonly<Record<string, string>> = {
  'events and states of loading':
    'const told = [document.readyState]; for (const on of ["readystatechange", "DOMContentLoaded"]) document.addEventListener(on, () => told.push(on, document.readyState)); onload = () => { told.push("load"); setTimeout(() => { p.textContent = told.join() }) }',
  'its own markup':
    'p.textContent = document.documentElement.outerHTML.replace(/<s[^]*/, "") + document.compatMode',
  'a picture that it drew':
    'const c = document.body.appendChild(document.createElement("canvas")); const g = c.getContext("2d"); let n = 0; (function f() { g.fillRect(n * 9, 0, 6, 90); if ((n += 1) < 20) requestAnimationFrame(f) })()',
  'sizes and styles':
    'document.body.style.color = "red"; p.textContent = [innerWidth, innerHeight, devicePixelRatio, p.offsetWidth, getComputedStyle(p).fontSize, matchMedia("print").matches].join()',
  'a transition':
    'p.textContent = "text"; p.style.transition = "margin 2s"; p.offsetWidth; p.style.marginLeft = "90px"',
  'an error': 'p.textContent = "before"; missing()',
  // On a line of its own: the errors tell their columns.
  'an error that it logs': '\nconsole.error(new Error("own"))',
};
for (const [name, code] of Object.entries(LIKE_LOADED)) {
  void test(`HTML is printed as the page of a server is: ${name}`, async (t) => {
    for (const doctype of ['<!doctype html>', '']) {
      const html = `${doctype}<title>t</title><p id=p>-</p><script>${code}</script>`;
      const results = await Promise.all([{ html }, { url: served(html) }].map(rendered));
      const files = await Promise.all(results.map(async ({ path }) => await readFile(path)));
      t.equal(await visibleDifference(...(files as [Buffer, Buffer])), undefined);
      const [own, web] = results.map(({ page }) =>
        page.console_errors.map(({ text }) =>
          text.replace(/at http:[^:]*:\d+\/[^:]*/, 'at document'),
        ),
      );
      t.same(own, web);
    }
  });
}

const ENDLESS: Readonly<Record<string, string>> = {
  'at once': 'p.textContent = "before"; for (;;);',
  'in two scripts': 'p.textContent = "before"; for (;;);</script><script>for (;;);',
  'of a timer': 'setTimeout(() => { for (;;); }, 50)',
  'of a frame': `document.body.innerHTML = '<iframe src="http://localhost:${port}/endless">'`,
  'once it has loaded': 'p.textContent = "before"; onload = () => { for (;;); }',
  'of promises': 'p.textContent = "before"; (async () => { for (;;) await null; })()',
};
for (const [name, code] of Object.entries(ENDLESS)) {
  void test(`a script that never ends fails at the time limit: ${name}`, async (t) => {
    const result = await renderer.render({ html: script(code) }, {}, 4_000);
    t.match(result, { kind: 'failed', code: 'timeout', message: /A script that never ends/ });
    t.match(await textOf('<p>next</p>'), /next/, 'the renderer goes on');
  });
}

void test('a script of a page with files may ask for one of them by an attribute that it copies', async (t) => {
  const html =
    '<p id=p data-src=own.svg><script>const [, given] = p.attributes; const copy = document.createAttribute(given.name.slice(5)); copy.value = given.value; const i = document.createElement("img"); i.attributes.setNamedItem(copy); p.append(i)</script>';
  const own =
    '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20" fill="#d01020"/></svg>';
  const files = { 'own.svg': Buffer.from(own).toString('base64') };
  t.ok((await renderer.pdf({ html, files })).pages[0]?.fills.has('#d01020'));
});

/** A loader as its library registers it, in a file. */
const LOADERS: Readonly<Record<string, string>> = {
  'sizes of the window': 'addEventListener("resize", show)',
  'scrolling of an element':
    'document.body.firstChild.addEventListener("scroll", show); onresize = show',
  'scrolling as its root hears it':
    'document.documentElement.addEventListener("scroll", show, true); addEventListener("resize", show)',
};
for (const [name, code] of Object.entries(LOADERS)) {
  void test(`a loader in a file shows what is far down: ${name}`, async (t) => {
    const loader = `const show = () => { if (p.getBoundingClientRect().top < innerHeight) p.textContent = 'shown' }; ${code}`;
    const files = { 'loader.js': Buffer.from(loader).toString('base64') };
    const html =
      '<!doctype html><body><div style="height:3000px"></div><p id=p>-</p><script src=loader.js></script>';
    t.match((await renderer.pdf({ html, files })).text, /shown/);
  });
}

void test('the time of a page begins with its document, not with the window that waited for it', async (t) => {
  const code = 'p.textContent = [performance.now(), new Date().getFullYear()].join()';
  // The window of an account that comes for the first time has waited since the tests began.
  const { text } = await renderer.pdf({ html: script(code) }, {}, accountId(99));
  const [now, year] = text.split(',').map(Number);
  t.ok(Number(now) < 15_000, `${now} ms`);
  t.equal(year, new Date().getFullYear());
});

void test('a page without a root, or whose form covers a property, is not waited for', async (t) => {
  t.same(await capped(script('document.documentElement.remove()')), []);
  const covered = '<form id=f tabindex=0><input name=style></form><script>f.focus()</script>';
  t.same(await capped(covered), []);
});

void test('what blinks rests while the page waits for what comes late', async (t) => {
  const every = [150, 210, 270, 330, 390, 450];
  const html = `${every.map((ms) => `<p id=w${ms}>word${ms}</p>`).join('')}<div style="height: 2000px"></div>
    <img loading=lazy src="${origin}/late.svg"><script>for (const ms of [${every.join()}]) setInterval(() => {
      const { style } = document.getElementById('w' + ms);
      style.visibility = style.visibility === 'hidden' ? 'visible' : 'hidden'; }, ms);</script>`;
  const { text } = await renderer.pdf({ html });
  for (const ms of every) t.match(text, `word${ms}`);
});
