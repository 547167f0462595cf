import { test } from 'tap';
import { accountAggregate } from '../../../src/domain/account.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { startRefunds } from '../../../src/process-managers/refunds.ts';
import { balanceOf, violations } from '../../support/invariants.ts';
import {
  conversionsOf,
  failed,
  type ManagedNode,
  openManagedPlace,
} from '../../support/process-managers.ts';
import { accountId } from '../../support/samples.ts';

/** Lets so many conversions of each account fail, in another order than they were accepted in. */
async function fail(node: ManagedNode, count: number, accounts = 1): Promise<void> {
  const outcomes = startOutcomes(node);
  for (let account = 1; account <= accounts; account += 1) {
    await node.openAccount(account, count);
    const ids = await Promise.all(Array.from({ length: count }, () => node.request(account)));
    await Promise.all(
      ids
        .toReversed()
        .map((conversionId) => failed({ conversionId, accountId: accountId(account), attempt: 1 }))
        .map((report) => node.queue.report(report)),
    );
  }
  await outcomes.stop();
}

void test('credits go back in the order of the failures, once', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  // More than refunds are read at a time.
  await fail(node, 203, 2);
  node.run(startRefunds(node));
  const refunds = await place.logged('CreditRefunded', 406);
  t.strictSame(conversionsOf(refunds), conversionsOf(place.log('ConversionFailed')));
  const [failure] = place.log('ConversionFailed');
  t.match(JSON.parse(refunds[0]?.data ?? ''), { failedAt: `${failure?.position}`, amount: 1 });
  t.match(JSON.parse(refunds[0]?.metadata ?? ''), {
    causationId: failure?.id,
    actor: { kind: 'service' },
  });
  for (const n of [1, 2]) t.equal(balanceOf(place.log(), accountId(n)), 203);
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('what cost nothing is not refunded, and what was paid after it is', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  node.run(startRefunds(node));
  for (const credits of ['on', 'off', 'on'] as const) {
    node.config.credits = credits;
    await fail(node, 1);
    // The only credit is back before the next request.
    await place.logged('CreditRefunded', 1);
  }
  const failures = conversionsOf(place.log('ConversionFailed'));
  const refunds = await place.logged('CreditRefunded', 2);
  t.strictSame(conversionsOf(refunds), [failures[0], failures[2]]);
  t.equal(balanceOf(place.log(), accountId()), 1);
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('a failure while it runs is refunded', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  node.run(startRefunds(node));
  await fail(node, 3);
  await place.logged('CreditRefunded', 3);
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('two nodes at once refund once', async (t) => {
  const place = openManagedPlace(t);
  const nodes = [await place.node('one'), await place.node('two')] as const;
  await fail(nodes[0], 60, 2);
  for (const node of nodes) await node.caughtUp();
  for (const node of nodes) node.run(startRefunds(node));
  await place.logged('CreditRefunded', 120);
  for (const node of nodes) await node.close();
  t.strictSame(violations(place.log(), { settled: true }), []);
  for (const n of [1, 2]) t.equal(balanceOf(place.log(), accountId(n)), 60);
});

void test('a crash in between refunds no credit twice and forgets none', async (t) => {
  const place = openManagedPlace(t);
  const before = await place.node();
  await fail(before, 5);
  const broken = Promise.withResolvers<void>();
  let appends = 0;
  // The third refund is stored, and the process ends before it knows.
  before.store.beforeAppend = async () => {
    appends += 1;
    if (appends === 3) before.store.faults.push('acknowledgement lost');
    if (appends === 4) throw new Error('It was to end before this.');
  };
  const refunds = startRefunds({
    ...before,
    logger: Object.assign(Object.create(before.logger), { error: () => broken.resolve() }),
  });
  await broken.promise;
  await refunds.stop();
  await before.close();
  t.equal(place.log('CreditRefunded').length, 3);
  place.forgetReadModel();

  const after = await place.node();
  after.run(startRefunds(after));
  const given = await place.logged('CreditRefunded', 5);
  t.strictSame(conversionsOf(given), conversionsOf(place.log('ConversionFailed')));
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('a store that fails is asked again', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await fail(node, 2);
  node.store.faults.push('unavailable');
  node.run(startRefunds(node));
  await place.logged('CreditRefunded', 2);
  const { state } = await node.actors.read(accountAggregate, accountId());
  t.equal(state.credits, 2);
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('a stop does not wait for the backlog, and the next start does the rest', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await fail(node, 100);
  await node.caughtUp();
  const first = Promise.withResolvers<void>();
  node.store.beforeAppend = async () => first.resolve();
  const refunds = startRefunds(node);
  await first.promise;
  await refunds.stop();
  t.equal(place.log('CreditRefunded').length, 1);
  node.run(startRefunds(node));
  await place.logged('CreditRefunded', 100);
  t.strictSame(violations(place.log(), { settled: true }), []);
});
