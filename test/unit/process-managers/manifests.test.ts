/** A completed conversion's manifest: stored with its event, found by it, gone with the rest. */
import { randomBytes } from 'node:crypto';
import { test } from 'tap';
import { readRenderManifest } from '../../../src/conversions/render-manifest.ts';
import type { EventOf } from '../../../src/domain/events.ts';
import { MAX_MANIFEST_BYTES } from '../../../src/domain/render-manifest.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRetention } from '../../../src/process-managers/retention.ts';
import { completed, failed, manifestOf, openManagedPlace } from '../../support/process-managers.ts';
import { DAY_MS } from '../../support/samples.ts';

async function rendered(t: Parameters<typeof openManagedPlace>[0]) {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  const conversionId = await node.request();
  const document = await node.storeDocument(conversionId);
  node.run(startOutcomes(node));
  return { place, node, conversionId, document, job: { conversionId, attempt: 1 } };
}

const noted = (noise: string): string => JSON.stringify({ version: 1, noise });

void test('it is stored with its event and read back by it, however large', async (t) => {
  for (const bytes of [10, MAX_MANIFEST_BYTES / 2 - 20]) {
    const { node, conversionId, document, job } = await rendered(t);
    await t.rejects(readRenderManifest(node, conversionId), { code: 'not_found' }, 'not yet');
    const noise = randomBytes(bytes).toString('hex');
    await node.queue.report({ ...completed(job, document), manifest: noted(noise) });
    t.match(await readRenderManifest(node, conversionId), { noise });
  }
});

void test('its event and a small manifest are one append', async (t) => {
  const { place, node, conversionId, document, job } = await rendered(t);
  const before = place.storedKeys();
  let appends = 0;
  node.store.beforeAppend = async () => {
    appends += 1;
    t.strictSame(place.storedKeys(), before, 'nothing is stored before it');
  };
  await node.queue.report({ ...completed(job, document), manifest: noted('x') });
  t.equal(appends, 1);
  const { key } = await manifestOf(node.store, conversionId);
  t.strictSame(place.storedKeys(), [...before, key].toSorted());
  t.match(await readRenderManifest(node, conversionId), { noise: 'x' });
});

void test('warnings are in the event, encrypted', async (t) => {
  const { place, node, document, job } = await rendered(t);
  const warnings = ['logo.png was answered with status 404.'];
  await node.queue.report({ ...completed(job, document), warnings });
  const [end] = place.log('ConversionCompleted');
  t.notMatch(end?.data, /logo/);
  const data = JSON.parse(end?.data ?? '{}') as EventOf<'ConversionCompleted'>['data'];
  const told = await node.vault.unseal(data.accountId, data.warnings ?? '');
  t.strictSame(JSON.parse(told), warnings);
});

void test('one that is too large fails its conversion rather than coming back for ever', async (t) => {
  const { place, node, conversionId, document, job } = await rendered(t);
  const manifest = 'x'.repeat(MAX_MANIFEST_BYTES + 1);
  await node.queue.report({ ...completed(job, document), manifest });
  const [end] = place.log('ConversionFailed');
  t.match(JSON.parse(end?.data ?? ''), { conversionId, code: 'renderer_failed' });
  const why = { code: 'not_found', message: /failed: The renderer reported more/ };
  await t.rejects(readRenderManifest(node, conversionId), why);
  node.run(
    startRetention({ ...node, retentionSeconds: (7 * DAY_MS) / 1000, failedRetentionSeconds: 0 }),
  );
  await place.logged('ConversionExpired', 1);
  await t.rejects(readRenderManifest(node, conversionId), why, 'also when its request is deleted');
});

void test('that of an outcome that came too late is not kept', async (t) => {
  const { place, node, document, job } = await rendered(t);
  const before = place.storedKeys();
  await node.queue.report(failed(job));
  await node.queue.report({ ...completed(job, document), attempt: 2, manifest: noted('late') });
  t.strictSame(place.storedKeys(), before);
});

void test('it goes with the retention, and its hash stays', async (t) => {
  const { place, node, conversionId, document, job } = await rendered(t);
  await node.queue.report({ ...completed(job, document), manifest: noted('x') });
  await node.caughtUp();
  place.clock.time += 8 * DAY_MS;
  node.run(
    startRetention({ ...node, retentionSeconds: (7 * DAY_MS) / 1000, failedRetentionSeconds: 0 }),
  );
  await place.logged('ConversionExpired', 1);
  await t.rejects(readRenderManifest(node, conversionId), { code: 'gone' });
  const ref = await manifestOf(node.store, conversionId);
  await t.rejects(node.blobs.read(ref), { name: 'BlobNotFound' });
});
