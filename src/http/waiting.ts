/** Waits for the end of a conversion or a batch, as `Prefer: wait=N` (RFC 7240) asks for it. */
import { batchQueries } from '../../projections/batches.ts';
import { type ConversionRow, conversionQueries } from '../../projections/conversions.ts';
import type { EventType } from '../domain/events.ts';
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

/** An end that is waited for. */
interface Kind {
  readonly types: readonly EventType[];
  /** The field of such an event that names what has ended. */
  readonly field: 'conversionId' | 'batchId';
}

/** Wakes those who wait for something to end, with one look at each commit for all of them. */
class Waiters {
  readonly #runner: Pick<ProjectionRunner, 'onCommit'>;
  readonly #kind: Kind;
  /** Listeners by the id of what they wait for. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #endListening = (): void => {};

  constructor(runner: Pick<ProjectionRunner, 'onCommit'>, kind: Kind) {
    this.#runner = runner;
    this.#kind = kind;
  }

  /** Calls `listener` when the read model has come to know that it ended; returns how to end that. */
  onEnd(id: string, listener: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#endListening = this.#runner.onCommit((events) => this.#look(events), this.#kind.types);
    }
    const listeners = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, listeners.add(listener));
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#endListening();
    };
  }

  #look(events: readonly RecordedEvent[]): void {
    const { types, field } = this.#kind;
    for (const { type, data } of events) {
      if (!types.some((each) => each === type)) continue;
      const id = String((data as Readonly<Record<string, unknown>>)[field]);
      for (const listener of this.#waiting.get(id) ?? []) listener();
    }
  }
}

/** Resolves when it has ended, `seconds` have passed or nobody waits any longer. */
export type UntilEnded = (ctx: HttpContext, id: string, seconds: number) => Promise<void>;

type WaitingDependencies = Pick<RouteDependencies, 'runner' | 'readModel' | 'closing'>;

/** @param isOver true where it has ended by the read model, or is not in there */
function createUntil(
  { runner, closing }: WaitingDependencies,
  kind: Kind,
  isOver: (id: string) => boolean,
): UntilEnded {
  const waiters = new Waiters(runner, kind);
  return (ctx, id, seconds) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = AbortSignal.timeout(seconds * 1000);
    const over = AbortSignal.any([late, disconnection(ctx), closing]);
    over.addEventListener('abort', () => resolve());
    const endListening = waiters.onEnd(id, resolve);
    // It may have ended since it was read.
    if (over.aborted || isOver(id)) resolve();
    return promise.finally(endListening);
  };
}

export const createUntilEnded = (deps: WaitingDependencies): UntilEnded =>
  createUntil(
    deps,
    { types: ['ConversionCompleted', 'ConversionFailed'], field: 'conversionId' },
    (id) => {
      const row = deps.readModel.query(conversionQueries).byId(id);
      return row === undefined || hasEnded(row);
    },
  );

export const createUntilBatchEnded = (deps: WaitingDependencies): UntilEnded =>
  createUntil(deps, { types: ['BatchEnded'], field: 'batchId' }, (id) => {
    const row = deps.readModel.query(batchQueries).byId(id);
    return row === undefined || row.endedAt !== undefined;
  });
