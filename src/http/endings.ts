/** Who waits for which conversion to end: one look at each commit for all of them. */
import type { EventType } from '../domain/events.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';

const ENDS: ReadonlySet<string> = new Set<EventType>(['ConversionCompleted', 'ConversionFailed']);

export class Endings {
  readonly #runner: Pick<ProjectionRunner, 'onCommit'>;
  /** By the conversion's id. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #endListening = (): void => {};

  constructor(runner: Pick<ProjectionRunner, 'onCommit'>) {
    this.#runner = runner;
  }

  /** Calls `listener` when the read model has come to know that it ended; returns how to end that. */
  onEnd(conversionId: string, listener: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#endListening = this.#runner.onCommit((events) => this.#look(events));
    }
    const listeners = this.#waiting.get(conversionId) ?? new Set();
    this.#waiting.set(conversionId, listeners.add(listener));
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#waiting.delete(conversionId);
      if (this.#waiting.size === 0) this.#endListening();
    };
  }

  #look(events: readonly RecordedEvent[]): void {
    for (const { type, data } of events) {
      if (!ENDS.has(type) || !('conversionId' in data)) continue;
      for (const listener of this.#waiting.get(String(data.conversionId)) ?? []) listener();
    }
  }
}
