import { test } from 'tap';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { encryptedBytes } from '../../../src/documents/cipher.ts';
import { readContent } from '../../../src/documents/decryption.ts';
import { accountAggregate } from '../../../src/domain/account.ts';
import { startDispatch } from '../../../src/process-managers/dispatch.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import type { RenderJob } from '../../../src/render-queue/messages.ts';
import { eventually } from '../../support/deadline.ts';
import {
  completed,
  conversionsOf,
  failed,
  type ManagedNode,
  openManagedPlace,
  started,
} from '../../support/process-managers.ts';
import { drain, type HeldDelivery, hold, idsOf } from '../../support/render-queue.ts';
import { accountId, blobRef, OPTIONS } from '../../support/samples.ts';

const tried = ({ job }: HeldDelivery, attempt = 1) => ({ ...job, attempt });

const DOCUMENT = { ...blobRef('document'), bytes: encryptedBytes(10) };

void test('what is accepted is offered, with all that a renderer needs', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startDispatch(node));
  const conversionId = await node.request();
  const [job] = await drain(node.queue, 1, 'silent');
  t.match(job, { conversionId, accountId: accountId(), options: OPTIONS, retry: false });
  const contentKey = Buffer.from(job?.contentKey ?? '', 'base64url');
  const document = await readContent(node.blobs, contentKey, job?.request ?? DOCUMENT);
  t.strictSame(JSON.parse(document.toString()), { html: '<p>one</p>' });

  await node.request();
  const [other] = await drain(node.queue, 1, 'silent');
  const opening = readContent(node.blobs, contentKey, other?.request ?? DOCUMENT);
  await t.rejects(opening, { message: /does not open/ }, 'its key opens its own documents alone');
  const dataKey = (await node.keyring.dataKey(accountId())).toString('base64url');
  t.notOk(JSON.stringify([job, other]).includes(dataKey));
});

void test('a job that is to be signed names who signs', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startDispatch({ ...node, seal: { subject: 'CN=The Service, C=DE' } }));
  const ask = async (signedBy?: 'account' | 'service') => {
    await node.request(1, '<p>one</p>', signedBy ? { signedBy } : {});
    const [job] = await drain(node.queue, 1, 'silent');
    return job?.signer;
  };
  t.equal(await ask(), undefined, 'nobody signs');
  t.equal(await ask('service'), 'The Service');
  t.equal(await ask('account'), undefined, 'its certificate was removed: the signer says so');
  const [secret = '', subject = '', issuer = ''] = await Promise.all(
    ['a key', 'CN=Ada Lovelace, O=Example', 'CN=CA'].map((text) =>
      node.vault.seal(accountId(), text),
    ),
  );
  const times = { notBefore: 0, notAfter: 2 ** 40, certificate: 'c'.repeat(64) };
  const signature = { secret, subject, issuer, ...times };
  const command = { type: 'SetSignature', accountId: accountId(), signature, now: 1 } as const;
  await node.actors.send(accountAggregate, accountId(), command, operatorContext(place.clock));
  t.equal(await ask('account'), 'Ada Lovelace');
});

void test('conversions of an erased account are not offered, and hold up nobody', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1);
  await node.openAccount(2);
  await node.request(1);
  await node.keyring.erase(accountId(1));
  const kept = await node.request(2);
  node.run(startDispatch(node));
  t.strictSame(idsOf(await drain(node.queue, 1, 'silent')), [kept]);
  t.equal(node.queue.waiting(), 0);
});

void test('a restart offers everything unfinished, in order, from the log alone', async (t) => {
  const place = openManagedPlace(t);
  const before = await place.node();
  await before.openAccount(1, 2000);
  before.run(startOutcomes(before));
  // More than dispatch reads at a time.
  await Promise.all(Array.from({ length: 1203 }, () => before.request()));
  const ids = conversionsOf(place.log('ConversionRequested'));
  const [done = '', broken = '', begun = '', twice = ''] = ids;
  const { queue } = before;
  await queue.report(started({ conversionId: done, attempt: 1 }));
  await queue.report(completed({ conversionId: done, attempt: 1 }, DOCUMENT));
  await queue.report(failed({ conversionId: broken, attempt: 1 }));
  await queue.report(started({ conversionId: begun, attempt: 1 }));
  for (const attempt of [1, 2]) await queue.report(started({ conversionId: twice, attempt }));
  await before.close();
  place.forgetReadModel();

  const after = await place.node();
  after.run(startDispatch(after));
  const jobs = await drain(after.queue, ids.length - 2, 'silent');
  t.strictSame(idsOf(jobs), ids.slice(2));
  t.strictSame(
    new Set(jobs.map(({ retry }) => retry)),
    new Set([true]),
    'what may have been started is a retry: its page may have ended the process before its start was in the log',
  );
  t.equal(after.queue.waiting(), 0);
});

