/** Jobs, reports and renderers for tests of what lies on either side of the render queue. */
import { MAX_ATTEMPTS } from '../../src/domain/conversion.ts';
import type {
  CompletedOutcome,
  FailedOutcome,
  Recorded,
  RenderJob,
  RenderReport,
  RenderStart,
} from '../../src/render-queue/messages.ts';
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
  retry: false,
});

export const startedReport = (n = 1, delivery = '1'): RenderStart => ({
  kind: 'started',
  conversionId: conversionId(n),
  accountId: accountId(),
  renderer: 'test',
  delivery,
  at: NOW,
});

export const completedReport = (n = 1, attempt = 1): CompletedOutcome => ({
  ...startedReport(n, `${attempt}`),
  kind: 'completed',
  attempt,
  document: blobRef('document', n),
  pdf: PDF,
  pages: 1,
  timings: TIMINGS,
  chrome: 'Chrome/156.0',
  manifest: '{"version":1}',
});

export const failedReport = (n = 1, attempt = 1): FailedOutcome => ({
  ...startedReport(n, `${attempt}`),
  kind: 'failed',
  attempt,
  code: 'timeout',
  message: 'The page took too long.',
  retryable: false,
});

/**
 * Answers reports as the log does. @returns those that have come, in order
 * @param ended the conversions that have ended; a test may add some
 */
export function recordReports(
  queue: Pick<RenderQueue, 'onReport'>,
  ended = new Set<string>(),
): RenderReport[] {
  const reports: RenderReport[] = [];
  const tries = new Map<string, string[]>();
  queue.onReport(async (report): Promise<Recorded> => {
    const { conversionId: id, kind, delivery } = report;
    reports.push(report);
    const known = tries.get(id) ?? [];
    tries.set(id, known);
    if (kind === 'started' && known.length < MAX_ATTEMPTS) known.push(delivery);
    const attempt = known.indexOf(delivery) + 1;
    const isLast = kind === 'failed' && (!report.retryable || attempt === MAX_ATTEMPTS);
    if (kind === 'completed' || isLast || attempt === 0) ended.add(id);
    if (kind === 'requeued') known.pop();
    return { ended: ended.has(id), attempt };
  });
  return reports;
}

/** A delivery whose end is reported first, as renderers do. */
export interface HeldDelivery extends Pick<Delivery, 'job' | 'unneeded' | 'releaseSlot'> {
  ack(): Promise<void>;
  nack(): Promise<void>;
  requeue(): Promise<void>;
  /** The page ran into the time limit. */
  timeOut(): Promise<void>;
}

/** Whether a renderer of a test reports starts and outcomes. Then somebody must follow its reports. */
type Manner = 'reporting' | 'silent';

export function startRenderer(
  queue: RenderQueue,
  slots: number,
  handle: (delivery: HeldDelivery) => Promise<void>,
  manner: Manner = 'reporting',
): Consumer {
  const say = async (report: RenderReport): Promise<void> => {
    if (manner === 'reporting') await queue.report(report);
  };
  return queue.consume(slots, async (delivery) => {
    const { job } = delivery;
    const n = Number(job.conversionId.slice(-10));
    const name = `${performance.now()}`.replace('.', '-');
    const about = { accountId: job.accountId, delivery: name };
    await say({ ...startedReport(n), ...about });
    const failed = { ...failedReport(n), ...about };
    const after = (report: RenderReport, end: () => void) => async (): Promise<void> => {
      await say(report);
      end();
    };
    await handle({
      job,
      unneeded: delivery.unneeded,
      releaseSlot: () => delivery.releaseSlot(),
      ack: after({ ...completedReport(n), ...about }, () => delivery.ack()),
      nack: after({ ...failed, code: 'page_crashed', retryable: true }, () => delivery.nack()),
      requeue: after({ ...startedReport(n), ...about, kind: 'requeued', attempt: 1 }, () =>
        delivery.requeue(),
      ),
      timeOut: after(failed, () => delivery.ack()),
    });
  });
}

/** A renderer that keeps its deliveries until the test ends them. */
export interface Holder extends Consumer {
  /** Every job that it was ever handed, in order. */
  readonly jobs: readonly RenderJob[];
  /** The most that it had in flight at a time. */
  readonly most: number;
  /** The nth delivery (from 0), once it is there. */
  delivery(n: number): Promise<HeldDelivery>;
}

export function hold(queue: RenderQueue, slots: number, manner?: Manner): Holder {
  const jobs: RenderJob[] = [];
  const deliveries: HeldDelivery[] = [];
  let inFlight = 0;
  let most = 0;
  const handle = (delivery: HeldDelivery): Promise<void> => {
    const { job } = delivery;
    inFlight += 1;
    most = Math.max(most, inFlight);
    jobs.push(job);
    return new Promise<void>((resolve) => {
      const ended = (end: () => Promise<void>) => async (): Promise<void> => {
        inFlight -= 1;
        await end();
        resolve();
      };
      deliveries.push({
        job,
        unneeded: delivery.unneeded,
        releaseSlot: () => delivery.releaseSlot(),
        ack: ended(() => delivery.ack()),
        nack: ended(() => delivery.nack()),
        requeue: ended(() => delivery.requeue()),
        timeOut: ended(() => delivery.timeOut()),
      });
    });
  };
  const consumer = startRenderer(queue, slots, handle, manner);
  return {
    jobs,
    get most() {
      return most;
    },
    delivery: (n) => eventually(`delivery ${n}`, () => deliveries[n]),
    stop: () => consumer.stop(),
  };
}

/** Takes jobs and ends each at once, until so many have come; resolves with them in order. */
export async function drain(
  queue: RenderQueue,
  count: number,
  manner?: Manner,
): Promise<RenderJob[]> {
  const jobs: RenderJob[] = [];
  const handle = async (delivery: HeldDelivery): Promise<void> => {
    await delivery.ack();
    jobs.push(delivery.job);
  };
  const consumer = startRenderer(queue, 1, handle, manner);
  await eventually(`${count} jobs`, () => jobs.length >= count || undefined, 60_000);
  await consumer.stop();
  return jobs;
}

export const idsOf = (jobs: readonly Pick<RenderJob, 'conversionId'>[]): string[] =>
  jobs.map((job) => job.conversionId);
