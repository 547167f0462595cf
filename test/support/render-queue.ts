/** Jobs, reports and renderers for tests of what lies on either side of the render queue. */
import type { CompletedReport, RenderJob, StartedReport } from '../../src/render-queue/messages.ts';
import type { Consumer, Delivery, RenderQueue } from '../../src/render-queue/port.ts';
import { eventually } from './deadline.ts';
import {
  accountId,
  blobRef,
  CONTENT_KEY,
  conversionId,
  NOW,
  OPTIONS,
  PDF,
  TIMINGS,
} from './samples.ts';

export const renderJob = (n = 1, account = 1): RenderJob => ({
  conversionId: conversionId(n),
  accountId: accountId(account),
  request: blobRef('request', n),
  contentKey: CONTENT_KEY.toString('base64url'),
  options: OPTIONS,
  attempt: 1,
});

export const startedReport = (n = 1, attempt = 1): StartedReport => ({
  kind: 'started',
  conversionId: conversionId(n),
  accountId: accountId(),
  renderer: 'test',
  attempt,
  at: NOW,
});

export const completedReport = (n = 1, attempt = 1): CompletedReport => ({
  ...startedReport(n, attempt),
  kind: 'completed',
  document: blobRef('document', n),
  pdf: PDF,
  pages: 1,
  timings: TIMINGS,
  chrome: 'Chrome/156.0',
  manifest: '{"version":1}',
});

/** A renderer that keeps what it takes in hand until the test ends it. */
export interface Holder extends Consumer {
  /** Every job that it was ever handed, in order. */
  readonly jobs: readonly RenderJob[];
  /** The most that it had in hand at a time. */
  readonly most: number;
  /** The nth delivery (from 0), once it is there. */
  delivery(n: number): Promise<Delivery>;
}

export function hold(queue: RenderQueue, slots: number): Holder {
  const jobs: RenderJob[] = [];
  const deliveries: Delivery[] = [];
  let inHand = 0;
  let most = 0;
  const consumer = queue.consume(slots, (delivery) => {
    const { job } = delivery;
    inHand += 1;
    most = Math.max(most, inHand);
    jobs.push(job);
    return new Promise<void>((resolve) => {
      const ended = (end: () => Promise<void>) => async (): Promise<void> => {
        inHand -= 1;
        await end();
        resolve();
      };
      deliveries.push({
        job,
        releaseSlot: () => delivery.releaseSlot(),
        done: ended(() => delivery.done()),
        giveBack: ended(() => delivery.giveBack()),
        putBack: ended(() => delivery.putBack()),
      });
    });
  });
  return {
    jobs,
    get most() {
      return most;
    },
    delivery: (n) => eventually(`delivery ${n}`, () => deliveries[n], 10_000),
    stop: () => consumer.stop(),
  };
}

/** Takes jobs and ends each at once, until so many have come; resolves with them in order. */
export async function drain(queue: RenderQueue, count: number, slots = 1): Promise<RenderJob[]> {
  const jobs: RenderJob[] = [];
  const consumer = queue.consume(slots, async (delivery) => {
    jobs.push(delivery.job);
    await delivery.done();
  });
  await eventually(`${count} jobs`, () => jobs.length >= count || undefined, 10_000);
  await consumer.stop();
  return jobs;
}

export const idsOf = (jobs: readonly RenderJob[]): string[] => jobs.map((job) => job.conversionId);
