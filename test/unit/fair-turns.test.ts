/** Turns on a clock of the test's own: jobs arrive, hold slots for their time, and end. */
import fc from 'fast-check';
import { test } from 'tap';
import { FairTurns } from '../../src/render-queue/fair-turns.ts';
import { failedReport, renderJob } from '../support/render-queue.ts';

const LIMIT_MS = 30_000;
const LETTER_MS = 300;
const MINUTE_MS = 60_000;

interface Arrival {
  readonly at: number;
  readonly account: number;
  /** How long it holds a slot. */
  readonly ms: number;
  /** It fails by the time limit. */
  readonly timesOut?: boolean;
}

interface Ran extends Arrival {
  readonly begun: number;
}

interface Simulation {
  /** By their beginnings. */
  readonly ran: Ran[];
  /** Milliseconds during which a slot was free and a job waited. */
  readonly idleMs: number;
}

function simulate(slots: number, arrivals: readonly Arrival[], until = Infinity): Simulation {
  let now = 0;
  const turns = new FairTurns(() => now);
  const coming = arrivals
    .map((arrival, n) => ({ ...arrival, n }))
    .toSorted((a, b) => a.at - b.at || a.n - b.n);
  const running: { readonly id: string; readonly end: number; readonly job: Ran }[] = [];
  const known = new Map<string, Arrival>();
  const ran: Ran[] = [];
  let idleMs = 0;
  for (;;) {
    for (let next = coming[0]; next && next.at <= now; next = coming[0]) {
      coming.shift();
      const job = renderJob(next.n + 1, next.account);
      known.set(job.conversionId, next);
      turns.add(job);
    }
    for (const ended of running.filter(({ end }) => end <= now)) {
      running.splice(running.indexOf(ended), 1);
      if (ended.job.timesOut) {
        turns.learn({ ...failedReport(), conversionId: ended.id });
      }
      turns.release(ended.id);
    }
    while (running.length < slots) {
      const job = turns.take({ free: slots - running.length, total: slots });
      const arrival = job && known.get(job.conversionId);
      if (!arrival) break;
      turns.begin(job.conversionId);
      const begun = { ...arrival, begun: now };
      ran.push(begun);
      running.push({ id: job.conversionId, end: now + arrival.ms, job: begun });
    }
    const next = Math.min(...running.map(({ end }) => end), coming[0]?.at ?? Infinity);
    if (next === Infinity || next > until) return { ran, idleMs };
    if (turns.size > 0 && running.length < slots) idleMs += next - now;
    now = next;
  }
}

const flood = (account: number, ms: number, count: number, timesOut = false): Arrival[] =>
  Array.from({ length: count }, () => ({ at: 0, account, ms, timesOut }));

/** A letter every so often. */
const letters = (account: number, from: number, every: number, count: number): Arrival[] =>
  Array.from({ length: count }, (_, n) => ({ at: from + n * every, account, ms: LETTER_MS }));

const waits = ({ ran }: Simulation, account: number): number[] =>
  ran.filter((job) => job.account === account).map(({ at, begun }) => begun - at);

const slotTime = ({ ran }: Simulation, account: number): number =>
  ran.filter((job) => job.account === account).reduce((sum, { ms }) => sum + ms, 0);

void test('an account alone has every slot, whatever its letters take', async (t) => {
  for (const ms of [LETTER_MS, 25_000]) {
    const run = simulate(4, flood(1, ms, 100));
    t.equal(run.idleMs, 0);
    t.equal(Math.max(...run.ran.map(({ begun }) => begun)), 24 * ms);
  }
});

void test('two accounts that render letters share the slots, and none is idle', async (t) => {
  const run = simulate(2, [...flood(1, LETTER_MS, 500), ...flood(2, LETTER_MS, 500)]);
  t.equal(run.idleMs, 0);
  for (const [n, { account }] of run.ran.entries()) t.equal(account, (n % 2) + 1);
});

void test('turns go by slot time, not by the number of jobs', async (t) => {
  for (const slots of [1, 2, 4]) {
    const crowd = [...flood(1, 1800, 1000), ...flood(2, 100, 20_000)];
    const run = simulate(slots, crowd, 10 * MINUTE_MS);
    const [long, short] = [slotTime(run, 1), slotTime(run, 2)];
    t.ok(Math.abs(long / short - 1) < 0.1, `${slots} slots: ${long} and ${short} ms`);
  }
});

void test('who comes to a busy service has its turn at once, and its share, not all slots', async (t) => {
  const late = flood(2, LETTER_MS, 2000).map((job) => ({ ...job, at: 5 * MINUTE_MS }));
  const run = simulate(2, [...flood(1, LETTER_MS, 4000), ...late], 7 * MINUTE_MS);
  t.ok((waits(run, 2)[0] ?? Infinity) <= LETTER_MS);
  const since = run.ran.filter(({ begun }) => begun >= 5 * MINUTE_MS);
  t.ok(since.findIndex(({ account }) => account === 1) < 20, 'the other one goes on soon');
  const share = slotTime({ ran: since, idleMs: 0 }, 1) / slotTime({ ran: since, idleMs: 0 }, 2);
  t.ok(share > 0.85, `${share}`);
});

