/** Pages that take memory without end: each fails alone, and a neighbour's letters go on. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import { type Test, test } from 'tap';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { Cgroup, findCgroupParent, ownCgroupParent } from '../../src/renderer/browser/cgroup.ts';
import { launchChrome } from '../../src/renderer/browser/launch.ts';
import { ChromeMemory, maxProcessBytes } from '../../src/renderer/browser/memory.ts';
import { reapLeftovers } from '../../src/renderer/browser/processes.ts';
import { Deadline } from '../../src/renderer/chrome/deadline.ts';
import { Tab } from '../../src/renderer/chrome/tab.ts';
import { testDirectory } from '../support/directory.ts';
import { processesOf } from '../support/processes.ts';
import { installedChrome, startTestRenderer } from '../support/renderer.ts';
import { startNode } from '../support/renderer-node.ts';
import { accountId } from '../support/samples.ts';

const MiB = 2 ** 20;
const BUDGET = 128 * MiB;
const LIMIT_MS = 15_000;

const script = (text: string): string => `<body><p>x</p><script>${text}</script>`;
const inWorkers = (text: string): string =>
  script(`const url = URL.createObjectURL(new Blob([${JSON.stringify(text)}]));
    for (let i = 0; i < 8; i++) new Worker(url); setInterval(() => document.body.append('x'), 9)`);

const NO_CGROUP = ownCgroupParent() === undefined && 'no control group can be made here';

/** Pages that reach the limit soon. */
const BOMBS: Readonly<Record<string, string>> = {
  arrays: script(`const a = []; for (;;) a.push(new Array(1e6).fill(Math.random()))`),
  strings: script(
    `const a = []; for (let i = 0; ; i++) a.push(('x' + i).repeat(1e6).toUpperCase())`,
  ),
  'WebAssembly memory': script(`const a = []; for (;;) {
    const memory = new WebAssembly.Memory({ initial: 1000 });
    new Uint8Array(memory.buffer).fill(1); a.push(memory) }`),
  'shared memory': script(`const a = []; for (;;) {
    const memory = new WebAssembly.Memory({ initial: 1000, maximum: 1000, shared: true });
    new Uint8Array(memory.buffer).fill(1); a.push(memory) }`),
  canvases: script(`const more = () => {
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 5000;
    const context = canvas.getContext('2d'); context.fillRect(0, 0, 5000, 5000);
    context.getImageData(0, 0, 1, 1); document.body.append(canvas); setTimeout(more) }; more()`),
};
function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data]);
  const numbers = Buffer.alloc(8);
  numbers.writeUInt32BE(data.length);
  numbers.writeUInt32BE(crc32(content), 4);
  return Buffer.concat([numbers.subarray(0, 4), content, numbers.subarray(4)]);
}

/** A small file that is a very large picture in memory. @param side in pixels */
function blackPng(side: number): string {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side);
  header.writeUInt32BE(side, 4);
  header.set([1, 0], 8);
  const pixels = deflateSync(Buffer.alloc((side / 8 + 1) * side));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ];
  return `data:image/png;base64,${Buffer.concat([signature, ...chunks]).toString('base64')}`;
}

/** Pages that are as hungry, but may end otherwise: by the time limit, or as what Chrome made of them. */
const OTHERS: Readonly<Record<string, string>> = {
  workers: inWorkers('const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))'),
  buffers: script(`const a = []; for (;;) a.push(new Uint8Array(5e7).fill(1))`),
  elements: script('for (;;) document.body.append(document.body.cloneNode(true))'),
  messages: script(`const { port1 } = new MessageChannel();
    setInterval(() => { for (let i = 0; i < 5; i++) port1.postMessage(new Uint8Array(2e7)) })`),
  frames: script(`setInterval(() => { for (let i = 0; i < 20; i++) {
    const frame = document.createElement('iframe'); frame.sandbox = 'allow-scripts';
    frame.srcdoc = '<script>const a = new Uint8Array(2e7).fill(1)</' + 'script>';
    document.body.append(frame) } })`),
  gradients: `<style>p { background: ${'linear-gradient(red, blue), '.repeat(20_000)} red }</style>
    ${'<p>x</p>'.repeat(5_000)}`,
  filters: `<svg width="20000" height="20000"><filter id="f" x="0" y="0" width="1" height="1">
    <feTurbulence baseFrequency=".05" numOctaves="9" /><feGaussianBlur stdDeviation="300" /></filter>
    <rect width="20000" height="20000" filter="url(#f)" /></svg>`,
  pictures: `<img src="${blackPng(16_000)}" style="width: 9cm">`.repeat(3),
  'very many pages': '<p style="break-after: page">x</p>'.repeat(11_000),
  'a very long page': script('document.body.innerHTML = "<div style=height:1e8px>x</div>"'),
};

