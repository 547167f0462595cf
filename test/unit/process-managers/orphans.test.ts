/** The sweep takes what a crash left in the blob store, and leaves what an event names or may yet name. */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { unfinishedQueries } from '../../../projections/unfinished-conversions.ts';
import type { BlobRef } from '../../../src/domain/event-fields.ts';
import { startOrphanSweep } from '../../../src/process-managers/orphans.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRetention } from '../../../src/process-managers/retention.ts';
import { newConversionId } from '../../../src/time/ids.ts';
import {
  completed,
  failed,
  type ManagedNode,
  openManagedPlace,
} from '../../support/process-managers.ts';
import { DAY_MS, HOUR_MS, NOW } from '../../support/samples.ts';

const retentionSeconds = (7 * DAY_MS) / 1000;
const LARGE = `<!--${'x'.repeat(100_000)}-->`;

/** One whole sweep. */
async function sweep(node: ManagedNode): Promise<void> {
  const looked = Promise.withResolvers<void>();
  const blobs = Object.assign(Object.create(node.blobs) as typeof node.blobs, {
    claim: (log: string) => node.blobs.claim(log),
    delete: (key: string) => node.blobs.delete(key),
    async *list() {
      yield* node.blobs.list();
      looked.resolve();
    },
  });
  const sweeping = startOrphanSweep({ ...node, blobs, retentionSeconds });
  await looked.promise;
  await sweeping.stop();
}

async function stored(node: ManagedNode): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of node.blobs.list()) keys.push(key);
  return keys.toSorted();
}

async function store(
  node: ManagedNode,
  conversionId: string,
  kind: 'request' | 'document' | 'manifest',
): Promise<BlobRef> {
  const staged = node.blobs.stage(conversionId, kind, randomBytes(100_000));
  await staged.store();
  return staged.ref;
}

const keysOf = (...refs: readonly (BlobRef | undefined)[]) =>
  refs.map((ref) => ref?.key ?? 'none').toSorted();

async function open(t: Test) {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const pending = await node.request(1, LARGE);
  await node.caughtUp();
  const request = node.readModel.query(unfinishedQueries).byId(pending)?.request;
  return { place, node, pending, request };
}

void test('a request whose append a crash cut off is deleted when it is old enough', async (t) => {
  const { place, node, request } = await open(t);
  const log = new Sqlite(join(place.dataDir, 'pressledger.db'));
  t.teardown(() => log.close());
  log.exec("CREATE TRIGGER cut BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'cut off'); END");
  await t.rejects(node.request(1, LARGE));
  log.exec('DROP TRIGGER cut');
  t.equal((await stored(node)).length, 2, 'the crash left it');
  await sweep(node);
  t.equal((await stored(node)).length, 2, 'its event may be on its way');
  place.clock.time += HOUR_MS;
  await sweep(node);
  t.strictSame(await stored(node), keysOf(request), 'what waits to be rendered stays');
});

void test('PDFs that no event names go, when their conversion has ended', async (t) => {
  const { place, node, pending, request } = await open(t);
  const lost = await store(node, pending, 'document');
  const manifest = await store(node, pending, 'manifest');
  place.clock.time += HOUR_MS;
  await sweep(node);
  const all = keysOf(request, lost, manifest);
  t.strictSame(await stored(node), all, 'a report may still come');

  const document = await node.storeDocument(pending);
  const outcomes = startOutcomes(node);
  const report = { ...completed({ conversionId: pending, attempt: 1 }, document) };
  await node.queue.report({ ...report, at: place.clock.time });
  await outcomes.stop();
  await node.caughtUp();
  await sweep(node);
  t.strictSame(await stored(node), keysOf(request, lost, manifest, document), 'it has just ended');
  place.clock.time += HOUR_MS;
  await sweep(node);
  t.strictSame(await stored(node), keysOf(request, document));
});

void test('what comes after the deletion of its conversion is deleted', async (t) => {
  const { place, node, pending } = await open(t);
  const outcomes = startOutcomes(node);
  await node.queue.report(failed({ conversionId: pending, attempt: 1 }));
  await outcomes.stop();
  await node.caughtUp();
  node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }));
  await place.logged('ConversionExpired', 1);
  await store(node, pending, 'document');
  place.clock.time += HOUR_MS;
  await sweep(node);
  t.strictSame(await stored(node), []);
});

void test('a read model that is rebuilt loses nothing', async (t) => {
  const { place, node, request } = await open(t);
  await node.close();
  place.forgetReadModel();
  place.clock.time += HOUR_MS;
  const later = await place.node();
  await sweep(later);
  t.strictSame(await stored(later), keysOf(request));
});

void test('blobs of another log are left alone', async (t) => {
  const { place, node, request } = await open(t);
  await sweep(node);
  await node.close();
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(join(place.dataDir, `pressledger.db${suffix}`), { force: true });
  }
  place.forgetReadModel();
  const other = await place.node();
  await other.openAccount(2);
  place.clock.time += HOUR_MS;
  const warned = Promise.withResolvers<object>();
  const logger = Object.assign(Object.create(other.logger) as typeof other.logger, {
    warn: (text: object) => warned.resolve(text),
  });
  const sweeping = other.run(startOrphanSweep({ ...other, logger, retentionSeconds }));
  t.match(await warned.promise, /another event log/);
  await sweeping.stop();
  t.strictSame(await stored(other), keysOf(request));
});

void test('files that are not ours are left alone', async (t) => {
  const { place, node, request } = await open(t);
  const id = newConversionId(NOW - DAY_MS);
  const orphan = await store(node, id, 'request');
  const strange = join(place.dataDir, 'blobs', orphan.key.slice(29, 31), id, 'notes.txt');
  writeFileSync(strange, 'of somebody else');
  writeFileSync(join(place.dataDir, 'blobs', 'README'), 'of somebody else');
  await sweep(node);
  t.strictSame(await stored(node), keysOf(request));
  t.equal(readFileSync(strange, 'utf8'), 'of somebody else');
});
