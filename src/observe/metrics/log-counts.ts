import { decodeEvent } from '../../event-store/codec.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { typedHandlers } from '../../read-model/projection.ts';
import { timeOfId } from '../../time/ids.ts';
import type { ApiMetrics } from './definitions.ts';

/** Counts what events say. One process at a time may do so: the log is the same for all. */
export function eventCounter(metrics: ApiMetrics): (events: readonly RecordedEvent[]) => void {
  const ended = (outcome: string, conversionId: string, at: number): void =>
    metrics.conversionDuration.observe(
      { outcome },
      Math.max(0, at - timeOfId(conversionId)) / 1000,
    );
  const handlers = typedHandlers({
    ConversionRequested() {
      metrics.accepted.inc();
    },
    ConversionCompleted({ conversionId, completedAt }) {
      metrics.completed.inc();
      ended('completed', conversionId, completedAt);
    },
    ConversionFailed({ conversionId, code, failedAt }) {
      metrics.failed.inc({ reason: code });
      ended('failed', conversionId, failedAt);
    },
    CreditGranted({ amount }) {
      metrics.granted.inc(amount);
    },
    CreditDebited({ amount }) {
      metrics.debited.inc(amount);
    },
    CreditRefunded({ amount }) {
      metrics.refunded.inc(amount);
    },
  });
  return (events) => {
    for (const event of events) {
      const count = handlers[event.type];
      if (count) count({ ...event, ...decodeEvent(event) });
    }
  };
}
