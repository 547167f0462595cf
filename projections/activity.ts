/**
 * What all accounts together did, counted over time. The to-do list of conversions keeps it, for it knows when one that
 * ends was accepted and begun; those that have not ended are counted from the list itself.
 */
import type { Database } from 'better-sqlite3';

const MINUTE_MS = 60_000;
const [HOUR, DAY] = [60, 24 * 60];
/** Minutes become hours after so many, and hours days. */
const KEPT_MINUTES = 3 * DAY;
const KEPT_HOURS = 400 * DAY;

/**
 * `at` is the minute since 1970 with which a row begins, `span` its minutes: 1, an hour or a day. A conversion is counted
 * when it ends, at each time that something happened to it: one write for it costs a third of one for each event.
 */
export const ACTIVITY_DDL = `
CREATE TABLE activity (
  span INTEGER NOT NULL,
  at INTEGER NOT NULL,
  counter INTEGER NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (span, at, counter)
) STRICT, WITHOUT ROWID;`;

/** Those that began are counted by their last attempt, and at their end where they had none. */
const [ACCEPTED, BEGUN, FAILED, CANCELLED] = [0, 1, 2, 3];
/** The counters from here on are the completed conversions, by the time that they took. */
const COMPLETED = 16;

/** Each bucket reaches a tenth further than the one before: its middle is at most 5 % from any time in it. */
const RATIO = 1.1;
const BUCKETS = 240;

/** The upper bounds in milliseconds. Multiplied, for a logarithm may differ in its last digit between machines. */
const BOUNDS = [1];
for (let bound = RATIO; BOUNDS.length < BUCKETS; bound *= RATIO) BOUNDS.push(bound);

/** The first bucket whose bound is no less; the last one takes all that is longer (90 days). */
function bucketOf(ms: number): number {
  let [first, last] = [0, BUCKETS - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    if ((BOUNDS[middle] ?? 0) < ms) first = middle + 1;
    else last = middle;
  }
  return first;
}

/** Times in milliseconds since the Unix epoch. `startedAt` is that of its last attempt; null: it ended while it waited. */
export interface EndedConversion {
  readonly requestedAt: number;
  readonly startedAt: number | null;
}

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

export function activityCounter(db: Database) {
  const add = db.prepare<[accepted: number, begun: number, ended: number, counter: number]>(
    `INSERT INTO activity VALUES (1, ?, ${ACCEPTED}, 1), (1, ?, ${BEGUN}, 1), (1, ?, ?, 1)
     ON CONFLICT DO UPDATE SET count = count + 1`,
  );
  const old = db
    .prepare<[number, number], number>('SELECT 1 FROM activity WHERE span = ? AND at < ? LIMIT 1')
    .pluck();
  const sum = db.prepare(
    `INSERT INTO activity SELECT @to, at - at % @to, counter, sum(count) FROM activity
     WHERE span = @from AND at < @before GROUP BY 2, 3
     ON CONFLICT DO UPDATE SET count = count + excluded.count`,
  );
  const drop = db.prepare('DELETE FROM activity WHERE span = @from AND at < @before');

  /** False where no row is that old. The rows alone decide it, so that a rebuild merges the same ones. */
  function merge(from: number, to: number, upTo: number): boolean {
    const before = upTo - (upTo % to);
    if (old.get(from, before) === undefined) return false;
    sum.run({ from, to, before });
    drop.run({ from, before });
    return true;
  }

  function count({ requestedAt, startedAt }: EndedConversion, time: number, counter: number): void {
    const minute = minuteOf(time);
    add.run(minuteOf(requestedAt), minuteOf(startedAt ?? time), minute, counter);
    if (merge(1, HOUR, minute - KEPT_MINUTES)) merge(HOUR, DAY, minute - KEPT_HOURS);
  }

  return {
    completed: (ended: EndedConversion, time: number) =>
      count(ended, time, COMPLETED + bucketOf(time - ended.requestedAt)),
    failed: (ended: EndedConversion, time: number, wasCancelled: boolean) =>
      count(ended, time, wasCancelled ? CANCELLED : FAILED),
  };
}

/** What happened in a step of time, and how it was at its end. */
export interface ActivityStep {
  /** Milliseconds since the Unix epoch. */
  readonly from: number;
  readonly accepted: number;
  readonly completed: number;
  readonly failed: number;
  /** Those that their accounts cancelled; they are not among the failed. */
  readonly cancelled: number;
  /** At the end of the step, or now. */
  readonly waiting: number;
  readonly rendering: number;
  /** The milliseconds from the acceptance to the completion of those that completed, within 5 %. */
  readonly completion?: { readonly median: number; readonly p95: number };
}

export interface ActivityQueries {
  /**
   * The minutes of the shortest step that the counts since then allow: 1, 60 or 1440.
   * @param from milliseconds since the Unix epoch
   */
  shortest(from: number): number;
  /**
   * All steps, oldest first.
   * @param from milliseconds since the Unix epoch, as is `to`: the step in which it lies is the first
   * @param to exclusive: the last step has all before
   * @param step minutes: `shortest(from)` or a multiple of it that divides a day, or is one
   */
  steps(from: number, to: number, step: number): readonly ActivityStep[];
}