/** Follows the memory of whatever Chromes are running in a directory. */
function followPeak(t: Test, directory: string) {
  let peak = 0;
  const memories = new Map<number, ChromeMemory>();
  const timer = setInterval(() => {
    for (const { pid, commandLine } of processesOf(directory)) {
      if (commandLine.includes('--type=') || memories.has(pid)) continue;
      memories.set(pid, new ChromeMemory(pid, Number.POSITIVE_INFINITY, () => {}));
    }
    for (const memory of memories.values()) peak = Math.max(peak, memory.used());
  }, 50);
  t.teardown(() => clearInterval(timer));
  return () => peak;
}

void test('a page that takes memory without end fails alone, soon and clearly', async (t) => {
  const renderer = await startTestRenderer({ concurrency: 2, maxPageMemoryBytes: BUDGET });
  const peak = followPeak(t, renderer.directory);
  const neighbour = accountId();
  let letters = 0;
  const beside = async <T>(work: Promise<T>): Promise<T> => {
    const over = new AbortController();
    const ended = work.finally(() => over.abort());
    do {
      const letter = await renderer.render({ html: '<p>letter</p>' }, {}, LIMIT_MS, neighbour);
      if (letter.kind !== 'completed') t.fail(`a letter: ${JSON.stringify(letter)}`);
      letters += 1;
    } while (!over.signal.aborted);
    return await ended;
  };
  for (const [name, html] of Object.entries(BOMBS)) {
    const result = await beside(renderer.render({ html }, {}, LIMIT_MS));
    const message = /^The page used more memory than the 128 MiB that a page may use\./;
    t.match(result, { kind: 'failed', code: 'page_memory', message }, name);
  }
  for (const [name, html] of Object.entries(OTHERS)) {
    const result = await beside(renderer.render({ html }, {}, LIMIT_MS / 4));
    t.not(result.kind, 'crashed', `${name}: ${JSON.stringify(result).slice(0, 200)}`);
  }
  t.ok(letters > Object.keys(BOMBS).length, `${letters} letters were rendered meanwhile`);
  const most = Math.round(peak() / MiB);
  t.ok(most * MiB < maxProcessBytes(BUDGET), `one Chrome took ${most} MiB at most`);
  await renderer.close();
  t.same(processesOf(renderer.directory), [], 'no process is left');
});

void test('a page that used too much memory is not tried again', async (t) => {
  const { offer, ended, reports } = await startNode(t, { maxPageMemoryBytes: BUDGET });
  const request: RequestDocument = { html: BOMBS['arrays'] ?? '' };
  const id = await offer(request);
  t.match(await ended(id), { kind: 'failed', code: 'page_memory', attempt: 1 });
  t.equal(reports.filter((each) => each.kind === 'started').length, 1);
  t.match(await ended(await offer({ html: '<p>next</p>' })), { kind: 'completed' });
});

void test('the kernel bounds a process where no sample comes in time', async (t) => {
  const directory = testDirectory(t);
  const path = await installedChrome();
  const limit = 1024 * MiB;
  const chrome = await launchChrome({ path, directory, maxProcessBytes: limit });
  t.teardown(() => chrome.end());
  const peak = followPeak(t, directory);
  const tab = await Tab.open(chrome.connection);
  tab.begin(new Deadline(LIMIT_MS));
  const writing = tab.send('Page.setDocumentContent', {
    frameId: tab.frameId,
    html: BOMBS['arrays'] ?? '',
  });
  await t.rejects(writing, { name: 'PageFailure', code: 'page_crashed' });
  t.ok(chrome.connection.isOpen, 'the tab alone');
  t.ok(peak() < limit, `Chrome took ${Math.round(peak() / MiB)} MiB at most`);
  const next = await Tab.open(chrome.connection);
  next.begin(new Deadline(LIMIT_MS));
  await next.send('Page.setDocumentContent', { frameId: next.frameId, html: '<p>next</p>' });
});

