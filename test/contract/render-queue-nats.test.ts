import { pino } from 'pino';
import { test } from 'tap';
import { connectToNats } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { drain, recordReports, renderJob } from '../support/render-queue.ts';
import { conversionId } from '../support/samples.ts';
import { runRenderQueueContract } from './render-queue-contract.ts';

const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));

runRenderQueueContract({
  name: 'NATS',
  open: async (t) => {
    const { url } = await startNatsServer(t);
    const link = await connectToNats(url, { name: 'test', logger });
    t.teardown(() => link.close());
    return await NatsRenderQueue.open({ link, logger, side: 'both' });
  },
});

void test('deployments on one server keep to their own jobs and reports', async (t) => {
  const { url } = await startNatsServer(t);
  const open = async (namespace: string): Promise<NatsRenderQueue> => {
    const link = await connectToNats(`${url}?namespace=${namespace}`, { name: 'test', logger });
    const queue = await NatsRenderQueue.open({ link, logger, side: 'both' });
    t.teardown(async () => {
      await queue.close();
      await link.close();
    });
    return queue;
  };
  const queues = [await open('one'), await open('two')];
  const recorded = queues.map((queue) => recordReports(queue));
  for (const [n, queue] of queues.entries()) await queue.offer(renderJob(n));
  for (const [n, queue] of queues.entries()) {
    t.strictSame(await drain(queue, 1), [renderJob(n)]);
  }
  const told = recorded.map((reports) => [...new Set(reports.map((each) => each.conversionId))]);
  t.strictSame(told, [[conversionId(0)], [conversionId(1)]]);
  for (const queue of queues) t.equal(queue.waiting(), 0);
});
