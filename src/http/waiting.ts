/** Waits for the end of a conversion, as `Prefer: wait=N` (RFC 7240) asks for it. */
import { type ConversionRow, conversionQueries } from '../../projections/conversions.ts';
import { isEnd } from '../domain/conversion.ts';
import type { RecordedEvent } from '../event-store/port.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import { disconnection, type HttpContext } from './context.ts';
import type { RouteDependencies } from './dependencies.ts';

export const MAX_WAIT_SECONDS = 30;

/**
 * The seconds that `Prefer: wait=N` asks for, at most 30; undefined without a usable one.
 * The first mention of a preference counts; what is not understood is passed over.
 */
function preferredWait(header: string): number | undefined {
  for (const preference of header.split(',')) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '').split('=');
    if (name.trim().toLowerCase() !== 'wait') continue;
    const seconds = /^"?(\d{1,9})"?$/.exec(value.trim())?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), MAX_WAIT_SECONDS);
  }
  return undefined;
}

/** The wait that the request prefers; the answer says that it is honoured. */
export function appliedWait(ctx: HttpContext): number | undefined {
  const seconds = preferredWait(ctx.get('Prefer'));
  if (seconds !== undefined) ctx.set('Preference-Applied', `wait=${seconds}`);
  return seconds;
}

export const hasEnded = ({ status }: ConversionRow): boolean =>
  status === 'completed' || status === 'failed';

/** Wakes those who wait for a conversion to end, with one look at each commit for all of them. */
class Waiters {
  readonly #runner: Pick<ProjectionRunner, 'onCommit'>;
  /** Listeners by the conversion's id. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #endListening = (): void => {};

  constructor(runner: Pick<ProjectionRunner, 'onCommit'>) {
    this.#runner = runner;
  }

  /** Calls `listener` when the read model has come to know that it ended; returns how to end that. */
  onEnd(conversionId: string, listener: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#endListening = this.#runner.onCommit(
        (events) => this.#look(events),
        ['ConversionCompleted', 'ConversionFailed'],
      );
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
      if (!isEnd(type) || !('conversionId' in data)) continue;
      for (const listener of this.#waiting.get(String(data.conversionId)) ?? []) listener();
    }
  }
}

/** Resolves when the conversion has ended, `seconds` have passed or nobody waits any longer. */
export type UntilEnded = (ctx: HttpContext, id: string, seconds: number) => Promise<void>;

export function createUntilEnded({
  runner,
  readModel,
  closing,
}: Pick<RouteDependencies, 'runner' | 'readModel' | 'closing'>): UntilEnded {
  const waiters = new Waiters(runner);
  return (ctx, id, seconds) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = AbortSignal.timeout(seconds * 1000);
    const over = AbortSignal.any([late, disconnection(ctx), closing]);
    over.addEventListener('abort', () => resolve());
    const endListening = waiters.onEnd(id, resolve);
    // It may have ended since it was read.
    const row = readModel.query(conversionQueries).byId(id);
    if (over.aborted || row === undefined || hasEnded(row)) resolve();
    return promise.finally(endListening);
  };
}
