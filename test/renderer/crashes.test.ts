/** A Chrome that ends or stands still under a job, and what becomes of the job. */
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'tap';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { descendants, type ProcessRecord, standsStill } from '../support/processes.ts';
import { installedChrome, startTestRenderer } from '../support/renderer.ts';
import { isAlive, startNode } from '../support/renderer-node.ts';

void test('a Chrome that dies under a job gives the job another try, at most three', async (t) => {
  const { offer, ended, chromes, reports } = await startNode(t, { allowPrivateNetwork: true });
  let kills = 0;
  // The page asks for this when its Chrome is in the middle of it.
  const server = createServer(() => {
    kills += 1;
    void chromes().then(([chrome]) => chrome && process.kill(-chrome.pid, 'SIGKILL'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const id = await offer({ html: `<img src="http://127.0.0.1:${port}/">` });
  t.match(await ended(id), { kind: 'failed', code: 'page_crashed', attempt: 3 });
  t.equal(kills, 3);
  t.equal(reports.filter((each) => each.kind === 'started').length, 3);
  t.match(await ended(await offer({ html: '<p>next</p>' })), { kind: 'completed' });
});

void test('the time of a document does not run while its Chrome starts', async (t) => {
  const chromePath = join(testDirectory(t), 'slow-chrome');
  const startSeconds = 6;
  const script = `#!/bin/sh\nsleep ${startSeconds}\nexec '${await installedChrome()}' "$@"\n`;
  await writeFile(chromePath, script, { mode: 0o755 });
  const renderer = await startTestRenderer({ chromePath });
  t.teardown(() => renderer.close());
  const [chrome = 0] = renderer.pool.chromes().running;
  process.kill(-chrome, 'SIGKILL');
  await eventually('its end', () => renderer.pool.chromes().running.length === 0 || undefined);
  const limitMs = 5_000;
  t.match(await renderer.render({ html: '<p>x</p>' }, {}, limitMs), { kind: 'completed' });
});

void test('where a process of Chrome that tabs share ends under a document, the document is tried again', async (t) => {
  const renderer = await startTestRenderer({ allowPrivateNetwork: true });
  t.teardown(() => renderer.close());
  const end = (what: string): void => {
    const [chrome = 0] = renderer.pool.chromes().running;
    const ending = descendants(chrome).filter(({ commandLine }) => commandLine.includes(what));
    for (const { pid } of ending) process.kill(pid, 'SIGKILL');
  };
  const server = createServer((request, response) => {
    if (request.url === '/network') return end('NetworkService');
    if (request.url === '/canvases') end('--type=gpu-process');
    response.end('<p>from the network</p>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const render = async (request: RequestDocument): Promise<string> =>
    (await renderer.render(request)).kind;
  // A page that aborts a request by itself looks the same.
  const aborts = `<script>const all = new AbortController();
    fetch('${url}', { signal: all.signal }); all.abort()</script>`;
  t.equal(await render({ html: aborts }), 'completed');
  const documents = [
    { url: `${url}network` },
    { html: `<img src="${url}network">` },
    { html: `<link rel="stylesheet" href="${url}network">` },
    { html: `<script>fetch('${url}network').catch(() => {})</script>` },
    { html: `<canvas></canvas><script>fetch('${url}canvases')</script>` },
  ];
  for (const document of documents) {
    const [chrome] = renderer.pool.chromes().running;
    t.equal(await render(document), 'crashed', JSON.stringify(document));
    t.equal(await render({ url }), 'completed');
    t.not(renderer.pool.chromes().running.at(-1), chrome);
  }
});

void test('where the network of Chrome ended before a document, none is printed without it', async (t) => {
  const renderer = await startTestRenderer({ allowPrivateNetwork: true });
  t.teardown(() => renderer.close());
  const server = createServer((_, response) => response.end('<p>from the network</p>'));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await renderer.pdf({ url });
  const [chrome = 0] = renderer.pool.chromes().running;
  const network = (): ProcessRecord | undefined =>
    descendants(chrome).find(({ commandLine }) => commandLine.includes('NetworkService'));
  const { pid } = await eventually('a process for the network', network);
  process.kill(pid, 'SIGKILL');
  await eventually('its end', () => network()?.pid !== pid || undefined);
  const result = await renderer.render({ html: `<iframe src="${url}"></iframe>` });
  // Chrome is a new one by then if a tab was being opened, which notices it.
  if (result.kind === 'completed') t.match(result.page.resources, [{ status: 200 }]);
  else t.equal(result.kind, 'crashed');
  t.match((await renderer.pdf({ url })).text, /from the network/);
  t.not(renderer.pool.chromes().running.at(-1), chrome);
});

void test('a Chrome that stands still is ended, and its job goes to the next one', async (t) => {
  const { offer, ended, chromes, reports } = await startNode(t, { timeoutMs: 3_000 });
  const [frozen] = await chromes();
  if (!frozen) throw new Error('no Chrome');
  process.kill(-frozen.pid, 'SIGSTOP');
  await standsStill(frozen.pid);
  t.match(await ended(await offer({ html: '<p>x</p>' })), { kind: 'completed', attempt: 2 });
  // The pool would have ended a try that takes longer than its time limit with `timeout`, and for good.
  const failed = reports.filter(({ kind }) => kind === 'failed');
  t.match(failed, [{ attempt: 1, retryable: true, code: 'page_crashed' }]);
  const [fresh] = await chromes();
  t.not(fresh?.pid, frozen.pid);
  t.notOk(isAlive(frozen.pid), 'the frozen one was ended');
});

void test('a page that closes its own window fails at once, without another try', async (t) => {
  const timeoutMs = 60_000;
  const { offer, ended } = await startNode(t, { timeoutMs });
  const close = "document.body.getRootNode()['default' + 'View']['clo' + 'se']()";
  for (const code of [close, `setTimeout(() => { ${close} }, 50)`, 'top.close()']) {
    const begun = performance.now();
    const id = await offer({ html: `<p>x</p><script>${code}</script>` });
    const outcome = await ended(id);
    if (outcome.kind === 'completed') continue;
    t.match(outcome, {
      kind: 'failed',
      code: 'page_crashed',
      attempt: 1,
      message: /closed its own/,
    });
    t.ok(performance.now() - begun < timeoutMs / 2);
  }
});

void test('a page that crashes its own tab fails at once, without another try', async (t) => {
  const { offer, ended, chromes, reports } = await startNode(t);
  const [chrome] = await chromes();
  // Their layout takes more than the stack.
  const html = `<body><script>let inner = document.body;
    for (let depth = 0; depth < 200_000; depth++) {
      const outer = inner; inner = document.createElement('div'); outer.append(inner);
    }
    document.body.offsetHeight</script>`;
  t.match(await ended(await offer({ html, header_html: '<b>good</b>' })), {
    kind: 'failed',
    code: 'page_crashed',
    attempt: 1,
    message: /crashed its tab/,
  });
  t.equal(reports.filter((each) => each.kind === 'started').length, 1);
  t.match(await ended(await offer({ html: '<p>next</p>' })), { kind: 'completed', attempt: 1 });
  t.same(await chromes(), [chrome], 'in the same browser');
});

void test('a header or footer that crashes its tab costs one try, a page whose tab is ended three', async (t) => {
  const renderer = await startTestRenderer();
  t.teardown(() => renderer.close());
  const html = '<p>fine</p>';
  const crashing = '<style>@import "http://example.invalid/x.css"</style>';
  for (const each of [{ header_html: crashing }, { footer_html: crashing }]) {
    const result = await renderer.render({ html, ...each }, { page_ranges: '1' });
    t.match(result, { kind: 'failed', code: 'renderer_failed', message: /header or footer/ });
  }
  t.match((await renderer.pdf({ html, header_html: '<b>good</b>' })).text, /fine/);

  // The kernel ends a tab like this where memory runs out, under a header that has nothing to do with it.
  const { offer, ended, chromes } = await startNode(t, { allowPrivateNetwork: true });
  const server = createServer(() => void chromes().then(([chrome]) => endTabs(chrome?.pid)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const page = `<img src="http://127.0.0.1:${port}/">`;
  const id = await offer({ html: page, header_html: '<b>good</b>' });
  t.match(await ended(id), { kind: 'failed', code: 'page_crashed', attempt: 3 });
});

void test('a tab that dies while it holds much memory ran out of it, and is not tried again', async (t) => {
  const maxPageMemoryBytes = 128 * 2 ** 20;
  const { offer, ended, chromes } = await startNode(t, {
    allowPrivateNetwork: true,
    maxPageMemoryBytes,
  });
  const server = createServer(() => void chromes().then(([chrome]) => endTabs(chrome?.pid)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  // Less than the bound, which is 640 MiB, and for longer than Chrome goes unwatched.
  const html = `<script>const held = new Uint8Array(400 * 2 ** 20).fill(1);
    const end = performance.now() + 1000; while (performance.now() < end);
    const request = new XMLHttpRequest(); request.open('GET', 'http://127.0.0.1:${port}/', false);
    request.send(held.at(1))</script>`;
  t.match(await ended(await offer({ html })), {
    kind: 'failed',
    code: 'page_memory',
    message: /ran out of memory/,
    attempt: 1,
  });
});

/** Ends the processes of a Chrome that hold tabs. */
function endTabs(chrome: number | undefined): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (group === chrome && command.includes('--type=renderer')) process.kill(Number(pid), 9);
    } catch {
      // It ended meanwhile.
    }
  }
}

/** A page that draws by a shader of so many steps. */
const shader = (loops: number, then: string): string => `<canvas id="canvas"></canvas><script>
  const gl = canvas.getContext('webgl');
  const program = gl.createProgram();
  const add = (type, source) => {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  };
  add(gl.VERTEX_SHADER, 'attribute vec2 a; void main() { gl_Position = vec4(a, 0., 1.); }');
  add(gl.FRAGMENT_SHADER, \`precision highp float; void main() {
    float sum = 0.;
    for (int i = 0; i < ${loops}; i++) sum += sin(float(i) * gl_FragCoord.x);
    gl_FragColor = vec4(sum);
  }\`);
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 3, -1, -1, 3]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
  ${then}
</script>`;
const READ = 'gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));';

void test('a shader that never ends holds up no canvas but its own', async (t) => {
  const renderer = await startTestRenderer();
  t.teardown(() => renderer.close());
  const render = (loops: number, deadlineMs?: number) =>
    renderer.render({ html: shader(loops, READ) }, {}, deadlineMs);
  t.match(await render(1), { kind: 'completed' }, 'the control');
  t.match(await render(1e8, 5_000), { kind: 'failed', code: 'timeout' });
  t.match(await render(1), { kind: 'completed' });
});

void test('nor does one whose page is printed without its canvas', async (t) => {
  const renderer = await startTestRenderer();
  t.teardown(() => renderer.close());
  const left = shader(1e8, 'gl.flush(); canvas.remove()');
  const html = `<p>x</p>${left}<script>setTimeout(() => document.body.append('later'), 900)</script>`;
  t.match(await renderer.render({ html, wait_for: { delay_ms: 1_000 } }), { kind: 'completed' });
  t.match(await renderer.render({ html: shader(1, READ) }), { kind: 'completed' });
});
