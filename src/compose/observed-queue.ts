/** The render queue, with its renderings counted, and their traces carried over it. */
import { timeOfId } from '../ids.ts';
import type { RenderMetrics } from '../metrics/definitions.ts';
import type { CompletedOutcome, RenderReport } from '../render-queue/messages.ts';
import type { Delivery, RenderQueue } from '../render-queue/port.ts';
import type { Tracing } from '../tracing/port.ts';
import type { Observers } from './observed.ts';

type Handle = (delivery: Delivery) => Promise<void>;

/** The same queue, for others to replace some of it. */
const sameAs = (queue: RenderQueue): RenderQueue => ({
  offer: (job) => queue.offer(job),
  retain: (isUnfinished) => queue.retain(isUnfinished),
  consume: (slots, handle) => queue.consume(slots, handle),
  report: (report) => queue.report(report),
  onReport: (handle) => queue.onReport(handle),
  waiting: () => queue.waiting(),
  close: () => queue.close(),
});

export function observedQueue(queue: RenderQueue, { metrics, tracing }: Observers): RenderQueue {
  const counted = metrics?.render ? countedQueue(queue, metrics.render) : queue;
  return tracing ? tracedQueue(counted, tracing) : counted;
}

function countedQueue(queue: RenderQueue, metrics: RenderMetrics): RenderQueue {
  /** The end of each rendering under way, once it is reported. */
  const outcomes = new Map<string, string>();
  return {
    ...sameAs(queue),
    consume: (slots, handle) => {
      metrics.slots.set(slots);
      const consumer = queue.consume(slots, async (delivery) => {
        const { conversionId } = delivery.job;
        const begun = performance.now();
        metrics.slotsInUse.inc();
        let holds = true;
        const release = (): void => {
          if (holds) metrics.slotsInUse.dec();
          holds = false;
        };
        try {
          await handle(whenReleased(delivery, release));
        } finally {
          release();
          // Nothing was reported where the job was not begun, or not needed any more.
          const outcome = outcomes.get(conversionId) ?? 'none';
          outcomes.delete(conversionId);
          metrics.renderings.observe({ outcome }, (performance.now() - begun) / 1000);
        }
      });
      const stop = (): Promise<void> => {
        metrics.slots.set(0);
        return consumer.stop();
      };
      return { stop };
    },
    report: (report) => {
      if (report.kind !== 'started') outcomes.set(report.conversionId, report.kind);
      if (report.kind === 'completed') {
        for (const [phase, ms] of Object.entries(report.timings)) {
          metrics.phases.observe({ phase }, ms / 1000);
        }
      }
      return queue.report(report);
    },
  };
}

const whenReleased = (delivery: Delivery, release: () => void): Delivery => ({
  job: delivery.job,
  releaseSlot: () => {
    release();
    delivery.releaseSlot();
  },
  ack: () => delivery.ack(),
  nack: () => delivery.nack(),
  requeue: () => delivery.requeue(),
});

function tracedQueue(queue: RenderQueue, tracing: Tracing): RenderQueue {
  const traced =
    (handle: Handle): Handle =>
    (delivery) => {
      const { trace: parent, conversionId, retry } = delivery.job;
      // One that nobody traces must not be taken for a part of what was handled before it.
      if (parent === undefined) return tracing.outside(() => handle(delivery));
      const attributes = { 'pressledger.conversion.id': conversionId };
      if (!retry)
        tracing.record('queue', timeOfId(conversionId), Date.now(), { parent, attributes });
      return tracing.span('render', { kind: 'consumer', parent, attributes }, () =>
        handle(delivery),
      );
    };
  return {
    ...sameAs(queue),
    consume: (slots, handle) => queue.consume(slots, traced(handle)),
    report: (report) => {
      if (tracing.current() === undefined) return queue.report(report);
      if (report.kind === 'completed') recordPhases(report, tracing);
      return tracing.span(`report ${report.kind}`, { kind: 'client' }, (span) => {
        if (report.kind === 'failed') span.fail(report.code);
        const { traceParent: trace } = span;
        return queue.report(trace === undefined ? report : { ...report, trace });
      });
    },
    onReport: (handle) =>
      queue.onReport(({ trace: parent, ...report }: RenderReport) =>
        parent === undefined
          ? tracing.outside(() => handle(report))
          : tracing.span(`record ${report.kind}`, { kind: 'server', parent }, () => handle(report)),
      ),
  };
}

/** The phases in their order; the last has ended just now. */
const PHASES = ['queued', 'load', 'ready', 'print', 'store'] as const;

function recordPhases({ timings }: CompletedOutcome, tracing: Tracing): void {
  let from = Date.now() - PHASES.reduce((sum, phase) => sum + timings[phase], 0);
  for (const phase of PHASES) {
    const to = from + timings[phase];
    tracing.record(`phase ${phase}`, from, to);
    from = to;
  }
}
