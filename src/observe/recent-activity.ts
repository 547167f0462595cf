/** Rates, failures by reason and the renderers at work, from the log's last minutes. */
import type { LogTreeQueries } from '../../projections/log-tree.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';

/** The time that is looked back. */
export const WINDOW_MS = 5 * 60_000;
/** Events that are looked at, at most: a busier service gets figures of a shorter time. */
const MOST_EVENTS = 20_000;
const READ = 1_000;

export interface RendererActivity {
  readonly name: string;
  readonly completed: number;
  readonly failed: number;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeen: number;
}

export interface Activity {
  /** The time that the rates are of, in milliseconds. */
  readonly windowMs: number;
  /** Events a minute, by what they say. */
  readonly perMinute: Readonly<Record<'requested' | 'completed' | 'failed' | 'requeued', number>>;
  /** Most first. */
  readonly failures: readonly { readonly code: string; readonly count: number }[];
  /** Those whose reports are in the log; the last one to report first. */
  readonly renderers: readonly RendererActivity[];
}

const KINDS = {
  ConversionRequested: 'requested',
  ConversionCompleted: 'completed',
  ConversionFailed: 'failed',
  ConversionRequeued: 'requeued',
} as const;
const isKind = (type: string): type is keyof typeof KINDS => Object.hasOwn(KINDS, type);

const timeOf = ({ metadata }: RecordedEvent): number => (metadata as EventMetadata).time;

/** The part of an event that is counted: a service keeps thousands of them. */
interface Noted {
  readonly type: string;
  readonly time: number;
  readonly code: string | undefined;
  readonly renderer: string | undefined;
}

function noted(event: RecordedEvent): Noted {
  const { code, renderer } = event.data as { code?: string; renderer?: string };
  return { type: event.type, time: timeOf(event), code, renderer };
}

/** The places of the log's events: positions may have gaps. */
export type LogPlaces = Pick<LogTreeQueries, 'hashes' | 'positionOf'>;

/** Follows the end of the log; each look reads only what is new. */
export class RecentActivity {
  readonly #store: Pick<EventStore, 'readAll' | 'head'>;
  #events: Noted[] = [];
  #after: bigint | undefined;
  #lookedAt = 0;

  constructor(store: Pick<EventStore, 'readAll' | 'head'>) {
    this.#store = store;
  }

  /**
   * @param now milliseconds since the Unix epoch
   * @param places without them, nothing before the first look is seen
   */
  async look(now: number, places: LogPlaces | undefined): Promise<Activity> {
    const since = now - WINDOW_MS;
    // All that was added since an earlier look is more than the window holds.
    if (places && this.#lookedAt < since) {
      this.#after = undefined;
      this.#events = [];
    }
    this.#lookedAt = now;
    this.#after ??= places ? await this.#begin(since, places) : await this.#store.head();
    for (let isEnd = false; !isEnd; ) {
      const events = await this.#store.readAll({ after: this.#after, limit: READ });
      isEnd = events.length < READ;
      this.#after = events.at(-1)?.position ?? this.#after;
      const kept = [...this.#events, ...events.map(noted)].filter(({ time }) => time > since);
      this.#events = kept.slice(-MOST_EVENTS);
    }
    return summarise(this.#events, now);
  }

  /** A position before which nothing is of interest: steps back from the end, each twice as far. */
  async #begin(since: number, places: LogPlaces): Promise<bigint> {
    for (let step = READ; step < places.hashes.size; step *= 2) {
      const after = places.positionOf(places.hashes.size - step) ?? 0n;
      const [first] = await this.#store.readAll({ after, limit: 1 });
      if (first === undefined || timeOf(first) <= since) return after;
    }
    return 0n;
  }
}

function summarise(events: readonly Noted[], now: number): Activity {
  const [first] = events;
  const windowMs =
    first !== undefined && events.length >= MOST_EVENTS ? now - first.time : WINDOW_MS;
  const counts = { requested: 0, completed: 0, failed: 0, requeued: 0 };
  const failures = new Map<string, number>();
  const renderers = new Map<string, RendererActivity>();
  for (const { type, time, code, renderer } of events) {
    if (isKind(type)) counts[KINDS[type]] += 1;
    if (type === 'ConversionFailed' && code) failures.set(code, (failures.get(code) ?? 0) + 1);
    if (renderer === undefined) continue;
    const { completed = 0, failed = 0 } = renderers.get(renderer) ?? {};
    renderers.delete(renderer);
    renderers.set(renderer, {
      name: renderer,
      completed: completed + Number(type === 'ConversionCompleted'),
      failed: failed + Number(type === 'ConversionFailed'),
      lastSeen: time,
    });
  }
  const perMinute = (count: number): number => Math.round((count / windowMs) * 600_000) / 10;
  return {
    windowMs,
    perMinute: {
      requested: perMinute(counts.requested),
      completed: perMinute(counts.completed),
      failed: perMinute(counts.failed),
      requeued: perMinute(counts.requeued),
    },
    failures: [...failures]
      .map(([code, count]) => ({ code, count }))
      .toSorted((a, b) => b.count - a.count),
    renderers: [...renderers.values()].toReversed(),
  };
}
