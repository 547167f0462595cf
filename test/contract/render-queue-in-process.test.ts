import { test } from 'tap';
import { InProcessRenderQueue } from '../../src/render-queue/in-process.ts';
import { drain, idsOf, recordReports, renderJob } from '../support/render-queue.ts';
import { conversionId } from '../support/samples.ts';
import { runRenderQueueContract } from './render-queue-contract.ts';

runRenderQueueContract({ name: 'in process', open: async () => new InProcessRenderQueue() });

void test('accounts with equal slot time take exact turns', async (t) => {
  const queue = new InProcessRenderQueue(() => 0);
  recordReports(queue);
  for (const n of [1, 2, 3, 4]) await queue.offer(renderJob(n, 1));
  for (const n of [5, 6]) await queue.offer(renderJob(n, 2));
  await queue.offer(renderJob(7, 3));
  t.strictSame(idsOf(await drain(queue, 7)), [1, 5, 7, 2, 6, 3, 4].map(conversionId));
});
