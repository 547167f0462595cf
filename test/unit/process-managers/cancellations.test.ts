import { test } from 'tap';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { takeBack } from '../../../src/conversions/take-back.ts';
import { startCancellations } from '../../../src/process-managers/cancellations.ts';
import { startDispatch } from '../../../src/process-managers/dispatch.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { eventually } from '../../support/deadline.ts';
import { violations } from '../../support/invariants.ts';
import { openManagedPlace } from '../../support/process-managers.ts';
import { hold, idsOf } from '../../support/render-queue.ts';
import { accountId } from '../../support/samples.ts';

void test('what is cancelled leaves the queue, and the renderer that has it hears of it', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount();
  node.run(startOutcomes(node));
  node.run(startDispatch(node));
  node.run(startCancellations(node));
  const [running, waiting, next] = [
    await node.request(),
    await node.request(),
    await node.request(),
  ];
  const renderer = hold(node.queue, 1);
  const delivery = await renderer.delivery(0);
  const by = operatorContext(node.clock);
  for (const id of [running, waiting]) {
    await node.caughtUp();
    await takeBack(node, { id, accountId: accountId() }, by);
  }
  await eventually('the renderer to hear of it', () => delivery.unneeded.aborted || undefined);
  // What it reports all the same changes nothing.
  await delivery.ack();
  await (await renderer.delivery(1)).ack();
  t.strictSame(idsOf(renderer.jobs), [running, next]);
  t.equal(node.queue.waiting(), 0);
  t.strictSame(violations(place.log(), { settled: false }), []);
});
