import { test } from 'tap';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { type AccountCommand, accountAggregate } from '../../../src/domain/account.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRetention } from '../../../src/process-managers/retention.ts';
import {
  completed,
  conversionsOf,
  failed,
  type ManagedNode,
  openManagedPlace,
} from '../../support/process-managers.ts';
import { accountId, DAY_MS, NOW } from '../../support/samples.ts';

const retentionSeconds = (7 * DAY_MS) / 1000;

/** A conversion of the account that ended at that time. @returns its id */
async function end(node: ManagedNode, n: number, how: 'completed' | 'failed'): Promise<string> {
  const conversionId = await node.request(n);
  await node.caughtUp();
  const outcomes = startOutcomes(node);
  const job = { conversionId, attempt: 1, accountId: accountId(n) };
  const report =
    how === 'failed' ? failed(job) : completed(job, await node.storeDocument(conversionId, n));
  await node.queue.report({ ...report, at: node.clock.now() });
  await outcomes.stop();
  await node.caughtUp();
  return conversionId;
}

async function send(
  node: ManagedNode,
  command: { type: 'PlaceHold'; until?: number } | { type: 'ReleaseHold' },
): Promise<void> {
  const about = { accountId: accountId(), now: node.clock.now() };
  const sent: AccountCommand = { ...command, ...about };
  await node.actors.send(accountAggregate, accountId(), sent, operatorContext(node.clock));
}

void test('a hold keeps what was stored before and after it, until it is released', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1);
  await node.openAccount(2);
  const before = await end(node, 1, 'completed');
  await send(node, { type: 'PlaceHold' });
  const after = [await end(node, 1, 'completed'), await end(node, 1, 'failed')];
  const others = await end(node, 2, 'completed');
  place.clock.time = NOW + 8 * DAY_MS;
  const retention = node.run(
    startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }),
  );
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 1)), [others]);
  // Another account's next one shows that a later round has left the held ones, too.
  place.clock.time = NOW + 9 * DAY_MS;
  const second = await end(node, 2, 'completed');
  place.clock.time = NOW + 17 * DAY_MS;
  retention.wake();
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 2)), [others, second]);
  t.ok(node.readModel.query(storedBlobQueries).of(before), 'past its retention');

  await send(node, { type: 'ReleaseHold' });
  await node.caughtUp();
  retention.wake();
  const expired = conversionsOf(await place.logged('ConversionExpired', 5)).slice(2);
  t.strictSame(expired.toSorted(), [before, ...after].toSorted());
});

void test('a hold that ends by itself is over without an event', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1);
  const kept = [await end(node, 1, 'completed'), await end(node, 1, 'failed')];
  const until = NOW + 30 * DAY_MS;
  await send(node, { type: 'PlaceHold', until });
  await node.caughtUp();
  const due = (now: number) =>
    node.readModel
      .query(storedBlobQueries)
      .due(now, { completed: now - retentionSeconds * 1000, failed: now }, 10)
      .map(({ conversionId }) => conversionId);
  t.strictSame(due(until - 1), []);
  t.strictSame(due(until).toSorted(), kept.toSorted());
  place.clock.time = until;
  const late = await end(node, 1, 'completed');
  const retention = node.run(
    startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }),
  );
  const expired = conversionsOf(await place.logged('ConversionExpired', 2));
  t.strictSame(expired.toSorted(), kept.toSorted());
  t.strictSame(due(until + DAY_MS), [], 'what ended later has its own retention');
  place.clock.time = until + 8 * DAY_MS;
  retention.wake();
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 3)).at(-1), late);
});

void test('a hold that the read model has not heard of is respected', async (t) => {
  const place = openManagedPlace(t);
  const [node, operator] = [await place.node(), await place.node('operator')] as const;
  await node.openAccount(1);
  await node.openAccount(2);
  const kept = await end(node, 1, 'completed');
  const others = await end(node, 2, 'completed');
  await node.runner.stop();
  await send(operator, { type: 'PlaceHold' });
  place.clock.time = NOW + 8 * DAY_MS;
  node.run(startRetention({ ...node, retentionSeconds, failedRetentionSeconds: 0 }));
  t.strictSame(conversionsOf(await place.logged('ConversionExpired', 1)), [others]);
  t.ok(node.readModel.query(storedBlobQueries).of(kept));
});
