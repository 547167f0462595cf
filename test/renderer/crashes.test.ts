/** A Chrome that ends or stands still under a job, and what becomes of the job. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
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
