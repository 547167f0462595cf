/** A renderer node whole: jobs in, blobs and reports out. */
import { createHash } from 'node:crypto';
import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { BlobStoreUnavailable } from '../../src/blob-store/port.ts';
import { newConversionId } from '../../src/ids.ts';
import { openPdf } from '../support/pdf.ts';
import { isAlive, startNode } from '../support/renderer-node.ts';
import { accountId, OPTIONS } from '../support/samples.ts';

void test('a job becomes a stored PDF and two reports, and nothing is left behind', async (t) => {
  const { node, blobs, queue, offer, ended, reports, tempDir, chromes } = await startNode(t);
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

  // A request that cannot be read.
  const missing = newConversionId(Date.now());
  const request = blobs.stage(missing, 'request', Buffer.from('{}')).ref;
  await queue.offer({
    conversionId: missing,
    accountId: accountId(),
    request,
    options: OPTIONS,
    attempt: 1,
  });
  t.match(await ended(missing), { kind: 'failed', code: 'renderer_failed', attempt: 1 });

  // Each of its renderers went down with it.
  const broken = await ended(await offer({ html: '<p>x</p>' }, 4));
  t.match(broken, { kind: 'failed', code: 'renderer_failed', message: /each of 3 tries/ });

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

void test('a blob store that does not answer gives the job another try', async (t) => {
  const { blobs, queue, ended } = await startNode(t);
  const conversionId = newConversionId(Date.now());
  const content = Buffer.from('{"html":"<p>late</p>"}');
  const staged = blobs.stage(conversionId, 'request', content);
  const job = { conversionId, accountId: accountId(), request: staged.ref, options: OPTIONS };
  const read = blobs.read.bind(blobs);
  let away = 2;
  blobs.read = async (ref) => {
    away -= 1;
    if (away === 0) await staged.store();
    if (away >= 0) throw new BlobStoreUnavailable('It is away.');
    return await read(ref);
  };
  await queue.offer({ ...job, attempt: 1 });
  t.match(await ended(conversionId), { kind: 'completed', attempt: 3 });
});

void test('a Chrome that is missing or will not start is one clear error', async (t) => {
  const directory = t.testdir({ chrome: '#!/bin/sh\necho "cannot open display" >&2\nexit 3\n' });
  const absent = startNode(t, { chromePath: '/nowhere/chrome' }, directory);
  await t.rejects(absent, { message: /no program .*\/nowhere\/chrome.*CHROME_PATH/ });

  const path = join(directory, 'chrome');
  await chmod(path, 0o755);
  const broken = startNode(t, { chromePath: path }, directory);
  await t.rejects(broken, { message: /did not start.*status 3.*cannot open display/ });
  t.same(await readdir(join(directory, 'tmp')), [], 'nothing is left behind');
});
