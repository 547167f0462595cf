import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventOf, EventType } from '../domain/events.ts';
import type { RecordedEvent } from '../event-store/port.ts';

/**
 * A projection folds events into its own tables. It is a pure function of the log: no clock, no
 * randomness, so that a replay gives the same rows. A row is disposable.
 */
export interface Projection {
  /** Names the checkpoint. Unique. */
  readonly name: string;
  /** Counted up whenever tables or handlers change: the projection is then rebuilt. */
  readonly version: number;
  /** The tables it owns: `DROP`ped and created again when it is rebuilt. */
  readonly tables: readonly string[];
  /** The DDL that creates them. */
  readonly ddl: string;
  /**
   * The DDL of indices that no handler uses. A new generation gets them when it holds the log: kept up from the first event,
   * they are hit at random, and a build takes a third longer.
   */
  readonly indices?: string;
  /** Prepares its statements once and returns what to do with each type of event it cares about. */
  handlers(db: Database): Readonly<Record<string, (event: RecordedEvent) => void>>;
  /** The same for every event, whatever its type, as the store holds it: not upcast. */
  everyEvent?(db: Database): (event: RecordedEvent) => void;
}

/**
 * Hands each handler its own event's data. The data was upcast to today's schema before, so the types
 * are true.
 */
export function typedHandlers(
  handlers: {
    readonly [T in EventType]?: (data: EventOf<T>['data'], event: RecordedEvent) => void;
  },
): Readonly<Record<string, (event: RecordedEvent) => void>> {
  return Object.fromEntries(
    Object.entries(handlers).map(([type, handle]) => {
      const untyped = handle as (data: object, event: RecordedEvent) => void;
      return [type, (event: RecordedEvent) => untyped(event.data, event)];
    }),
  );
}

/** The API key that an event was asked for with, if it was one. */
export function keyOf({ metadata }: RecordedEvent): string | null {
  const { actor } = metadata as EventMetadata;
  return actor.kind === 'key' ? actor.id : null;
}
