import { setTimeout as pause } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import tap, { test } from 'tap';
import { connectToNats } from '../../src/nats/connection.ts';
import type { RenderJob } from '../../src/render-queue/messages.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';
import { listJobs } from '../../src/render-queue/nats/streams.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';
import {
  completedReport,
  drain,
  failedReport,
  recordReports,
  renderJob,
  startedReport,
} from '../support/render-queue.ts';
import { conversionId } from '../support/samples.ts';
import { filesBelow, findTexts } from '../support/telling-texts.ts';
import { runRenderQueueContract } from './render-queue-contract.ts';

const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }, pino.destination(2));

// Each has a server of its own, and waits more than it works.
tap.jobs = 4;

runRenderQueueContract({
  name: 'NATS',
  open: async (t) => {
    const { url } = await startNatsServer(t);
    const open = async (side: 'both' | 'recorder'): Promise<NatsRenderQueue> => {
      const link = await connectToNats(url, { name: side, logger });
      t.teardown(() => link.close());
      return await NatsRenderQueue.open({ link, logger, side });
    };
    const [queue, recorder] = [await open('both'), await open('recorder')];
    t.teardown(() => recorder.close());
    // An API node that leads publishes what others record.
    queue.onReport = (handle, sign) => recorder.onReport(handle, sign);
    return queue;
  },
});

void test('a job that was tried is a retry, also where it was taken out of the stream', async (t) => {
  const { url } = await startNatsServer(t);
  const link = await connectToNats(url, { name: 'test', logger });
  const queue = await NatsRenderQueue.open({ link, logger, side: 'both' });
  t.teardown(async () => {
    await queue.close();
    await link.close();
  });
  const manager = await jetstreamManager(link.connection);
  const reports = recordReports(queue);
  await queue.offer(renderJob(1));
  const taken: RenderJob[] = [];
  queue.consume(1, async (delivery) => {
    const { job } = delivery;
    taken.push(job);
    const n = Number(job.conversionId.slice(-10));
    const about = { accountId: job.accountId, delivery: `${taken.length}` };
    await queue.report({ ...startedReport(n), ...about });
    if (taken.length > 1) {
      if (taken.length === 2) {
        const isThere = async () => (await listJobs(manager, link.namespace))?.has(conversionId(1));
        while (await isThere()) await pause(50);
      }
      await queue.report({ ...completedReport(n), ...about });
      return delivery.ack();
    }
    // Others wait by now, and a page that ran into the time limit holds its account back.
    for (let other = 2; other < 6; other += 1) await queue.offer(renderJob(other, 2));
    await eventually('the others', () => queue.waiting() === 4 || undefined);
    await queue.report({ ...failedReport(n), ...about, retryable: true });
    delivery.nack();
  });
  await eventually('the end', () => taken.length === 6 || undefined);
  t.strictSame(taken.at(-1), { ...renderJob(1), retry: true });
  t.equal(reports.filter(({ kind }) => kind === 'failed').length, 1);
});

void test('no content key stays on the disk of the server', async (t) => {
  const { url, storeDir } = await startNatsServer(t);
  const link = await connectToNats(url, { name: 'test', logger });
  const queue = await NatsRenderQueue.open({ link, logger, side: 'both' });
  t.teardown(async () => {
    await queue.close();
    await link.close();
  });
  recordReports(queue);
  const { contentKey } = renderJob(1);
  const found = () => findTexts(filesBelow(storeDir), { contentKey });
  await queue.offer(renderJob(1));
  await queue.offer(renderJob(2));
  await eventually('a job on the disk', () => found().length > 0 || undefined);
  await drain(queue, 2);
  t.strictSame(found(), []);
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
