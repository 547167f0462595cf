/** An event wakes the managers that have something to do after it, and no other. */
import { test } from 'tap';
import { conversionAggregate } from '../../../src/domain/conversion.ts';
import { startDispatch } from '../../../src/process-managers/dispatch.ts';
import { startErasures } from '../../../src/process-managers/erasures.ts';
import { startOrphanSweep } from '../../../src/process-managers/orphans.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRefunds } from '../../../src/process-managers/refunds.ts';
import { startRetention } from '../../../src/process-managers/retention.ts';
import { completed, failed, openManagedPlace } from '../../support/process-managers.ts';
import { accountId, NOW } from '../../support/samples.ts';

const WEEK = { retentionSeconds: 604_800 };

void test('a download wakes no manager; a request and a failure wake those who act on them', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  let woken = 0;
  const onCommit = node.runner.onCommit.bind(node.runner);
  node.runner.onCommit = (hear, types) =>
    onCommit((events) => {
      woken += 1;
      hear(events);
    }, types);
  /** The listeners that hear of the work. */
  const wokenBy = async (work: () => Promise<unknown>): Promise<number> => {
    await node.caughtUp();
    woken = 0;
    await work();
    await node.caughtUp();
    return woken;
  };
  await node.openAccount();
  node.run(startDispatch(node));
  node.run(startErasures(node));
  node.run(startRetention({ ...node, ...WEEK, failedRetentionSeconds: 0 }));
  node.run(startOrphanSweep({ ...node, ...WEEK }));
  node.run(startOutcomes(node));
  node.run(startRefunds(node));

  let id = '';
  const requested = await wokenBy(async () => (id = await node.request()));
  t.equal(requested, 1, 'a request wakes dispatch');
  const document = await node.storeDocument(id);
  const report = completed({ conversionId: id, attempt: 1 }, document);
  t.equal(await wokenBy(() => node.queue.report(report)), 1, 'an end makes room for dispatch');
  const download = {
    type: 'RecordDownload',
    accountId: accountId(),
    conversionId: id,
    at: NOW,
    network: 'ab'.repeat(32),
  } as const;
  const context = {
    commandId: `download/${id}`,
    metadata: {
      correlationId: id,
      causationId: id,
      actor: { kind: 'account', id: accountId() },
      time: NOW,
    },
  } as const;
  const downloaded = await wokenBy(() =>
    node.actors.send(conversionAggregate, id, download, context),
  );
  t.equal(place.log('DocumentDownloaded').length, 1);
  t.equal(downloaded, 0, 'a download wakes nobody');

  const other = await node.request();
  const failure = failed({ conversionId: other, attempt: 1 });
  const after = await wokenBy(() => node.queue.report(failure));
  t.equal(after, 3, 'a failure wakes dispatch, refunds and retention');
});
