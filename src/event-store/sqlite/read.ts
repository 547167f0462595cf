/** Prepared reads of the `events` table. */
import type { Database } from 'better-sqlite3';
import {
  EventDamaged,
  type HiddenFault,
  type ReadAllOptions,
  type ReadStreamOptions,
  type RecordedEvent,
} from '../port.ts';

const DEFAULT_LIMIT = 1_000;

const COLUMNS = 'position, stream, revision, id, type, data, metadata';
/**
 * SQLite recompiles a statement at each use where a bare `?` stands behind `LIMIT`, or is equal to a column and the
 * rows are sorted: it looks for a better plan. It does not for an expression, as `+?` is one.
 */
const LIMIT = 'LIMIT +?';
type Row = readonly [number, string, number, string, string, string, string];

function recorded(row: Row): RecordedEvent {
  const [at, stream, revision, id, type, data, metadata] = row;
  const position = BigInt(at);
  try {
    return {
      id,
      type,
      data: JSON.parse(data) as object,
      metadata: JSON.parse(metadata) as object,
      stream,
      revision,
      position,
    };
  } catch (error) {
    const place = { id, type, stream, revision, position };
    throw new EventDamaged(`The event at position ${at} is not JSON.`, place, error);
  }
}

/** True for a text that the writer writes: others can be of the same value. */
const isAsWritten = (text: string): boolean => JSON.stringify(JSON.parse(text)) === text;

/** The first event whose value was written in another form: its leaf would not tell. */
function rewritten(db: Database): HiddenFault | undefined {
  const rows = db.prepare<[], Row>(`SELECT ${COLUMNS} FROM events ORDER BY position`).raw();
  const has = db
    .prepare<[number, string, string], number>(
      'SELECT count(*) FROM events WHERE position = ? AND data = ? AND metadata = ?',
    )
    .pluck();
  for (const [at, stream, revision, id, type, data, metadata] of rows.iterate()) {
    const isSame =
      isAsWritten(data) &&
      isAsWritten(metadata) &&
      // Bytes that are not UTF-8 read as this character.
      (!(data + metadata).includes('\ufffd') || has.get(at, data, metadata) === 1);
    if (isSame) continue;
    const event = { stream, revision, position: BigInt(at), id, type };
    return { found: 'the same value in another form', event: { index: at - 1, ...event } };
  }
  return undefined;
}

/**
 * Tells of what the log does not show: rows outside of its positions, and gaps in these; other rows in the
 * index by which streams are read; texts of another form than the writer's. It reads the whole table.
 */
export function hiddenFault(db: Database): HiddenFault | undefined {
  // One statement, because a running service may append.
  const [count, last, outside] = db
    .prepare<[], [bigint, bigint, bigint]>(
      'SELECT count(*), coalesce(max(position), 0), count(*) FILTER (WHERE position < 1) FROM events',
    )
    .raw()
    .safeIntegers()
    .get() ?? [0n, 0n, 0n];
  if (outside > 0n) return { found: `${outside} in the table, before position 1` };
  if (count !== last) return { found: `${count} in the table, whose last position is ${last}` };
  const result = String(db.pragma('integrity_check(events)', { simple: true }));
  // Positions have no gaps by now, so that an event's index follows from its position.
  return result === 'ok' ? rewritten(db) : { found: result };
}

export class EventReader {
  readonly #stream;
  readonly #all;
  readonly #head;
  readonly #dataVersion;

  constructor(db: Database) {
    this.#stream = db
      .prepare<[string, number, number], Row>(
        `SELECT ${COLUMNS} FROM events WHERE stream = +? AND revision >= ?
         ORDER BY revision ${LIMIT}`,
      )
      .raw();
    this.#all = db
      .prepare<[bigint, number], Row>(
        `SELECT ${COLUMNS} FROM events WHERE position > ? ORDER BY position ${LIMIT}`,
      )
      .raw();
    this.#head = db.prepare<[], number>('SELECT coalesce(max(position), 0) FROM events').pluck();
    this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
  }

  stream(stream: string, options: ReadStreamOptions): RecordedEvent[] {
    const { from = 0, limit = DEFAULT_LIMIT } = options;
    return this.#stream.all(stream, from, limit).map(recorded);
  }

  all(options: ReadAllOptions): RecordedEvent[] {
    return this.#all.all(options.after ?? 0n, options.limit ?? DEFAULT_LIMIT).map(recorded);
  }

  head(): bigint {
    return BigInt(this.#head.get() ?? 0);
  }

  /** Changes when, and only when, another connection has committed. */
  dataVersion(): number {
    return this.#dataVersion.get() ?? 0;
  }
}
