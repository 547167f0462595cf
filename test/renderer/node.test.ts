/** A renderer node whole: jobs in, blobs and reports out. */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { readContent } from '../../src/documents/decryption.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { BlobStoreUnavailable } from '../../src/documents/port.ts';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import type { Recorded } from '../../src/render-queue/messages.ts';
import type { Consumer, Delivery } from '../../src/render-queue/port.ts';
import { newConversionId } from '../../src/time/ids.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { openPdf } from '../support/pdf.ts';
import { descendants } from '../support/processes.ts';
import { hold } from '../support/render-queue.ts';
import { isAlive, startNode } from '../support/renderer-node.ts';
import { accountId, CONTENT_KEY, OPTIONS } from '../support/samples.ts';

void test('a job becomes a stored PDF and two reports, and nothing is left behind', async (t) => {
  const { node, blobs, queue, offer, ended, reports, tempDir, chromes } = await startNode(t);
  t.match(node.ready(), { ready: true, chrome: /\d+\.\d+/ });
  const id = await offer({ html: '<p>an invoice</p>' });
  const report = await ended(id);
  if (report.kind !== 'completed') throw new Error(`not completed: ${JSON.stringify(report)}`);
  t.match(reports, [{ kind: 'started' }, { kind: 'completed', renderer: 'test-node', attempt: 1 }]);
  t.equal(report.pages, 1);
  for (const each of Object.values(report.timings)) t.ok(each >= 0 && each < 60_000);
  const content = await readContent(blobs, CONTENT_KEY, report.document);
  t.equal(createHash('sha256').update(content).digest('hex'), report.pdf.sha256);
  t.equal(content.length, report.pdf.bytes);
  t.match((await openPdf(content)).text, /an invoice/);

  const failed = await ended(await offer({ html: '<p>x</p>', wait_for: { selector: ':::' } }));
  t.match(failed, { kind: 'failed', code: 'selector_missing' });

  // A request that cannot be read.
  const missing = newConversionId(Date.now());
  const request = blobs.stage(missing, 'request', Buffer.from('{}')).ref;
  await queue.offer({
    conversionId: missing,
    accountId: accountId(),
    request,
    contentKey: CONTENT_KEY.toString('base64url'),
    options: OPTIONS,
    retry: false,
  });
  t.match(await ended(missing), { kind: 'failed', code: 'renderer_failed', attempt: 1 });

  // A request that does not open with the key of its job.
  const strange = newConversionId(Date.now());
  const owner = { conversionId: strange, contentKey: Buffer.alloc(32, 6) };
  const sealed = new UnencryptedText('{"html":""}').stage(blobs, owner, 'request');
  await sealed.store();
  const contentKey = CONTENT_KEY.toString('base64url');
  const job = { conversionId: strange, accountId: accountId(), options: OPTIONS, retry: false };
  await queue.offer({ ...job, request: sealed.ref, contentKey });
  const unread = { kind: 'failed', code: 'renderer_failed', message: /could not be read/ };
  t.match(await ended(strange), unread);

  // Private addresses, by default.
  const urls = ['http://127.0.0.1/', 'https://169.254.169.254/', 'http://localhost/'];
  for (const url of urls) {
    t.match(await ended(await offer({ url })), { kind: 'failed', code: 'address_refused' }, url);
  }
  const html = '<script>location="http://127.0.0.1/"</script>';
  const moves = { html, wait_for: { delay_ms: 500 } };
  t.match(await ended(await offer(moves)), { kind: 'failed', code: 'address_refused' });

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

/** Files of a node that hold a PDF as it was printed. */
async function readablePdfs(tempDir: string): Promise<string[]> {
  const [nodeDirectory = ''] = await readdir(tempDir);
  const found: string[] = [];
  for (const entry of await readdir(join(tempDir, nodeDirectory), { withFileTypes: true })) {
    const path = join(tempDir, nodeDirectory, entry.name);
    if (entry.isFile() && (await readFile(path)).includes('%PDF-')) found.push(path);
  }
  return found;
}

void test('a blob store that is away costs a job time and no try', async (t) => {
  // Enough for a document on a busy machine, and less than half of what the store is away.
  const timeoutMs = 7_000;
  const { blobs, offer, ended, reports, tempDir } = await startNode(t, { timeoutMs });
  const [read, adopt] = [blobs.read.bind(blobs), blobs.adopt.bind(blobs)];
  const begun = performance.now();
  // More than three tries of either, and longer than a rendering may take.
  let [reads, adopts] = [5, 5];
  blobs.read = async (ref) => {
    reads -= 1;
    if (reads < 0) return await read(ref);
    throw new BlobStoreUnavailable('It is away.');
  };
  blobs.adopt = async (...file) => {
    adopts -= 1;
    t.strictSame(await readablePdfs(tempDir), [], 'and meanwhile no PDF lies readable');
    if (adopts >= 0) throw new BlobStoreUnavailable('It is away.');
    return await adopt(...file);
  };
  t.match(await ended(await offer({ html: '<p>late</p>' })), { kind: 'completed', attempt: 1 });
  t.ok(performance.now() - begun > 2 * timeoutMs);
  const kinds = reports.map(({ kind }) => kind);
  t.strictSame(kinds, ['started', 'requeued', 'started', 'completed']);
});

void test('a slot is free for others while a job waits for the blob store', async (t) => {
  const { blobs, offer, ended, reports } = await startNode(t);
  const read = blobs.read.bind(blobs);
  let away: string | undefined;
  blobs.read = async (ref) => {
    away ??= ref.key;
    if (ref.key === away) throw new BlobStoreUnavailable('It is away.');
    return await read(ref);
  };
  await offer({ html: '<p>waits</p>' });
  t.match(await ended(await offer({ html: '<p>passes</p>' })), { kind: 'completed' });
  const ends = reports.filter(({ kind }) => kind === 'completed' || kind === 'failed');
  t.equal(ends.length, 1, 'the other one has not ended');
});

void test('a stop leaves what has not begun to others, and ends what has', async (t) => {
  const settings = { concurrency: 1, timeoutMs: 20_000 };
  const { node, queue, offer, ended, reports } = await startNode(t, settings);
  const rendering = await offer({ html: '<p>begun</p>', wait_for: { delay_ms: 6_000 } });
  await eventually('a start', () => reports.length === 1 || undefined);
  const waiting = await offer({ html: '<p>waits for the slot</p>' }, true);
  t.equal(queue.waiting(), 1, 'nothing is taken behind a page');
  const stopped = node.stop();
  const { job } = await hold(queue, 1).delivery(0);
  t.match(job, { conversionId: waiting, retry: true });
  const own = () => reports.filter(({ renderer }) => renderer === 'test-node');
  t.equal(own().length, 1, 'the other goes on');
  t.match(await ended(rendering), { kind: 'completed', attempt: 1 });
  await stopped;
  t.equal(own().length, 2, 'nothing was said of the one that waited');
});

void test('a stop in a hurry puts back what has begun, and leaves no Chrome', async (t) => {
  const { node, queue, offer, reports, chromes, tempDir } = await startNode(t);
  const id = await offer({ html: '<p>begun</p>', wait_for: { delay_ms: 9_000 } });
  await eventually('a start', () => reports.length === 1 || undefined);
  const [chrome] = await chromes();
  const hurry = new AbortController();
  const stopped = node.stop(hurry.signal);
  hurry.abort();
  const { job } = await hold(queue, 1).delivery(0);
  t.equal(job.conversionId, id);
  t.strictSame(
    reports.filter(({ renderer }) => renderer === 'test-node').map(({ kind }) => kind),
    ['started', 'requeued'],
  );
  await stopped;
  t.same(await readdir(tempDir), []);
  // Its thread has ended and waits for it no more: it may be a zombie, which is not alive.
  const runs = (): boolean => descendants(process.pid).some(({ pid }) => pid === chrome?.pid);
  await eventually('the end of its Chrome', () => !runs() || undefined);
});

void test('a stop requeues what waits for a blob store that is away', async (t) => {
  for (const what of ['read', 'adopt'] as const) {
    const place = testDirectory(t, { [what]: {} });
    const { node, blobs, queue, offer, reports } = await startNode(t, {}, place);
    let tries = 0;
    blobs[what] = (): Promise<never> => {
      tries += 1;
      return Promise.reject(new BlobStoreUnavailable('It is away.'));
    };
    const id = await offer({ html: '<p>x</p>' });
    await eventually('a try', () => tries > 0 || undefined);
    const stopped = node.stop();
    const { job } = await hold(queue, 1).delivery(0);
    t.match(job, { conversionId: id, retry: false }, what);
    const kinds = reports.map(({ kind }) => kind);
    t.strictSame(kinds, ['started', 'requeued', 'started']);
    await stopped;
  }
});

void test('a Chrome that is missing or will not start is one clear error', async (t) => {
  const directory = testDirectory(t, {
    chrome: '#!/bin/sh\necho "install the snap"\necho "cannot open display" >&2\nexit 3\n',
  });
  const absent = startNode(t, { chromePath: '/nowhere/chrome' }, directory);
  await t.rejects(absent, { message: /no program .*\/nowhere\/chrome.*CHROME_PATH/ });

  const path = join(directory, 'chrome');
  await chmod(path, 0o755);
  const broken = startNode(t, { chromePath: path }, directory);
  await t.rejects(broken, {
    message: /did not start.*status 3.*cannot open display.*install the snap/,
  });
  t.same(await readdir(join(directory, 'tmp')), [], 'nothing is left behind');
});

void test('what may have taken its renderer down is rendered once the log has counted it', async (t) => {
  const queue = new InProcessRenderQueue();
  const { offer, reports } = await startNode(t, {}, testDirectory(t), queue);
  const answers: Recorded[] = [
    { ended: false, attempt: 3 },
    { ended: true, attempt: 0 },
  ];
  const starts: string[] = [];
  queue.onReport(async (report) => {
    reports.push(report);
    if (report.kind !== 'started') return { ended: true, attempt: 3 };
    starts.push(report.delivery);
    return answers.shift() ?? { ended: false, attempt: 1 };
  });
  await offer({ html: '<p>third</p>' }, true);
  await eventually('its end', () => reports[1]);
  t.match(reports[1], { kind: 'completed', attempt: 3, delivery: starts[0] });
  await offer({ html: '<p>ended</p>' }, true);
  await eventually('the other’s start', () => starts[1]);
  await eventually('an empty queue', () => queue.waiting() === 0 || undefined);
  await offer({ url: 'http://localhost/' });
  await eventually('the next outcome', () => reports[4]);
  t.strictSame(
    reports.map(({ kind }) => kind),
    ['started', 'completed', 'started', 'started', 'failed'],
  );
});

const nothing = (): void => {};

/** Hands each job over twice at once, as a server may that lost count of its deliveries. */
class DoublingQueue extends InProcessRenderQueue {
  override consume(slots: number, handle: (delivery: Delivery) => Promise<void>): Consumer {
    return super.consume(slots, async (delivery) => {
      const { job, unneeded } = delivery;
      const slot = { job, unneeded, releaseSlot: nothing };
      const again = { ...slot, ack: nothing, nack: nothing, requeue: nothing };
      await Promise.all([handle(delivery), handle(again)]);
    });
  }
}

void test('a job that comes twice at once is rendered twice, and neither takes the other’s file', async (t) => {
  const queue = new DoublingQueue();
  const { offer, reports, blobs } = await startNode(t, {}, testDirectory(t), queue);
  const both = Promise.withResolvers<void>();
  let rendered = 0;
  const adopt = blobs.adopt.bind(blobs);
  t.intercept(blobs, 'adopt', {
    value: async (...file: Parameters<typeof adopt>) => {
      rendered += 1;
      if (rendered === 2) both.resolve();
      await both.promise;
      return await adopt(...file);
    },
  });
  await offer({ html: '<p>twice</p>' });
  const outcomes = () => reports.filter((each) => each.kind === 'completed');
  await eventually('both outcomes', () => outcomes().length === 2 || undefined);
  for (const { document } of outcomes()) t.ok(await blobs.exists(document));
});

void test('a page that nobody needs any more is given up at once, also where it hangs', async (t) => {
  const { offer, cancel, reports, ended, chromes } = await startNode(t, { timeoutMs: 60_000 });
  const [chrome] = await chromes();
  const count = (): number => reports.filter(({ kind }) => kind === 'started').length;
  for (const [what, html] of [
    ['waits', { html: '<p>x</p>', wait_for: { selector: '.never' } }],
    ['loops', { html: '<script>for (;;);</script>' }],
  ] as const) {
    const id = await offer(html);
    const next = await offer({ html: `<p>after one that ${what}</p>` });
    const before = count();
    await eventually('its start', () => reports.find((each) => each.conversionId === id));
    const began = performance.now();
    await cancel(id);
    await eventually('the next start', () => count() > before || undefined);
    const ms = performance.now() - began;
    t.ok(ms < 30_000, `the slot of a page that ${what} is free after ${Math.round(ms)} ms`);
    t.match(await ended(next), { kind: 'completed' });
    const own = reports.filter(({ conversionId }) => conversionId === id).map(({ kind }) => kind);
    t.strictSame(own, ['started', 'requeued'], 'it reports no outcome');
    if (what === 'waits') t.strictSame(await chromes(), [chrome], 'its browser serves others');
  }
});
