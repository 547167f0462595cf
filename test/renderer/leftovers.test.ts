/** What a killed node or a stuck thread leaves behind. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { BUDGETS } from '../../src/limits/budgets.ts';
import { hasEnded, reapLeftovers, recordProcess } from '../../src/renderer/browser/processes.ts';
import { startRenderPool } from '../../src/renderer/pool.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { silent } from '../support/renderer.ts';
import { isAlive, startNode } from '../support/renderer-node.ts';
import { accountId, OPTIONS } from '../support/samples.ts';

/** Chromes, one after the other. */
const REPLACED = 4;

void test('Chromes of a killed node are ended by the next start, and no other process', async (t) => {
  const parent = testDirectory(t);
  const dead = join(parent, 'node-999999999-1-' + hostname());
  const live = join(parent, `node-${process.pid}-0-${hostname()}`);
  await mkdir(dead);
  await mkdir(live);
  const idle = (profile: string) => {
    const code = 'setInterval(() => {}, 1000)';
    const child = spawn(process.execPath, ['-e', code, '--', `--user-data-dir=${profile}`], {
      detached: true,
      stdio: 'ignore',
    });
    t.teardown(() => child.kill('SIGKILL'));
    return child;
  };
  const mine = join(dead, 'chrome-a');
  const left = idle(mine);
  recordProcess(left.pid ?? 0, mine);
  const stranger = idle('/another/profile');
  recordProcess(stranger.pid ?? 0, join(dead, 'chrome-b'));
  const reborn = idle(join(dead, 'chrome-c'));
  const record = { pid: reborn.pid, startTime: '1', profile: join(dead, 'chrome-c') };
  await writeFile(join(dead, 'chrome-c.process.json'), JSON.stringify(record));

  const exited = once(left, 'exit');
  t.equal(await reapLeftovers(parent), 1);
  await exited;
  t.ok(isAlive(stranger.pid ?? 0), 'a process with another profile is not ours');
  t.ok(isAlive(reborn.pid ?? 0), 'a process that started at another time is not ours');
  t.same(await readdir(parent), [live.slice(parent.length + 1)], 'a living node keeps its files');
});

/** A pool whose thread hangs or exits with its first document, and a task for it. */
async function startFaultyPool(t: Test, fault: 'stuck' | 'exiting') {
  const pool = await startRenderPool({
    concurrency: 1,
    worker: {
      chromePath: '',
      directory: testDirectory(t),
      allowPrivateNetwork: false,
      egressPorts: [],
      maxPageMemoryBytes: BUDGETS.maxPageMemoryBytes.default,
    },
    logger: silent,
    workerFile: new URL(`../support/${fault}-worker.ts`, import.meta.url),
  });
  t.teardown(() => pool.close());
  const task = {
    accountId: accountId(),
    request: { html: '' },
    options: OPTIONS,
    pictures: true,
    deadlineMs: 200,
    outputPath: '/nowhere',
  };
  return { pool, task };
}

void test('a thread that hangs is replaced, and its job times out', async (t) => {
  const { pool, task } = await startFaultyPool(t, 'stuck');
  for (const conversionId of ['a', 'b']) {
    const begun = performance.now();
    t.match(await pool.render({ ...task, conversionId }), { kind: 'failed', code: 'timeout' });
    t.ok(performance.now() - begun < 30_000, 'soon after the limit, on a busy machine too');
  }
});

void test('a document does not fail by the time in which its renderer stood still', async (t) => {
  const { pool, task } = await startFaultyPool(t, 'stuck');
  const rendering = pool.render({ ...task, conversionId: 'a' });
  const frozenMs = 7000;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, frozenMs);
  t.match(await rendering, { kind: 'crashed', code: 'renderer_failed' }, 'it is rendered again');
});

void test('a thread that exits leaves no Chrome', async (t) => {
  const { pool, task } = await startFaultyPool(t, 'exiting');
  const pids = await eventually('the notice of its Chrome', () => {
    const { running } = pool.chromes();
    return running.length > 0 ? running : undefined;
  });
  t.match(await pool.render({ ...task, conversionId: 'a' }), { kind: 'crashed' });
  await eventually('the end of its Chrome', () => pids.every(hasEnded) || undefined);
  t.same(pool.chromes().running, []);
});

/** The number of descriptors of each kind that this process has open. */
async function openDescriptors(): Promise<ReadonlyMap<string, number>> {
  const fds = await readdir('/proc/self/fd');
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  const kinds = Map.groupBy(links, (link) => link.replace(/\[\d+\]|chrome-\w+/, ''));
  return new Map(Array.from(kinds, ([kind, { length }]) => [kind, length]));
}

void test('Chromes that were replaced leave nothing open', async (t) => {
  const { offer, ended, chromes } = await startNode(t);
  const render = async () =>
    t.match(await ended(await offer({ html: '<p>x</p>' })), { kind: 'completed' });
  const killed = new Set<number>();
  const replace = async (): Promise<void> => {
    const chrome = await eventually('a fresh Chrome', async () =>
      (await chromes()).find(({ pid }) => !killed.has(pid)),
    );
    killed.add(chrome.pid);
    process.kill(-chrome.pid, 'SIGKILL');
    await render();
  };
  // The first opens what stays open, whatever is rendered later.
  await replace();
  const before = await openDescriptors();
  for (let times = 0; times < REPLACED; times += 1) await replace();
  t.equal(killed.size, REPLACED + 1);
  let more: readonly string[] = [];
  // Some tabs, each with a proxy, may not have been open before. What is left of each Chrome is as many times more.
  const asBefore = async () => {
    const now = Array.from(await openDescriptors());
    more = now
      .filter(([kind, count]) => count - (before.get(kind) ?? 0) >= REPLACED)
      .map(([kind, count]) => `${kind} ${before.get(kind) ?? 0} → ${count}`);
    return more.length === 0 || undefined;
  };
  await eventually('no more than was open before', asBefore).catch(() => {});
  t.same(more, []);
});
