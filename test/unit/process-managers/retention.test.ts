import { test } from 'tap';
import { conversionQueries } from '../../../projections/conversions.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { unfinishedQueries } from '../../../projections/unfinished-conversions.ts';
import { BlobNotFound, BlobStoreUnavailable } from '../../../src/documents/port.ts';
import type { BlobRef } from '../../../src/domain/event-fields.ts';
import { Budgets } from '../../../src/limits/budgets.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRetention } from '../../../src/process-managers/retention.ts';
import { refusal, startApi } from '../../support/api.ts';
import { eventually } from '../../support/deadline.ts';
import { violations } from '../../support/invariants.ts';
import {
  completed,
  conversionsOf,
  DEFAULT_LIMITS,
  failed,
  type ManagedNode,
  manifestOf,
  openManagedPlace,
} from '../../support/process-managers.ts';
import { accountId, DAY_MS, NOW } from '../../support/samples.ts';

const retentionSeconds = (7 * DAY_MS) / 1000;

interface Ended {
  readonly conversionId: string;
  readonly blobs: readonly BlobRef[];
}

/** A conversion that ended at that time, and all that is stored of it. */
async function end(
  node: ManagedNode,
  how: 'completed' | 'failed' | 'pictured',
  at = NOW,
  html?: string,
  requested?: number,
): Promise<Ended> {
  const marks = requested === undefined ? {} : { retentionSeconds: requested };
  const conversionId = await node.request(1, html, marks);
  await node.caughtUp();
  const request = node.readModel.query(unfinishedQueries).byId(conversionId)?.request;
  if (!request) throw new Error(`${conversionId} has no request.`);
  const outcomes = startOutcomes(node);
  const job = { conversionId, attempt: 1 };
  const blobs = [request];
  if (how === 'completed') {
    const document = await node.storeDocument(conversionId);
    await node.queue.report({ ...completed(job, document), at });
    blobs.push(document, await manifestOf(node.store, conversionId));
  } else {
    const picture = how === 'pictured' ? await node.storePicture(conversionId) : undefined;
    await node.queue.report({ ...failed(job), at, ...(picture && { picture }) });
    if (picture) blobs.push(picture);
  }
  await outcomes.stop();
  await node.caughtUp();
  return { conversionId, blobs };
}

async function isKept(node: ManagedNode, { blobs }: Ended): Promise<boolean> {
  const found = await Promise.all(
    blobs.map((ref) =>
      node.blobs.read(ref).then(
        () => true,
        (error: unknown) => {
          if (error instanceof BlobNotFound) return false;
          throw error;
        },
      ),
    ),
  );
  if (new Set(found).size > 1) throw new Error('A part of it is kept.');
  return found[0] === true;
}

void test('what ended a retention ago is deleted, and nothing younger', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const good = await end(node, 'completed');
  const bad = await end(node, 'completed', NOW + 1);
  const young = await end(node, 'completed', NOW + 1000);
  const open = await node.request();
  await node.caughtUp();
  place.clock.time = NOW + 7 * DAY_MS + 2;
  const retention = node.run(
    startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }),
  );

  const expired = await place.logged('ConversionExpired', 2);
  t.strictSame(conversionsOf(expired), [good.conversionId, bad.conversionId], 'oldest first');
  t.match(JSON.parse(expired[0]?.data ?? ''), { expiredAt: NOW + 7 * DAY_MS + 2 });
  const cause = place.log('ConversionCompleted')[0]?.id;
  t.match(JSON.parse(expired[0]?.metadata ?? ''), { causationId: cause });
  t.notOk(await isKept(node, good), 'document, manifest and request');
  t.notOk(await isKept(node, bad));
  t.ok(await isKept(node, young));

  place.clock.time = NOW + 7 * DAY_MS + 1001;
  retention.wake();
  await place.logged('ConversionExpired', 3);
  t.notOk(await isKept(node, young));
  place.clock.time = NOW + 700 * DAY_MS;
  retention.wake();
  await retention.stop();
  t.notOk(conversionsOf(place.log('ConversionExpired')).includes(open), 'not before its end');
  t.strictSame(violations(place.log(), { settled: false }), []);
});