void test('endless pages delay others once, by a time limit, where there are two slots', async (t) => {
  const run = simulate(2, [...flood(1, LIMIT_MS, 30, true), ...letters(2, 1000, 5000, 100)]);
  const [first = 0, ...later] = waits(run, 2);
  t.equal(first, LIMIT_MS - 1000);
  const after = later.slice(LIMIT_MS / 5000);
  t.strictSame(new Set(after), new Set([0]), 'and nothing afterwards');
});

void test('endless pages delay a letter by at most a time limit, where there is one slot', async (t) => {
  const run = simulate(1, [...flood(1, LIMIT_MS, 30, true), ...letters(2, 1000, 100, 20)]);
  t.equal(waits(run, 2)[0], LIMIT_MS - 1000);
  const order = run.ran.slice(0, 22).map(({ account }) => account);
  t.strictSame(order, [1, ...Array.from({ length: 20 }, () => 2), 1]);
});

void test('endless pages leave the last slot free beside long pages of others', async (t) => {
  for (const slots of [2, 3]) {
    const endless: Arrival = { at: 0, account: 1, ms: LIMIT_MS, timesOut: true };
    const others = Array.from({ length: slots - 1 }, (_, n) => n + 3);
    const slow = others.map((account) => ({ at: 31_000, account, ms: 20_000 }));
    const again = { ...endless, at: 34_000 };
    const run = simulate(slots, [endless, ...slow, again, ...letters(2, 35_000, 1000, 10)]);
    t.strictSame(new Set(waits(run, 2)), new Set([0]), `${slots} slots`);
    t.strictSame(waits(run, 1), [0, 17_000], 'its turn comes when the long pages end');
  }
});

void test('a timeout is remembered while nobody else is there', async (t) => {
  const run = simulate(2, [...flood(1, LIMIT_MS, 9, true), ...letters(2, 100_500, 1, 1)]);
  t.strictSame(waits(run, 2), [0]);
});

void test('a timeout is forgotten, five minutes later', async (t) => {
  const again = flood(1, LETTER_MS, 4).map((job) => ({ ...job, at: LIMIT_MS + 5 * MINUTE_MS }));
  const run = simulate(2, [...flood(1, LIMIT_MS, 1, true), ...again]);
  t.strictSame(waits(run, 1), [0, 0, 0, LETTER_MS, LETTER_MS]);
});

void test('pages that are slow on purpose and never time out leave a slot to others', async (t) => {
  const run = simulate(2, [...flood(1, 25_000, 60), ...letters(2, 1000, 5000, 100)]);
  const [first = 0, ...later] = waits(run, 2);
  t.equal(first, 24_000);
  t.strictSame(new Set(later.slice(5)), new Set([0]));
});

void test('a hundred quick letters do not hide a slow page', async (t) => {
  const cover = letters(1, 0, 10, 100).map((job) => ({ ...job, ms: 50 }));
  const slow = flood(1, 25_000, 60).map((job) => ({ ...job, at: 3000 }));
  const run = simulate(2, [...cover, ...slow, ...letters(2, 4000, 5000, 100)]);
  t.strictSame(new Set(waits(run, 2).slice(6)), new Set([0]));
});

void test('ten accounts together delay others once each, and rarely afterwards', async (t) => {
  const crowd = Array.from({ length: 10 }, (_, n) => flood(n + 10, LIMIT_MS, 40, true)).flat();
  const run = simulate(2, [...crowd, ...letters(2, 1000, 5000, 1000)]);
  const all = waits(run, 2);
  t.ok(Math.max(...all) <= 5 * LIMIT_MS);
  // Each is forgotten after five minutes without a timeout: that is how long its turn takes beside nine others.
  const later = all.slice((5 * LIMIT_MS) / 5000);
  t.ok(Math.max(...later) <= LIMIT_MS);
  const delayed = later.filter((ms) => ms > 0).length / later.length;
  t.ok(delayed < 0.05, `${delayed}`);
});

void test('an account that is held back goes on in its turn beside a crowd', async (t) => {
  const crowd = [3, 4, 5].flatMap((account) => flood(account, LETTER_MS, 2000));
  const once: Arrival = { at: 0, account: 1, ms: LIMIT_MS, timesOut: true };
  const run = simulate(2, [once, ...flood(1, LETTER_MS, 100), ...crowd]);
  const ends = run.ran.filter(({ account }) => account === 1).at(-1);
  t.ok(ends && ends.begun < 8 * MINUTE_MS);
});

const arrival = fc.record({
  at: fc.integer({ min: 0, max: 60_000 }),
  account: fc.integer({ min: 1, max: 6 }),
  ms: fc.integer({ min: 1, max: LIMIT_MS }),
  timesOut: fc.boolean(),
});

