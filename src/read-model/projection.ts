import type { Database } from 'better-sqlite3';
import type { RecordedEvent } from '../event-store/port.ts';

/**
 * A projection folds events into its own tables. It is a pure function of the log: no clock, no
 * randomness, so that a replay gives the same rows. A row is disposable.
 */
export interface Projection {
  /** Names the checkpoint. Unique. */
  readonly name: string;
  /** Counted up whenever tables or handlers change: the projection is then built anew. */
  readonly version: number;
  /** The tables it owns: `DROP`ped and created anew when it is rebuilt. */
  readonly tables: readonly string[];
  /** The DDL that creates them. */
  readonly ddl: string;
  /** Prepares its statements once and returns what to do with each type of event it cares about. */
  handlers(db: Database): Readonly<Record<string, (event: RecordedEvent) => void>>;
}