void test('what another process accepts is offered too', async (t) => {
  const place = openManagedPlace(t);
  const [api, renderer] = [await place.node('api'), await place.node('renderer')];
  await api.openAccount();
  renderer.run(startDispatch(renderer));
  const id = await api.request();
  t.strictSame(idsOf(await drain(renderer.queue, 1, 'silent')), [id]);
});

void test('a sweep offers again what the queue lost, and nothing else', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const dispatch = node.run(startDispatch(node));
  node.run(startOutcomes(node));
  const [lost, ended, inFlight] = [
    await node.request(),
    await node.request(),
    await node.request(),
  ];
  const renderer = hold(node.queue, 3, 'silent');
  const first = await renderer.delivery(0);
  const second = await renderer.delivery(1);
  const third = await renderer.delivery(2);
  // The queue forgets a job if nothing but its start was ever reported.
  await node.queue.report(started(tried(first)));
  await first.ack();
  await node.queue.report(completed(tried(second), DOCUMENT));
  await second.ack();
  await node.queue.report(started(tried(third)));

  dispatch.sweep();
  const again = await renderer.delivery(3);
  t.match(again.job, { conversionId: lost, retry: true });
  await node.queue.report(completed(tried(again, 2), DOCUMENT));
  await again.ack();
  await node.queue.report(completed(tried(third), DOCUMENT));
  await third.ack();

  dispatch.sweep();
  const last = await node.request();
  await renderer.delivery(4);
  t.strictSame(idsOf(renderer.jobs), [lost, ended, inFlight, lost, last]);
});

void test('a sweep during a sweep begins once more', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const ids = [await node.request(), await node.request()];
  await node.caughtUp();
  const offers: string[] = [];
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const queue = {
    has: () => false,
    waiting: () => 0,
    waitingOf: () => 0,
    retain: async () => {},
    offer: async ({ conversionId }: { conversionId: string }) => {
      offers.push(conversionId);
      begun.resolve();
      if (offers.length === 1) await held.promise;
      if (offers.length === 4) all.resolve();
    },
  };
  const dispatch = node.run(startDispatch({ ...node, queue }));
  await begun.promise;
  dispatch.sweep();
  held.resolve();
  await all.promise;
  t.strictSame(offers, [...ids, ...ids], 'the first round ends, and the second misses nothing');
});

/** Completes `count` jobs, one at a time, as the outcomes of a node record. @returns them, and the most that waited */
async function complete(
  node: ManagedNode,
  count: number,
): Promise<{ jobs: RenderJob[]; most: number }> {
  const jobs: RenderJob[] = [];
  let most = 0;
  const consumer = node.queue.consume(1, async (delivery) => {
    const { job } = delivery;
    most = Math.max(most, node.queue.waiting());
    await node.queue.report(started({ ...job, attempt: 1 }));
    await node.queue.report(completed({ ...job, attempt: 1 }, DOCUMENT));
    delivery.ack();
    jobs.push(job);
  });
  await eventually(`${count} jobs`, () => jobs.length >= count || undefined);
  await consumer.stop();
  return { jobs, most };
}

const times = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));

void test('an account has its turn, however many jobs of others were requested before', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  for (const n of [1, 2, 3]) await node.openAccount(n);
  node.run(startOutcomes(node));
  node.run(startDispatch({ ...node, maxWaiting: 12 }));
  await times(40, () => node.request(1));
  await times(40, () => node.request(2));
  await eventually('their jobs', () => node.queue.waiting() === 9 || undefined);
  const [first, second] = [await node.request(3), await node.request(3)];
  await eventually('its job', () => node.queue.has(first) || undefined);
  const { jobs } = await complete(node, 82);
  const order = idsOf(jobs);
  t.ok(order.indexOf(first) <= 2, 'the first at once');
  t.ok(order.indexOf(second) <= 12, 'the second in its turn');
  t.equal(new Set(order).size, 82, 'and each is handed out once');
});

