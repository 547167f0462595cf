import { test } from 'tap';
import type { Plans } from '../../../src/accounts/rate-limits.ts';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { type AccountCommand, accountAggregate } from '../../../src/domain/account.ts';
import { startRenewals } from '../../../src/process-managers/renewals.ts';
import { balanceOf, violations } from '../../support/invariants.ts';
import { type ManagedNode, openManagedPlace } from '../../support/process-managers.ts';
import { accountId } from '../../support/samples.ts';

const PLANS: Plans = new Map([['team', { rateLimit: 300, creditsMonthly: 7 }]]);
const [NOVEMBER, DECEMBER, FEBRUARY] = [
  '2026-11-30T23:59',
  '2026-12-01T00:00',
  '2027-02-10T12:00',
].map((time) => Date.parse(`${time}:00Z`)) as [number, number, number];

const send = async (node: ManagedNode, command: AccountCommand): Promise<void> => {
  await node.actors.send(accountAggregate, command.accountId, command, operatorContext(node.clock));
};
const setPlan = (node: ManagedNode, n: number, plan: string) =>
  send(node, { type: 'ChangePlan', accountId: accountId(n), plan });

/** What was granted for months: the account and the month. */
function renewals(place: ReturnType<typeof openManagedPlace>): [string, string][] {
  const grants = place
    .log('CreditGranted')
    .map(({ data }) => JSON.parse(data) as { accountId: string; month?: string });
  return grants.flatMap(({ accountId: id, month }): [string, string][] =>
    month === undefined ? [] : [[id, month]],
  );
}

void test('a month is granted once, also after a stop over its turn and by two nodes', async (t) => {
  const place = openManagedPlace(t);
  place.clock.time = NOVEMBER;
  const nodes = [await place.node('one'), await place.node('two')] as const;
  const [node] = nodes;
  for (const n of [1, 2, 3]) await node.openAccount(n, 1);
  await setPlan(node, 1, 'team');
  await setPlan(node, 2, 'team');
  for (const each of nodes) await each.caughtUp();
  const managers = nodes.map((each) => startRenewals({ ...each, plans: PLANS }));
  await place.logged('CreditGranted', 5);
  const expected: [string, string][] = [
    [accountId(1), '2026-11'],
    [accountId(2), '2026-11'],
  ];
  t.strictSame(renewals(place), expected, 'who is on the plan, and nobody else');

  place.clock.time = DECEMBER;
  for (const each of managers) each.wake();
  await place.logged('CreditGranted', 7);
  for (const each of managers) await each.stop();
  expected.push([accountId(1), '2026-12'], [accountId(2), '2026-12']);
  t.strictSame(renewals(place), expected);

  // Nothing runs over the turns of two months.
  place.clock.time = FEBRUARY;
  await setPlan(node, 2, 'pro');
  await node.caughtUp();
  const again = node.run(startRenewals({ ...node, plans: PLANS }));
  await place.logged('CreditGranted', 8);
  again.wake();
  await again.stop();
  expected.push([accountId(1), '2027-02']);
  t.strictSame(renewals(place), expected, 'the running month alone');
  t.equal(balanceOf(place.log(), accountId(1)), 22);
  t.strictSame(violations(place.log(), { settled: true }), []);
});

void test('a change of the plan grants at once, a suspension nothing until its end', async (t) => {
  const place = openManagedPlace(t);
  place.clock.time = DECEMBER;
  const node = await place.node();
  for (const n of [1, 2]) await node.openAccount(n, 1);
  const suspend = {
    type: 'SuspendAccount',
    accountId: accountId(2),
    reason: 'v1.r',
    now: DECEMBER,
  };
  await send(node, suspend as AccountCommand);
  await setPlan(node, 2, 'team');
  await node.caughtUp();
  node.run(startRenewals({ ...node, plans: PLANS }));
  await setPlan(node, 1, 'team');
  await place.logged('CreditGranted', 3);
  t.strictSame(renewals(place), [[accountId(1), '2026-12']]);
  await setPlan(node, 1, 'free');
  await setPlan(node, 1, 'team');
  await send(node, { type: 'ResumeAccount', accountId: accountId(2), now: DECEMBER });
  await place.logged('CreditGranted', 4);
  t.strictSame(renewals(place), [
    [accountId(1), '2026-12'],
    [accountId(2), '2026-12'],
  ]);
});

void test('an account that is full does not keep others from theirs', async (t) => {
  const place = openManagedPlace(t);
  place.clock.time = DECEMBER;
  const node = await place.node();
  await node.openAccount(1, 1_000_000_000_000);
  await node.openAccount(2, 1);
  for (const n of [1, 2]) await setPlan(node, n, 'team');
  await node.caughtUp();
  const manager = startRenewals({ ...node, plans: PLANS });
  await place.logged('CreditGranted', 3);
  await manager.stop();
  t.strictSame(renewals(place), [[accountId(2), '2026-12']]);
});

void test('an account whose stream cannot be read does not keep others from theirs', async (t) => {
  const place = openManagedPlace(t);
  place.clock.time = DECEMBER;
  const node = await place.node();
  for (const n of [1, 2]) await node.openAccount(n, 1);
  for (const n of [1, 2]) await setPlan(node, n, 'team');
  await node.caughtUp();
  let isBroken = true;
  const actors = Object.assign(Object.create(node.actors) as typeof node.actors, {
    send: (...given: Parameters<typeof node.actors.send>) =>
      isBroken && given[1] === accountId(1)
        ? Promise.reject(new Error('an event that nobody can read'))
        : node.actors.send(...given),
  });
  const manager = startRenewals({ ...node, actors, plans: PLANS });
  await place.logged('CreditGranted', 3);
  t.strictSame(renewals(place), [[accountId(2), '2026-12']]);
  isBroken = false;
  manager.wake();
  await place.logged('CreditGranted', 4);
  await manager.stop();
  t.strictSame(renewals(place)[1], [accountId(1), '2026-12'], 'once it can be read');
});
