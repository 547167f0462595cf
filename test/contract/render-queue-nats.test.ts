import { hash } from 'node:crypto';
import { pino } from 'pino';
import { test } from 'tap';
import { BlobStoreUnavailable } from '../../src/blob-store/port.ts';
import type { BlobRef } from '../../src/domain/events.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { completedReport, drain, renderJob } from '../support/render-queue.ts';
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
  const reported = queues.map((): string[] => []);
  for (const [n, queue] of queues.entries()) {
    queue.reports(async ({ conversionId: id }) => void reported[n]?.push(id));
    await queue.offer(renderJob(n));
  }
  for (const [n, queue] of queues.entries()) {
    t.strictSame(await drain(queue, 1), [renderJob(n)]);
    await queue.report(completedReport(n));
  }
  t.strictSame(reported, [[conversionId(0)], [conversionId(1)]]);
  for (const queue of queues) t.equal(queue.waiting(), 0);
});

void test('a request that renderers cannot read goes along with its job', async (t) => {
  const { url } = await startNatsServer(t);
  const link = await connectToNats(url, { name: 'test', logger });
  const contents = new Map<string, Buffer>();
  const carry = ({ key }: BlobRef): Buffer | undefined => {
    if (key === renderJob(3).request.key) throw new BlobStoreUnavailable('It is damaged.');
    return contents.get(key);
  };
  const queue = await NatsRenderQueue.open({ link, logger, side: 'both', carry });
  t.teardown(async () => {
    await queue.close();
    await link.close();
  });
  const content = Buffer.from([0xff, 0xfe, 0, 1]);
  const sha256 = hash('sha256', content);
  const key = `${conversionId(1)}/request-${sha256}`;
  contents.set(key, content);
  const carried = { ...renderJob(1), request: { key, sha256, bytes: content.length } };
  for (const job of [carried, renderJob(2), renderJob(3)]) await queue.offer(job);
  t.strictSame(await drain(queue, 3), [
    { ...carried, storedRequest: content.toString('base64') },
    renderJob(2),
    renderJob(3),
  ]);
});