void test('the kernel bounds a whole Chrome', { skip: NO_CGROUP }, async (t) => {
  const path = await installedChrome();
  const limit = 384 * MiB;
  const options = { path, directory: testDirectory(t), maxChromeBytes: limit };
  const chrome = await launchChrome(options);
  const cgroup = chrome.cgroup?.path ?? '';
  t.teardown(() => chrome.end());
  const members = readFileSync(join(cgroup, 'cgroup.procs'), 'utf8').trim().split('\n');
  const processes = processesOf(chrome.profile).filter(
    (each) => !each.commandLine.includes('sh -c'),
  );
  t.same(
    processes.map(({ pid }) => `${pid}`).filter((pid) => !members.includes(pid)),
    [],
    'every process of it is in the group',
  );
  const memory = new ChromeMemory(
    chrome.pid,
    Number.POSITIVE_INFINITY,
    () => t.fail('a sample decided'),
    chrome.cgroup,
  );
  const tab = await Tab.open(chrome.connection);
  tab.begin(new Deadline(LIMIT_MS));
  memory.watch();
  t.notOk(memory.exceeded);
  const writing = tab.send('Page.setDocumentContent', {
    frameId: tab.frameId,
    html: BOMBS['arrays'] ?? '',
  });
  await t.rejects(writing, { name: 'ChromeGone' });
  t.ok(memory.exceeded, 'it is told that memory was the reason');
  memory.watch();
  t.notOk(memory.exceeded, 'the next document is not to blame');
  memory.rest();
  await chrome.end();
  t.notOk(existsSync(cgroup), 'the group goes with its Chrome');
});

void test('the group of a Chrome that was left behind is removed', {
  skip: NO_CGROUP,
}, async (t) => {
  const parent = testDirectory(t);
  const directory = join(parent, `node-999999999-1-${hostname()}`);
  mkdirSync(directory);
  const path = await installedChrome();
  const chrome = await launchChrome({ path, directory, maxChromeBytes: 512 * MiB });
  t.teardown(() => chrome.end());
  t.ok(existsSync(chrome.cgroup?.path ?? ''));
  t.equal(await reapLeftovers(parent), 1);
  t.notOk(existsSync(chrome.cgroup?.path ?? ''));
});

void test('a group is made only where the service may', (t) => {
  const root = testDirectory(t, {
    'a.service': { main: { 'cgroup.procs': `1\n${process.pid}\n` }, 'cgroup.subtree_control': '' },
    'b.service': { 'cgroup.procs': `${process.pid}\n` },
    'c.service': { main: { 'cgroup.procs': '1\n' }, 'cgroup.subtree_control': '' },
    memory: { d: { 'cgroup.procs': `${process.pid}\n` } },
  });
  const unit = join(root, 'a.service');
  const parent = findCgroupParent(root, '0::/a.service/main\n');
  t.same(parent, { path: unit, version: 2 });
  t.equal(readFileSync(join(unit, 'cgroup.subtree_control'), 'utf8'), '+memory');
  const group = Cgroup.make('/tmp/chrome-x', 5, parent);
  const path = group?.path ?? '';
  t.equal(path, join(unit, 'pressledger-chrome-x'));
  t.equal(readFileSync(join(path, 'memory.max'), 'utf8'), '5');
  writeFileSync(join(path, 'memory.events'), 'oom 2\noom_kill 1\noom_group_kill 1\n');
  t.equal(group?.oomKills, 1);
  t.equal(
    Cgroup.make('/tmp/chrome-x', 5, parent),
    undefined,
    'one that is there is not taken over',
  );

  t.equal(findCgroupParent(root, '0::/b.service\n'), undefined, 'the service is not in a subgroup');
  t.equal(findCgroupParent(root, '0::/c.service/main\n'), undefined, 'another path than its own');
  t.equal(findCgroupParent(root, '0::/\n'), undefined, 'a container');
  t.equal(findCgroupParent(root, '1:memory:/none\n'), undefined);
  const old = findCgroupParent(root, '2:cpu:/\n1:memory:/d\n0::/\n');
  t.same(old, { path: join(root, 'memory/d'), version: 1 });
  t.end();
});
