/** The place of every event that concerns an account, in the log's order. The events themselves stay in the log. */
import type { Database } from 'better-sqlite3';
import type { EventMetadata } from '../src/domain/event-metadata.ts';
import { EVENT_TYPES, type EventType } from '../src/domain/events.ts';
import type { RecordedEvent } from '../src/event-store/port.ts';
import type { Projection } from '../src/read-model/projection.ts';
import { countingOf, countWhile, type Slice } from '../src/read-model/rows.ts';

/**
 * `number` counts an account's events from 1, so that a page is found without skipping rows. `time` never
 * decreases with it (renderers' clocks differ), and neither does `position`, so that both are found by halving.
 * `subject_id` is that of the conversion that an event is about, else of the batch, as of a delivery of its end.
 */
const ddl = `
CREATE TABLE history (
  account_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  position INTEGER NOT NULL,
  stream TEXT NOT NULL,
  revision INTEGER NOT NULL,
  type TEXT NOT NULL,
  actor_kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  person TEXT,
  subject_id TEXT,
  time INTEGER NOT NULL,
  PRIMARY KEY (account_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE history_totals (
  account_id TEXT PRIMARY KEY,
  total INTEGER NOT NULL,
  time INTEGER NOT NULL
) STRICT, WITHOUT ROWID;`;

const indices = `
CREATE INDEX history_by_type ON history (account_id, type, number, actor_kind, actor);
CREATE INDEX history_by_actor ON history (account_id, actor_kind, number, actor);
CREATE INDEX history_by_person ON history (account_id, person, number) WHERE person IS NOT NULL;
CREATE INDEX history_by_subject ON history (subject_id, number) WHERE subject_id IS NOT NULL;`;

/** The actor's kind, with its id where it has one: `key:key_…`, `operator`. */
function actorText({ actor }: EventMetadata): string {
  return 'id' in actor ? `${actor.kind}:${actor.id}` : actor.kind;
}