void test('a queue is filled up as it empties, and no account is left out of a full one', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const accounts = [1, 2, 3, 4, 5, 6, 7];
  for (const n of accounts) await node.openAccount(n);
  node.run(startOutcomes(node));
  const requested = new Map<string, string[]>();
  for (const n of accounts) {
    const ids: string[] = [];
    for (let job = 0; job < 12; job += 1) {
      ids.push(await node.request(n, '<p>one</p>', n === 2 ? { priority: 'low' } : {}));
    }
    requested.set(accountId(n), ids);
  }
  node.run(startDispatch({ ...node, maxWaiting: 4 }));
  const all = () => accounts.every((n) => node.queue.waitingOf(accountId(n)) > 0);
  await eventually('a job of each account', () => all() || undefined);
  const { jobs, most } = await complete(node, 12 * accounts.length);
  const handed = new Map<string, string[]>();
  for (const { accountId: account, conversionId } of jobs) {
    handed.set(account, [...(handed.get(account) ?? []), conversionId]);
  }
  t.strictSame(handed, requested, 'those of each account once, in order');
  t.ok(most <= 4 + accounts.length, `at most ${most} waited`);
  t.equal(node.queue.waiting(), 0);
});

void test('jobs of low priority leave room for the others of their account', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startDispatch({ ...node, maxWaiting: 12 }));
  await times(30, () => node.request(1, '<p>one</p>', { priority: 'low' }));
  await eventually('the low ones', () => node.queue.waiting() === 4 || undefined);
  const id = await node.request();
  await eventually('the other', () => node.queue.has(id) || undefined);
  const [next] = await drain(node.queue, 1, 'silent');
  t.equal(next?.conversionId, id);
});

void test('low jobs that fill the queue keep out no other job of their account', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  for (const n of [1, 2, 3]) await node.openAccount(n);
  node.run(startDispatch({ ...node, maxWaiting: 12 }));
  const held = (n: number, count: number) =>
    eventually(`${count} jobs`, () => node.queue.waitingOf(accountId(n)) === count || undefined);
  await times(20, () => node.request(1, '<p>one</p>', { priority: 'low' }));
  await held(1, 4);
  await times(20, () => node.request(2));
  await held(2, 4);
  await times(20, () => node.request(3));
  await held(3, 2);
  const id = await node.request(1);
  await eventually('the other', () => node.queue.has(id) || undefined);
  t.equal(node.queue.waitingOf(accountId(1)), 5, 'besides them');
});

void test('a job that a full queue has lost is next of its account', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const ids: string[] = [];
  for (let n = 0; n < 30; n += 1) ids.push(await node.request());
  node.run(startOutcomes(node));
  const dispatch = node.run(startDispatch({ ...node, maxWaiting: 12 }));
  await eventually('a full queue', () => node.queue.waiting() === 6 || undefined);
  const [lost] = await drain(node.queue, 1, 'silent');
  t.equal(lost?.conversionId, ids[0]);
  dispatch.sweep();
  await eventually('the lost one', () => node.queue.has(ids[0] ?? '') || undefined);
  t.notOk(node.queue.has(ids[6] ?? ''), 'before what was never offered');
  const { jobs } = await complete(node, 30);
  t.strictSame(new Set(idsOf(jobs)), new Set(ids));
});

void test('a queue that refuses an offer gets it again', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const offers: string[] = [];
  const both = Promise.withResolvers<void>();
  let faults = 1;
  const queue = {
    has: () => false,
    waiting: () => 0,
    waitingOf: () => 0,
    retain: async () => {},
    offer: async ({ conversionId }: { conversionId: string }) => {
      if (faults > 0) {
        faults -= 1;
        throw new Error('The queue is away.');
      }
      offers.push(conversionId);
      if (offers.length === 2) both.resolve();
    },
  };
  node.run(startDispatch({ ...node, queue }));
  const ids = [await node.request(), await node.request()];
  await both.promise;
  t.strictSame(offers, ids);
});
