/** A renderer node whole: queue in, blob and reports out, and every way in which Chrome can fail it. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { FileBlobStore } from '../../src/blob-store/files.ts';
import { systemClock } from '../../src/clock.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { newConversionId } from '../../src/ids.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type { RenderReport } from '../../src/render-queue/messages.ts';
import { reapLeftovers, recordProcess } from '../../src/renderer/chrome/processes.ts';
import { type RendererSettings, startRendererNode } from '../../src/renderer/node.ts';
import { startRenderPool } from '../../src/renderer/pool.ts';
import { openPdf } from '../support/pdf.ts';
import { silent } from '../support/renderer.ts';
import { accountId, OPTIONS } from '../support/samples.ts';

interface ChromeRecord {
  readonly pid: number;
  readonly profile: string;
}

async function startNode(
  t: Test,
  changes: Partial<RendererSettings> = {},
  directory: string = t.testdir(),
) {
  const tempDir = join(directory, 'tmp');
  const blobs = await FileBlobStore.open(join(directory, 'blobs'));
  const queue = new InProcessRenderQueue();
  const reports: RenderReport[] = [];
  const wakes: (() => void)[] = [];
  queue.reports(async (report) => {
    reports.push(report);
    for (const wake of wakes.splice(0)) wake();
  });
  const node = await startRendererNode({
    queue,
    blobs,
    settings: {
      concurrency: 1,
      timeoutMs: 10_000,
      chromePath: process.env['CHROME_PATH'],
      allowPrivateNetwork: false,
      egressPorts: [],
      tempDir,
      ...changes,
    },
    name: 'test-node',
    clock: systemClock,
    logger: silent,
  });
  t.teardown(() => node.stop());

  const reported = async (id: string, wanted: (report: RenderReport) => boolean) => {
    for (;;) {
      const found = reports.find((each) => each.conversionId === id && wanted(each));
      if (found) return found;
      await new Promise<void>((resolve) => wakes.push(resolve));
    }
  };
  const offer = async (request: RequestDocument, attempt = 1): Promise<string> => {
    const conversionId = newConversionId(Date.now());
    const staged = blobs.stage(conversionId, 'request', Buffer.from(JSON.stringify(request)));
    await staged.store();
    const job = { conversionId, accountId: accountId(), request: staged.ref, options: OPTIONS };
    await queue.offer({ ...job, attempt });
    return conversionId;
  };
  const chromes = async (): Promise<ChromeRecord[]> => {
    const [nodeDirectory = ''] = await readdir(tempDir);
    const files = await readdir(join(tempDir, nodeDirectory));
    const records = files.filter((name) => name.endsWith('.process.json'));
    return await Promise.all(
      records.map(async (name) => {
        const text = await readFile(join(tempDir, nodeDirectory, name), 'utf8');
        return JSON.parse(text) as ChromeRecord;
      }),
    );
  };
  return {
    node,
    blobs,
    queue,
    reports,
    tempDir,
    offer,
    chromes,
    ended: (id: string) => reported(id, (report) => report.kind !== 'started'),
    started: (id: string, attempt = 1) =>
      reported(id, (report) => report.kind === 'started' && report.attempt === attempt),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const ENDLESS = { html: '<script>for(;;);</script>' };

void test('a job becomes a stored PDF and two reports, and nothing is left behind', async (t) => {
  const { node, blobs, offer, ended, reports, tempDir, chromes } = await startNode(t);
  t.match(node.ready(), { ready: true, chrome: /\d+\.\d+/ });
  const id = await offer({ html: '<p>an invoice</p>' });
  const report = await ended(id);
  if (report.kind !== 'completed') throw new Error(`not completed: ${JSON.stringify(report)}`);
  t.match(reports, [{ kind: 'started' }, { kind: 'completed', renderer: 'test-node', attempt: 1 }]);
  t.equal(report.pages, 1);
  for (const each of Object.values(report.timings)) t.ok(each >= 0 && each < 10_000);
  const content = await blobs.read(report.document);
  t.equal(createHash('sha256').update(content).digest('hex'), report.document.sha256);
  t.match((await openPdf(content)).text, /an invoice/);

  const failed = await ended(await offer({ html: '<p>x</p>', wait_for: { selector: ':::' } }));
  t.match(failed, { kind: 'failed', code: 'selector_missing' });

  const [chrome] = await chromes();
  const [nodeDirectory = ''] = await readdir(tempDir);
  const files = await readdir(join(tempDir, nodeDirectory));
  t.notOk(
    files.some((name) => name.endsWith('.pdf')),
    'no PDF stays in the temporary directory',
  );
  await node.stop();
  t.match(node.ready(), { ready: false });
  t.same(await readdir(tempDir), []);
  t.ok(chrome && !isAlive(chrome.pid), 'its Chrome has ended');
});

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

void test('a Chrome that stands still is ended, and its job goes to the next one', async (t) => {
  const { offer, ended, chromes } = await startNode(t, { timeoutMs: 3_000 });
  const [frozen] = await chromes();
  if (!frozen) throw new Error('no Chrome');
  process.kill(-frozen.pid, 'SIGSTOP');
  const begun = performance.now();
  t.match(await ended(await offer({ html: '<p>x</p>' })), { kind: 'completed', attempt: 2 });
  t.ok(performance.now() - begun < 3_000 + 2_000 + 3_000);
  const [fresh] = await chromes();
  t.not(fresh?.pid, frozen.pid);
  t.notOk(isAlive(frozen.pid), 'the frozen one was ended');
});

void test('a request that cannot be read fails', async (t) => {
  const { blobs, offer, ended, queue } = await startNode(t);
  const missing = newConversionId(Date.now());
  const request = blobs.stage(missing, 'request', Buffer.from('{}')).ref;
  await queue.offer({
    conversionId: missing,
    accountId: accountId(),
    request,
    options: OPTIONS,
    attempt: 1,
  });
  t.match(await ended(missing), { kind: 'failed', code: 'renderer_failed' });
  t.match(await ended(await offer({ html: '<p>x</p>' })), { kind: 'completed' });
});

void test('private addresses are refused by default', async (t) => {
  const { offer, ended } = await startNode(t);
  const urls = ['http://127.0.0.1/', 'https://169.254.169.254/', 'http://localhost/'];
  for (const url of urls) {
    t.match(await ended(await offer({ url })), { kind: 'failed', code: 'address_refused' }, url);
  }
  const html = '<script>location="http://127.0.0.1/"</script>';
  const moves = { html, wait_for: { delay_ms: 500 } };
  t.match(await ended(await offer(moves)), { kind: 'failed', code: 'address_refused' });
});

void test('a Chrome that is missing or will not start is one clear error', async (t) => {
  const directory = t.testdir({ chrome: '#!/bin/sh\necho "cannot open display" >&2\nexit 3\n' });
  const absent = startNode(t, { chromePath: '/nowhere/chrome' }, directory);
  await t.rejects(absent, { message: /no program .*\/nowhere\/chrome.*CHROME_PATH/ });

  const path = join(directory, 'chrome');
  await chmod(path, 0o755);
  const begun = performance.now();
  const broken = startNode(t, { chromePath: path }, directory);
  await t.rejects(broken, { message: /did not start.*status 3.*cannot open display/ });
  t.ok(performance.now() - begun < 5_000, 'without waiting for what cannot come');
  t.same(await readdir(join(directory, 'tmp')), [], 'nothing is left behind');
});

void test('Chromes of a killed node are ended by the next start, and no other process', async (t) => {
  const parent = t.testdir();
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

void test('a thread that hangs is replaced, and its job times out', async (t) => {
  const pool = await startRenderPool({
    concurrency: 1,
    worker: {
      chromePath: '',
      directory: t.testdir(),
      allowPrivateNetwork: false,
      egressPorts: [],
    },
    logger: silent,
    workerFile: new URL('../support/stuck-worker.ts', import.meta.url),
  });
  t.teardown(() => pool.close());
  const task = { request: ENDLESS, options: OPTIONS, deadlineMs: 200, outputPath: '/nowhere' };
  for (const conversionId of ['a', 'b']) {
    const begun = performance.now();
    t.match(await pool.render({ ...task, conversionId }), { kind: 'failed', code: 'timeout' });
    t.ok(performance.now() - begun < 2_200, 'within two seconds of the limit');
  }
});