/** The counts of a step. */
type Counts = Map<number, number>;

export function activityQueries(db: Database): ActivityQueries {
  const coarse = db
    .prepare<{ readonly span: number; readonly minute: number }, number>(
      'SELECT 1 FROM activity WHERE span = @span AND at > @minute - @span LIMIT 1',
    )
    .pluck();
  // A constant span lets each part read its own rows alone.
  const rows = [
    ...[1, HOUR, DAY].map((span) => `SELECT at, counter, count FROM activity WHERE span = ${span}`),
    `SELECT requested_at / ${MINUTE_MS} AS at, ${ACCEPTED}, 1 FROM unfinished_conversions`,
    `SELECT started_at / ${MINUTE_MS} AS at, ${BEGUN}, 1 FROM unfinished_conversions`,
  ];
  const select = db.prepare<
    { readonly from: number; readonly to: number; readonly step: number },
    { readonly slot: number; readonly counter: number; readonly count: number }
  >(
    `SELECT at / CAST(@step AS INTEGER) AS slot, counter, sum(count) AS count
     FROM (${rows.join(' UNION ALL ')}) WHERE at >= @from AND at < @to GROUP BY slot, counter`,
  );
  const present = db.prepare<[], { readonly total: number; readonly begun: number }>(
    'SELECT count(*) AS total, count(started_at) AS begun FROM unfinished_conversions',
  );

  /** What wait and are rendered at the time: as it is now, without all that happened since. */
  function levelAt(minute: number): Level {
    const { total = 0, begun = 0 } = present.get() ?? {};
    const level = { waiting: total - begun, rendering: begun };
    const since: Counts = new Map();
    for (const { counter, count } of select.all({
      from: minute,
      to: Number.MAX_SAFE_INTEGER,
      step: DAY,
    })) {
      since.set(counter, (since.get(counter) ?? 0) + count);
    }
    return levelBefore(level, since);
  }

  return {
    shortest(from) {
      const minute = Math.floor(from / MINUTE_MS);
      return [DAY, HOUR].find((span) => coarse.get({ span, minute }) !== undefined) ?? 1;
    },
    steps(from, to, step) {
      const minutesOf = (ms: number) => Math.floor(ms / MINUTE_MS / step);
      const [first, end] = [minutesOf(from), Math.max(minutesOf(from), minutesOf(to - 1)) + 1];
      const counted = new Map<number, Counts>();
      for (const row of select.all({ from: first * step, to: end * step, step })) {
        const counts = counted.get(row.slot) ?? new Map<number, number>();
        counted.set(row.slot, counts.set(row.counter, row.count));
      }
      const steps: ActivityStep[] = [];
      let level = levelAt(end * step);
      for (let slot = end - 1; slot >= first; slot -= 1) {
        const counts = counted.get(slot) ?? new Map<number, number>();
        steps.push(stepOf(slot * step * MINUTE_MS, counts, level));
        level = levelBefore(level, counts);
      }
      return steps.toReversed();
    },
  };
}

type Level = Pick<ActivityStep, 'waiting' | 'rendering'>;

const completedIn = (counts: Counts): readonly (readonly [counter: number, count: number])[] =>
  [...counts].filter(([counter]) => counter >= COMPLETED).toSorted(([a], [b]) => a - b);

const sumOf = (counted: ReturnType<typeof completedIn>): number =>
  counted.reduce((sum, [, count]) => sum + count, 0);

/** The level before the counts. */
function levelBefore({ waiting, rendering }: Level, counts: Counts): Level {
  const [accepted = 0, begun = 0, failed = 0, cancelled = 0] = [
    ACCEPTED,
    BEGUN,
    FAILED,
    CANCELLED,
  ].map((counter) => counts.get(counter));
  const ended = sumOf(completedIn(counts)) + failed + cancelled;
  return { waiting: waiting - accepted + begun, rendering: rendering - begun + ended };
}

function stepOf(from: number, counts: Counts, { waiting, rendering }: Level): ActivityStep {
  const times = completedIn(counts);
  const completed = sumOf(times);
  return {
    from,
    accepted: counts.get(ACCEPTED) ?? 0,
    completed,
    failed: counts.get(FAILED) ?? 0,
    cancelled: counts.get(CANCELLED) ?? 0,
    // The clocks of two nodes differ: what one has ended by now may be counted as accepted in a moment.
    waiting: Math.max(0, waiting),
    rendering: Math.max(0, rendering),
    ...(completed > 0 && {
      completion: {
        median: quantile(times, completed, 0.5),
        p95: quantile(times, completed, 0.95),
      },
    }),
  };
}

/** The middle of the bucket that the quantile lies in, by its ratio. */
function quantile(times: ReturnType<typeof completedIn>, total: number, part: number): number {
  let seen = 0;
  const [counter = COMPLETED] =
    times.find(([, count]) => {
      seen += count;
      return seen >= part * total;
    }) ?? [];
  const bound = BOUNDS[counter - COMPLETED] ?? 0;
  return Math.round(bound / Math.sqrt(RATIO));
}