void test('every job has its turn, and without long pages no slot is idle', async (t) => {
  const arrivals = fc.array(arrival, { maxLength: 80 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), arrivals, (slots, jobs) => {
      const { ran } = simulate(slots, jobs);
      t.equal(ran.length, jobs.length);
      const short = jobs.map(({ at, account, ms }) => ({ at, account, ms: ms / 20 }));
      t.equal(simulate(slots, short).idleMs, 0);
    }),
  );
});

void test('a job that was taken and not begun is next, and costs nothing', async (t) => {
  let now = 0;
  const turns = new FairTurns(() => now);
  for (const n of [1, 2]) turns.add(renderJob(n, 1));
  const first = turns.take({ free: 1, total: 1 });
  now = MINUTE_MS;
  if (first) turns.untake(first);
  turns.add(renderJob(3, 2));
  t.equal(turns.size, 3);
  const order = [1, 2, 3].map(() => turns.take({ free: 1, total: 1 })?.conversionId);
  t.strictSame(order, [
    renderJob(3).conversionId,
    renderJob(1).conversionId,
    renderJob(2).conversionId,
  ]);
  for (const n of [1, 2, 3]) turns.release(renderJob(n).conversionId);
  t.equal(turns.take({ free: 1, total: 1 }), undefined);
});

void test('a job that is paused uses no slot time until it begins again', async (t) => {
  let now = 0;
  const turns = new FairTurns(() => now);
  turns.add(renderJob(1, 1));
  turns.take({ free: 1, total: 2 });
  turns.begin(renderJob(1).conversionId);
  now += 2000;
  turns.pause(renderJob(1).conversionId);
  for (const n of [2, 3]) turns.add(renderJob(n, n));
  const short = turns.take({ free: 1, total: 2 });
  if (short) turns.begin(short.conversionId);
  now += MINUTE_MS;
  turns.begin(renderJob(1).conversionId);
  now += 1000;
  for (const n of [1, 2]) turns.release(renderJob(n).conversionId);
  for (const n of [4, 5]) turns.add(renderJob(n, n - 3));
  const order = [3, 4, 5].map(() => turns.take({ free: 3, total: 4 })?.conversionId);
  t.strictSame(
    order,
    [3, 4, 5].map((n) => renderJob(n).conversionId),
    '0, 3 and 61 s of slot time',
  );
});

void test('nothing waits outside for a slot of an account that is held back', async (t) => {
  let now = 0;
  const turns = new FairTurns(() => now);
  for (const n of [1, 2]) turns.add(renderJob(n, 1));
  turns.take({ free: 0, total: 2 });
  turns.begin(renderJob(1).conversionId);
  turns.learn({ ...failedReport(1), code: 'not_html' });
  t.notOk(turns.isHeldBack(renderJob().accountId));
  turns.learn(failedReport(1));
  turns.release(renderJob(1).conversionId);
  t.ok(turns.isHeldBack(renderJob().accountId));
  t.equal(turns.take({ free: 0, total: 2 }), undefined);
  t.ok(turns.take({ free: 1, total: 2 }));
  now += 5 * MINUTE_MS;
  t.notOk(turns.isHeldBack(renderJob().accountId));
});

void test('the time until a dead renderer is missed is not the length of the next try', async (t) => {
  for (const [next, isHeldBack] of [
    ['b', false],
    ['a', true],
  ] as const) {
    let now = 0;
    const turns = new FairTurns(() => now);
    turns.add(renderJob(1, 1));
    turns.take({ free: 1, total: 2 });
    turns.begin(renderJob(1).conversionId, 'a');
    now += 16_000;
    turns.begin(renderJob(1).conversionId, next);
    now += 1000;
    turns.learn({ ...failedReport(1), code: 'page_crashed' });
    t.equal(turns.isHeldBack(renderJob(1, 1).accountId), isHeldBack, `delivery ${next}`);
  }
});

const low = (n: number, account: number) =>
  ({ ...renderJob(n, account), priority: 'low' }) as const;

void test('a job of low priority waits behind the others of its account, also those that come later', (t) => {
  const turns = new FairTurns(() => 0);
  const [first, second, other] = [low(1, 1), low(2, 1), renderJob(3, 1)];
  for (const job of [first, second, low(4, 2), other]) turns.add(job);
  t.equal(turns.sizeOf(other.accountId, 'normal'), 1);
  const take = () => turns.take({ free: 1, total: 4 })?.conversionId;
  const order = [take(), take(), take(), take(), take()];
  const ofFirst = order.filter((id) => id !== renderJob(4, 2).conversionId);
  const expected = [other, first, second].map((job) => job.conversionId);
  t.strictSame(ofFirst, [...expected, undefined], 'and all have their turn');
  t.ok(order.indexOf(renderJob(4, 2).conversionId) <= 1, 'another account has its turn as before');
  turns.untake(second);
  turns.untake(first);
  t.strictSame(
    turns.retain((id) => id !== first.conversionId),
    [first.conversionId],
  );
  t.equal(take(), second.conversionId);
  t.equal(turns.sizeOf(other.accountId, 'normal'), 0);
  t.end();
});
