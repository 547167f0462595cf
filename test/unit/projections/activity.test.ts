/** given(events).then(the counts over time): the same from the live tables, from a rebuild, and for any time in the past. */
import { type Test, test } from 'tap';
import { type ActivityStep, activityQueries } from '../../../projections/activity.ts';
import { allProjections } from '../../../projections/all.ts';
import type { DomainEvent } from '../../../src/domain/events.ts';
import { encodeEvent } from '../../../src/event-store/codec.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { compareTable, isEqual } from '../../../src/read-model/comparison.ts';
import { Fold } from '../../../src/read-model/fold.ts';
import { seededRandom } from '../../support/random.ts';
import {
  accountId,
  blobRef,
  conversionId,
  DAY_MS,
  HOUR_MS,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  sha256,
  TIMINGS,
} from '../../support/samples.ts';

const MINUTE_MS = 60_000;
/** Midnight in UTC. */
const DAY_0 = Date.UTC(2026, 10, 2);

const about = (n: number) => ({ accountId: accountId(n % 3), conversionId: conversionId(n) });
const tried = (n: number, attempt = 1) => ({ ...about(n), renderer: 'r', attempt });

const requested = (n: number, at: number): DomainEvent => ({
  type: 'ConversionRequested',
  data: {
    ...about(n),
    source: 'html',
    request: blobRef('request', n),
    requestHmac: REQUEST_HMAC,
    options: OPTIONS,
    requestedAt: at,
  },
});
const started = (n: number, at: number, attempt = 1): DomainEvent => ({
  type: 'ConversionStarted',
  data: { ...tried(n, attempt), delivery: `d${attempt}`, startedAt: at },
});
const requeued = (n: number, at: number): DomainEvent => ({
  type: 'ConversionRequeued',
  data: { ...tried(n), requeuedAt: at },
});
const completed = (n: number, at: number): DomainEvent => ({
  type: 'ConversionCompleted',
  data: {
    ...tried(n),
    document: blobRef('document', n),
    pdf: PDF,
    pages: 1,
    timings: TIMINGS,
    chrome: 'Chrome/1',
    manifest: { ...blobRef('manifest', n), sha256: sha256(n) },
    completedAt: at,
  },
});
const failed = (n: number, at: number, code: 'timeout' | 'cancelled' = 'timeout'): DomainEvent => ({
  type: 'ConversionFailed',
  data: { ...tried(n), code, message: 'sealed', failedAt: at },
});

function recorded(event: DomainEvent, position: number): RecordedEvent {
  const stored = encodeEvent(
    `00000000-0000-5000-8000-${String(position).padStart(12, '0')}`,
    event,
    {
      correlationId: 'c',
      causationId: 'c',
      actor: { kind: 'service' },
      time: DAY_0,
    },
  );
  return { ...stored, stream: 's', revision: position, position: BigInt(position) };
}

const PROJECTIONS = allProjections.filter(({ name }) => name === 'unfinished-conversions');

/** The tables after the events. @param batch events that are applied in one transaction */
function given(t: Test, events: readonly DomainEvent[], batch = events.length): Fold {
  const fold = Fold.temporary(PROJECTIONS, 'memory');
  t.teardown(() => fold.close());
  for (let first = 0; first < events.length; first += batch) {
    const some = events.slice(first, first + batch);
    fold.apply(some.map((event, index) => recorded(event, first + index + 1)));
  }
  return fold;
}

const stepsOf = (fold: Fold, from: number, to: number, step: number) =>
  fold.query(activityQueries).steps(from, to, step);

const NOTHING = { accepted: 0, completed: 0, failed: 0, cancelled: 0 };
const quiet = (from: number, waiting = 0, rendering = 0): ActivityStep => ({
  ...NOTHING,
  from,
  waiting,
  rendering,
});

const at = (minute: number, ms = 0) => DAY_0 + minute * MINUTE_MS + ms;

