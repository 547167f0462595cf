import { hash } from 'node:crypto';
import { pino } from 'pino';
import { test } from 'tap';
import { BlobStoreUnavailable } from '../../src/blob-store/port.ts';
import type { BlobRef } from '../../src/domain/events.ts';
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
  recordReports(queue);
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