void test('the request of a failed conversion is deleted soon, and its record stays', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const kept = await end(node, 'completed');
  const before = await end(node, 'failed');
  const row = () => node.readModel.query(conversionQueries).byId(before.conversionId);
  const record = row();
  node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }));
  await place.logged('ConversionExpired', 1);
  t.notOk(await isKept(node, before), 'it failed while nobody looked');
  const large = await end(node, 'failed', NOW, `<!--${'x'.repeat(100_000)}-->`);
  const expired = await place.logged('ConversionExpired', 2);
  t.strictSame(conversionsOf(expired), [before.conversionId, large.conversionId]);
  t.notOk(await isKept(node, large), 'it failed while the service ran');
  const cause = place.log('ConversionFailed')[1]?.id;
  t.match(JSON.parse(expired[1]?.metadata ?? ''), { causationId: cause });
  t.ok(await isKept(node, kept), 'what completed stays for its retention');
  await node.caughtUp();
  t.strictSame(row(), { ...record, expired: true }, 'the record is readable as before');
  t.match(row(), { status: 'failed', errorMessage: String });
  t.strictSame(violations(place.log(), { settled: false }), []);
});

void test('what a request asked for ends by the clock, each in its time', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const [hour, day] = [3600, DAY_MS / 1000];
  const ended = [
    await end(node, 'failed', NOW, undefined, 0),
    await end(node, 'completed', NOW, undefined, 60),
    await end(node, 'failed', NOW, undefined, 2 * hour),
    await end(node, 'completed', NOW, undefined, 0),
    await end(node, 'completed', NOW, undefined, day),
    await end(node, 'completed', NOW, undefined, 30 * day),
    await end(node, 'completed', NOW),
  ];
  const retention = node.run(
    startRetention({ ...node, retentionSeconds, failedRetentionSeconds: day }),
  );
  const moments = [0, 60_000, 3_600_000, 7_200_000, DAY_MS, 7 * DAY_MS + 1];
  const counts = [1, 2, 3, 4, 5, 7];
  for (const [n, after] of moments.entries()) {
    place.clock.time = NOW + after;
    const due = node.readModel
      .query(storedBlobQueries)
      .due(
        place.clock.time,
        { completed: NOW + after - 7 * DAY_MS, failed: NOW + after - DAY_MS },
        9,
      );
    t.equal(new Set(due.map(({ conversionId }) => conversionId)).size, due.length, 'each once');
    retention.wake();
    const gone = conversionsOf(await place.logged('ConversionExpired', counts[n] ?? 0));
    t.equal(gone.length, counts[n], `after ${after} ms`);
    await node.caughtUp();
  }
  const order = conversionsOf(place.log('ConversionExpired'));
  const [failure, minute, hours, unread, oneDay, ...rest] = ended.map((each) => each.conversionId);
  t.strictSame(order.slice(0, 5), [failure, minute, unread, hours, oneDay]);
  t.strictSame(order.slice(5).toSorted(), rest.toSorted(), 'and none later than the service says');
  t.strictSame(violations(place.log(), { settled: false }), []);
});

void test('more than are read at a time are deleted', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const outcomes = startOutcomes(node);
  const ids = await Promise.all(Array.from({ length: 230 }, () => node.request()));
  await Promise.all(
    ids.map((conversionId) => node.queue.report(failed({ conversionId, attempt: 1 }))),
  );
  await outcomes.stop();
  await node.caughtUp();
  place.clock.time = NOW + 8 * DAY_MS;
  node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }));
  const expired = conversionsOf(await place.logged('ConversionExpired', ids.length));
  t.strictSame(expired.toSorted(), ids.toSorted());
});

void test('a crash between the deletion and its event only deletes once more', async (t) => {
  const place = openManagedPlace(t);
  const before = await place.node();
  await before.openAccount();
  const ended = await end(before, 'completed');
  place.clock.time = NOW + 8 * DAY_MS;
  const broken = Promise.withResolvers<void>();
  before.store.beforeAppend = () => {
    broken.resolve();
    return Promise.reject(new Error('The process ended here.'));
  };
  const retention = startRetention({ ...before, retentionSeconds, failedRetentionSeconds: 0 });
  await broken.promise;
  await retention.stop();
  t.notOk(await isKept(before, ended), 'deleted');
  t.strictSame(place.log('ConversionExpired'), [], 'and not recorded');
  await before.close();

  const nodes = [await place.node(), await place.node('other')] as const;
  for (const node of nodes) await node.caughtUp();
  for (const node of nodes)
    node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }));
  await place.logged('ConversionExpired', 1);
  for (const node of nodes) await node.close();
  t.equal(place.log('ConversionExpired').length, 1, 'once, with two nodes at once');
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('a file past its retention is gone for holders of a link', async (t) => {
  const api = await startApi(t);
  const { id: ownId, key } = await api.newAccount();
  const body = { html: '<p>one</p>' };
  const { id } = (await api.call('POST', '/api/v1/pdf/', { key, body })).body;
  await api.complete(ownId, String(id), Buffer.from('%PDF-1.7'));
  const link = async (): Promise<string> =>
    String((await api.call('GET', `/api/v1/conversions/${String(id)}/`, { key })).body['file_url']);
  t.equal((await api.call('GET', await link())).status, 200);

  api.clock.time += 8 * DAY_MS;
  await api.runner.waitFor(await api.store.head());
  const retention = startRetention({ ...api, retentionSeconds, failedRetentionSeconds: 0 });
  await eventually('the deletion', async () =>
    (await api.store.readAll()).at(-1)?.type === 'ConversionExpired' ? true : undefined,
  );
  await retention.stop();
  api.clock.time -= 8 * DAY_MS;
  // By the clock it would still be kept: what says that it is gone is the event.
  t.strictSame(refusal(await api.call('GET', await link())), { status: 410, error: 'gone' });
  const [last] = (await api.store.readAll()).slice(-1);
  t.match(last, { type: 'ConversionExpired', data: { conversionId: id } });
});