export const history: Projection = {
  name: 'history',
  version: 6,
  tables: ['history', 'history_totals'],
  ddl,
  indices,
  handlers(db) {
    const book = countingOf(db, 'history_totals');
    const insert = db.prepare(
      `INSERT INTO history
         (account_id, number, position, stream, revision, type, actor_kind, actor, person, subject_id, time)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    const enter = (event: RecordedEvent): void => {
      const { accountId, conversionId, batchId } = event.data as {
        readonly accountId?: string;
        readonly conversionId?: string;
        readonly batchId?: string;
      };
      // A refused sign-in with an unknown address, and the log's own beginning, are nobody's.
      if (accountId === undefined) return;
      const metadata = event.metadata as EventMetadata;
      const { total, time } = book.get(accountId, metadata.time) ?? {};
      const { position, stream, revision, type } = event;
      const { actor, correlationId } = metadata;
      const batch = batchId ?? (correlationId.startsWith('batch_') ? correlationId : null);
      const person = 'person' in actor ? (actor.person ?? null) : null;
      const by = [actor.kind, actorText(metadata), person];
      const of = [stream, revision, type, ...by, conversionId ?? batch, time];
      insert.run(accountId, total, position, ...of);
    };
    return Object.fromEntries(EVENT_TYPES.map((type) => [type, enter]));
  },
};

/** A batch is a subject itself, and so is each of its conversions. */
const OF_BATCH = `subject_id IN (
  SELECT ? UNION ALL SELECT conversion_id FROM batch_conversions WHERE batch_id = ?)`;

/** The place of one event in the log. */
export interface EventPlace {
  readonly stream: string;
  readonly revision: number;
}

export interface HistoryFilter {
  readonly type?: EventType;
  readonly conversionId?: string;
  /** Events of the batch and of its conversions. */
  readonly batchId?: string;
  /** A kind with an id (`key:key_…`), or a kind alone for all of it (`key`). */
  readonly actor?: string;
  /** The member who acted, by a session or a key. */
  readonly person?: string;
  /** Milliseconds since the Unix epoch, inclusive. */
  readonly from?: number;
  /** Milliseconds since the Unix epoch, exclusive. */
  readonly to?: number;
  /** What the account's history held at this moment: a time (milliseconds since the Unix epoch) or a position of the log, inclusive. */
  readonly asOf?: { readonly time: number } | { readonly position: bigint };
}

/** The most events that a filter may look at for a client. A query for a million keeps all others waiting for 0.3 s. */
export const MAX_FILTERED_EVENTS = 250_000;

export interface HistoryQueries {
  /**
   * @returns the earliest `from` (milliseconds since the Unix epoch) with which the filter looks at no more than
   * `MAX_FILTERED_EVENTS`; undefined where it does so already
   */
  earliestFrom(accountId: string, filter: HistoryFilter): number | undefined;
  /** `total` counts all that the filter lets through. */
  page(
    accountId: string,
    filter: HistoryFilter,
    page: Slice & { readonly order: 'newest first' | 'oldest first' },
  ): { readonly places: readonly EventPlace[]; readonly total: number };
  /** Counts the account's events up to the moment, or all. */
  countUpTo(accountId: string, moment?: HistoryFilter['asOf']): number;
  /** The position of one event in the log, by its number. */
  position(accountId: string, number: number): bigint | undefined;
  /** The account's conversions with events of the types after one number and up to the other, by the last of these. */
  changes(
    accountId: string,
    after: number,
    upTo: number,
    types: readonly string[],
  ): readonly {
    readonly number: number;
    readonly position: bigint;
    readonly conversionId: string;
  }[];
  /** The account's events of a time (milliseconds since the Unix epoch, `to` exclusive), and who asked for conversions in it. */
  inTime(accountId: string, from: number, to: number): EventsInTime;
  /** Counts the events of the selection up to the number; stops at the limit. */
  countSelected(selection: EventSelection, upTo: number, limit: number): number;
  /** Events of the selection after one number and up to the other, oldest first. */
  selected(selection: EventSelection, after: number, upTo: number): readonly EventPlace[];
}

export interface EventsInTime {
  readonly events: number;
  /** Positions in the log; undefined where there are none. */
  readonly first: bigint | undefined;
  readonly last: bigint | undefined;
  /** `actor` is a key with its id, or another kind; most first. */
  readonly requests: readonly {
    readonly actor: string;
    readonly person: string | null;
    readonly count: number;
  }[];
}

/** The events of an account, or of one of its conversions, that are of one of the types. */
export interface EventSelection {
  readonly accountId: string;
  readonly conversionId?: string;
  readonly types: readonly string[];
}

/**
 * The planner knows neither that a conversion has few events and its account any number, nor that many may
 * have to be looked at for one that matches. All accounts wait for a query.
 */
function indexFor({ type, conversionId, batchId, actor, person }: HistoryFilter): string {
  if ((conversionId ?? batchId) !== undefined) return 'INDEXED BY history_by_subject';
  if (person !== undefined) return 'INDEXED BY history_by_person';
  if (type !== undefined) return 'INDEXED BY history_by_type';
  return actor === undefined ? '' : 'INDEXED BY history_by_actor';
}

export function historyQueries(db: Database): HistoryQueries {
  const totalOf = db
    .prepare<[string], number>('SELECT total FROM history_totals WHERE account_id = ?')
    .pluck();
  const timeOf = db
    .prepare<[string, number], number>(
      'SELECT time FROM history WHERE account_id = ? AND number = ?',
    )
    .pluck();

  const requestsBy = db.prepare<[string, number, number], EventsInTime['requests'][number]>(
    `SELECT CASE actor_kind WHEN 'key' THEN actor ELSE actor_kind END AS actor, person, count(*) AS count
     FROM history WHERE account_id = ? AND type = 'ConversionRequested' AND number BETWEEN ? AND ?
     GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`,
  );
  const positionOf = db
    .prepare<[string, number], bigint>(
      'SELECT position FROM history WHERE account_id = ? AND number = ?',
    )
    .pluck()
    .safeIntegers();
  const changesOf = db
    .prepare<
      [string, number, number, string],
      { number: bigint; position: bigint; conversionId: string }
    >(
      `SELECT max(number) AS number, position, subject_id AS conversionId FROM history NOT INDEXED
       WHERE account_id = ? AND number > ? AND number <= ? AND subject_id IS NOT NULL
         AND type IN (SELECT value FROM json_each(?))
       GROUP BY subject_id ORDER BY 1`,
    )
    .safeIntegers();

  /** Prepares a query over a selection's events between two numbers, by the index that has the fewest to look at. */
  function bySelection<Row>(query: (events: string) => string) {
    const events = (index: string, condition: string): string =>
      query(`FROM history INDEXED BY ${index} WHERE account_id = @accountId ${condition}
        AND number > @after AND number <= @upTo AND type IN (SELECT value FROM json_each(@types))`);
    const [ofAccount, ofConversion] = [
      db.prepare<[object], Row>(events('history_by_type', '')),
      db.prepare<[object], Row>(events('history_by_subject', 'AND subject_id = @conversionId')),
    ];
    return ({ types, ...selection }: EventSelection, bounds: object): Row[] =>
      (selection.conversionId === undefined ? ofAccount : ofConversion).all({
        ...selection,
        ...bounds,
        types: JSON.stringify(types),
      });
  }
  const countSelected = bySelection<{ count: number }>(
    (events) => `SELECT count(*) AS count FROM (SELECT 1 ${events} LIMIT @limit)`,
  );
  const selected = bySelection<EventPlace>(
    (events) => `SELECT stream, revision ${events} ORDER BY number`,
  );

  /** The number of the account's events that are older than the time. */
  const countBefore = (accountId: string, total: number, time: number): number =>
    countWhile(total, (number) => (timeOf.get(accountId, number) ?? 0) < time);

  function countUpTo(accountId: string, moment: HistoryFilter['asOf']): number {
    const total = totalOf.get(accountId) ?? 0;
    if (moment === undefined) return total;
    if ('time' in moment) return countBefore(accountId, total, moment.time + 1);
    const { position } = moment;
    return countWhile(total, (number) => (positionOf.get(accountId, number) ?? 0n) <= position);
  }

  /** The numbers of the account's first and last event in the filter's time. */
  function numbersOf(accountId: string, { from, to, asOf }: HistoryFilter): [number, number] {
    const all = countUpTo(accountId, asOf);
    const first = from === undefined ? 1 : countBefore(accountId, all, from) + 1;
    return [first, to === undefined ? all : countBefore(accountId, all, to)];
  }

  return {
    countUpTo,
    position: (accountId, number) => positionOf.get(accountId, number),
    inTime(accountId, from, to) {
      const [first, last] = numbersOf(accountId, { from, to });
      return {
        events: Math.max(0, last - first + 1),
        first: last < first ? undefined : positionOf.get(accountId, first),
        last: last < first ? undefined : positionOf.get(accountId, last),
        requests: requestsBy.all(accountId, first, last),
      };
    },
    changes: (accountId, after, upTo, types) =>
      changesOf
        .all(accountId, after, upTo, JSON.stringify(types))
        .map((change) => ({ ...change, number: Number(change.number) })),
    countSelected: (selection, upTo, limit) =>
      countSelected(selection, { after: 0, upTo, limit })[0]?.count ?? 0,
    selected: (selection, after, upTo) => selected(selection, { after, upTo }),
    earliestFrom(accountId, filter) {
      const { type, actor, person, conversionId, batchId } = filter;
      // An index leads to the events of a conversion or a batch, and numbers to those of a time.
      if ((conversionId ?? batchId) !== undefined || (type ?? actor ?? person) === undefined)
        return undefined;
      const [first, last] = numbersOf(accountId, filter);
      if (last - first < MAX_FILTERED_EVENTS) return undefined;
      // Others may have the same time: they are left out.
      return (timeOf.get(accountId, last - MAX_FILTERED_EVENTS) ?? 0) + 1;
    },
    page(accountId, asked, { order, offset, limit }) {
      const { type, conversionId, batchId, actor, person } = asked;
      const [first, last] = numbersOf(accountId, asked);
      const conditions = ['account_id = ?', 'number BETWEEN ? AND ?'];
      const values: (string | number)[] = [accountId, first, last];
      const where = (condition: string, ...of: string[]): void => {
        conditions.push(condition);
        values.push(...of);
      };
      if (type !== undefined) where('type = ?', type);
      if (conversionId !== undefined) where('subject_id = ?', conversionId);
      if (batchId !== undefined) where(OF_BATCH, batchId, batchId);
      if (person !== undefined) where('person = ?', person);
      if (actor !== undefined) where('actor_kind = ?', actor.split(':', 1)[0] ?? '');
      if (actor?.includes(':') === true) where('actor = ?', actor);
      const filter = `FROM history ${indexFor(asked)} WHERE ${conditions.join(' AND ')}`;
      const isFiltered = conditions.length > 2;
      const total = isFiltered
        ? (db
            .prepare<unknown[], number>(`SELECT count(*) ${filter}`)
            .pluck()
            .get(...values) ?? 0)
        : Math.max(0, last - first + 1);
      if (!isFiltered) {
        // No row is skipped: the numbers themselves say where the page begins.
        if (order === 'newest first') values[2] = last - offset;
        else values[1] = first + offset;
      }
      if (offset >= total) return { places: [], total };
      const direction = order === 'newest first' ? 'DESC' : 'ASC';
      // Rows that are skipped or do not match are seen in the index alone.
      const places = db
        .prepare<unknown[], EventPlace>(
          `SELECT stream, revision FROM history WHERE account_id = ? AND number IN (
             SELECT number ${filter} ORDER BY number ${direction} LIMIT ? OFFSET ?
           ) ORDER BY number ${direction}`,
        )
        .all(accountId, ...values, limit, isFiltered ? offset : 0);
      return { places, total };
    },
  };
}