void test('each minute has what happened in it, and what waited and was rendered at its end', (t) => {
  const fold = given(t, [
    requested(1, at(0, 100)),
    requested(2, at(0, 200)),
    requested(3, at(0, 300)),
    started(1, at(0, 400)),
    completed(1, at(0, 1_100)),
    started(2, at(1)),
    requeued(2, at(1, 1)),
    started(2, at(2)),
    failed(3, at(2, 5), 'cancelled'),
    failed(2, at(3, 200)),
    requested(4, at(4)),
    started(4, at(4, 5)),
    requested(5, at(4, 10)),
  ]);
  const steps = stepsOf(fold, at(-1), at(6), 1);
  t.match(steps, [
    quiet(at(-1)),
    { from: at(0), accepted: 3, completed: 1, waiting: 2, rendering: 0 },
    // Its first attempt does not count: it was put back.
    quiet(at(1), 2),
    { from: at(2), failed: 0, cancelled: 1, waiting: 0, rendering: 1 },
    { from: at(3), failed: 1, cancelled: 0, waiting: 0, rendering: 0 },
    { from: at(4), accepted: 2, waiting: 1, rendering: 1 },
    quiet(at(5), 1, 1),
  ]);
  t.equal(steps.length, 7);
  const { completion } = steps[1] ?? {};
  t.ok(completion && Math.abs(completion.median - 1_000) <= 50, `${completion?.median} ms`);
  t.notOk('completion' in (steps[3] ?? {}), 'nothing completed in it');
  t.strictSame(stepsOf(fold, at(-1), at(4), 1), steps.slice(0, 5), 'the past stays as it was');
  t.strictSame(stepsOf(fold, at(2), at(2) + 1, 1), steps.slice(3, 4), 'one step');
  t.match(stepsOf(fold, at(0), at(9), 10), [
    { from: at(0), accepted: 5, completed: 1, failed: 1, cancelled: 1, waiting: 1, rendering: 1 },
  ]);
  t.end();
});

/** Ten conversions an hour for so many days, with times from a millisecond to an hour. */
function busyDays(days: number): { readonly events: DomainEvent[]; readonly times: number[] } {
  const random = seededRandom(7);
  const times: number[] = [];
  const events: { readonly at: number; readonly event: DomainEvent }[] = [];
  for (let n = 0; n < days * 240; n += 1) {
    const begin = DAY_0 + Math.floor((n / 240) * DAY_MS);
    const end = begin + Math.floor(3_600_000 ** (random.integer(0, 1e6) / 1e6));
    events.push({ at: begin, event: requested(n, begin) });
    if (n % 7 > 0) events.push({ at: begin + 1, event: started(n, begin + 1) });
    const fails = n % 5 === 0;
    if (!fails) times.push(end - begin);
    events.push({ at: end, event: fails ? failed(n, end) : completed(n, end) });
  }
  return { events: events.toSorted((a, b) => a.at - b.at).map(({ event }) => event), times };
}

void test('minutes become hours, and hours days; nothing is lost, and a rebuild gives the same rows', (t) => {
  const { events, times } = busyDays(6);
  // The last one comes when all days but one are older than 400 days.
  const far = DAY_0 + 405 * DAY_MS;
  const late = [requested(90_000, far), completed(90_000, far + 5)];
  const all = [...events, ...late];
  const live = given(t, events, 3);
  const before = stepsOf(live, DAY_0, DAY_0 + 7 * DAY_MS, 1440);
  t.equal(live.query(activityQueries).shortest(DAY_0), 60, 'of the first days the hours are kept');
  t.equal(
    live.query(activityQueries).shortest(DAY_0 + 4 * DAY_MS),
    1,
    'of the last ones the minutes',
  );
  t.equal(
    before.reduce((sum, { accepted }) => sum + accepted, 0),
    1_440,
  );
  t.equal(
    before.reduce((sum, { completed: of }) => sum + of, 0),
    times.length,
  );
  t.strictSame(
    stepsOf(live, DAY_0 + HOUR_MS, DAY_0 + 2 * HOUR_MS, 60).map(({ accepted }) => accepted),
    [10],
  );

  const merged = given(t, all, 5);
  t.equal(merged.query(activityQueries).shortest(DAY_0), 1440);
  const spans = merged.db.prepare('SELECT span, sum(count) AS count FROM activity GROUP BY span');
  t.match(spans.all(), [{ span: 1 }, { span: 60 }, { span: 1440 }]);
  t.strictSame(
    stepsOf(merged, DAY_0, DAY_0 + 7 * DAY_MS, 1440),
    before,
    'merged, they say the same',
  );

  const rebuilt = given(t, all);
  for (const table of ['activity', 'unfinished_conversions']) {
    t.ok(isEqual(compareTable(table, merged.db, rebuilt.db, 5)), table);
  }
  t.end();
});

void test('times to completion are within 5 % of the real ones', (t) => {
  const { events, times } = busyDays(6);
  const fold = given(t, events);
  // One step for all of them: no account of hours.
  const days = fold.query(activityQueries).steps(DAY_0, DAY_0 + 7 * DAY_MS, 7 * 1440 * 3_000);
  const { completion } = days.find(({ completed: of }) => of > 0) ?? {};
  const sorted = times.toSorted((a, b) => a - b);
  for (const [name, part] of [
    ['median', 0.5],
    ['p95', 0.95],
  ] as const) {
    const real = sorted[Math.ceil(part * sorted.length) - 1] ?? 0;
    const said = completion?.[name] ?? 0;
    t.ok(Math.abs(said - real) <= real * 0.05 + 1, `${name}: ${said} of ${real} ms`);
  }
  t.end();
});