void test('blobs that cannot be deleted hold up no others, and are tried again', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const stuck = await end(node, 'completed');
  const others = [await end(node, 'completed', NOW + 1), await end(node, 'completed', NOW + 2)];
  place.clock.time = NOW + 8 * DAY_MS;
  let broken = true;
  const blobs = Object.assign(Object.create(node.blobs) as typeof node.blobs, {
    deleteAll: async (conversionId: string) => {
      if (broken && conversionId === stuck.conversionId) {
        throw new BlobStoreUnavailable('The disk does not let it go.');
      }
      await node.blobs.deleteAll(conversionId);
    },
  });
  const retention = node.run(
    startRetention({ ...node, blobs, retentionSeconds, failedRetentionSeconds: 0 }),
  );
  const ids = others.map(({ conversionId }) => conversionId);
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 2)), ids);
  t.ok(await isKept(node, stuck));
  broken = false;
  retention.wake();
  const all = conversionsOf(await place.logged('ConversionExpired', 3));
  t.strictSame(all, [...ids, stuck.conversionId]);
  t.notOk(await isKept(node, stuck));
});

void test('the request of a failed conversion is kept for its own time', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const [early, late] = [await end(node, 'pictured'), await end(node, 'failed', NOW + 1000)];
  t.equal(early.blobs.length, 2);
  const stored = () => node.readModel.query(storedBlobQueries).bytesOf(accountId());
  const all = [early, late].flatMap(({ blobs }) => blobs);
  t.equal(
    stored(),
    all.reduce((sum, { bytes }) => sum + bytes, 0),
    'the picture counts',
  );
  t.ok(await isKept(node, early));
  place.clock.time = NOW + DAY_MS + 1;
  const failedRetentionSeconds = DAY_MS / 1000;
  const retention = node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds }));
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 1)), [early.conversionId]);
  t.notOk(await isKept(node, early));
  t.ok(await isKept(node, late));
  place.clock.time = NOW + DAY_MS + 1001;
  retention.wake();
  await place.logged('ConversionExpired', 2);
  t.notOk(await isKept(node, late));
});

void test('where an account stores too much, its oldest failed requests go, and no more', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1);
  await node.openAccount(2);
  const html = `<!--${'x'.repeat(10_000)}-->`;
  const good = await end(node, 'completed', NOW, html);
  const bad = [];
  for (const n of [3, 1, 2]) bad.push(await end(node, 'failed', NOW + n, html));
  const stored = () => node.readModel.query(storedBlobQueries).bytesOf(accountId());
  const one = bad[0]?.blobs[0]?.bytes ?? 0;
  const budgets = new Budgets({ ...DEFAULT_LIMITS, maxAccountStoredBytes: stored() - one - 1 });
  const lasting = node.readModel.query(storedBlobQueries).lastingBytesOf(accountId());
  t.equal(lasting, stored() - 3 * one, 'they keep no room from others');
  node.run(startRetention({ ...node, budgets, retentionSeconds, failedRetentionSeconds: 86_400 }));
  const expired = conversionsOf(await place.logged('ConversionExpired', 2));
  t.strictSame(expired, [bad[1]?.conversionId, bad[2]?.conversionId], 'the oldest first');
  t.ok(await isKept(node, good));
  t.ok(bad[0] && (await isKept(node, bad[0])), 'there is room for it');
  await node.caughtUp();
  t.equal(stored(), lasting + one);
});
