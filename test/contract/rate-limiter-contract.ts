/** What every rate limiter must do. Each adapter has a test file that runs it. */
import { type Test, test } from 'tap';
import type { Rate, RateLimiter } from '../../src/limits/rate-limiter/port.ts';
import type { Clock } from '../../src/time/clock.ts';
import { NOW } from '../support/samples.ts';

export interface OpenedRateLimiter {
  readonly limiter: RateLimiter;
  /** The limiter of another node that shares the counts: the same one where there are no others. */
  readonly other: RateLimiter;
  readonly close: () => Promise<void>;
}

export interface RateLimiterAdapter {
  readonly name: string;
  /** One that has counted nothing. */
  readonly open: (t: Test, clock: Clock) => Promise<OpenedRateLimiter>;
}

const MINUTE_MS = 60_000;
const TEN: Rate = { limit: 10, windowMs: MINUTE_MS };
/** NOW is the first moment of a minute. */
const RESET = (NOW + MINUTE_MS) / 1000;

interface Moved extends OpenedRateLimiter {
  readonly clock: { time: number };
}

async function take(limiter: RateLimiter, times: number, key = 'a', rate = TEN): Promise<void> {
  for (let n = 0; n < times; n += 1) await limiter.consume(key, rate);
}

export function runRateLimiterContract({ name, open }: RateLimiterAdapter): void {
  const contract = (title: string, run: (t: Test, opened: Moved) => Promise<void>): void => {
    void test(`${name}: ${title}`, async (t) => {
      const clock = { time: NOW, now: () => clock.time };
      const opened = await open(t, clock);
      try {
        await run(t, { ...opened, clock });
      } finally {
        await opened.close();
      }
    });
  };

  contract('lets as many pass as the limit says, and says how things stand', async (t, opened) => {
    const { limiter, clock } = opened;
    for (let left = 9; left >= 0; left -= 1) {
      const status = { allowed: true, limit: 10, remaining: left, resetAt: RESET };
      t.strictSame(await limiter.consume('a', TEN), status);
      clock.time += 6_000 - 1;
    }
    const refused = { allowed: false, limit: 10, remaining: 0, resetAt: RESET };
    t.strictSame(await limiter.consume('a', TEN), refused);
    t.strictSame(await limiter.consume('a', TEN), refused);
  });

  contract('begins again with each window', async (t, { limiter, clock }) => {
    await take(limiter, 11);
    clock.time = NOW + MINUTE_MS - 1;
    t.match(await limiter.consume('a', TEN), { allowed: false, resetAt: RESET });
    clock.time = NOW + MINUTE_MS;
    const fresh = { allowed: true, limit: 10, remaining: 9, resetAt: RESET + 60 };
    t.strictSame(await limiter.consume('a', TEN), fresh);
    clock.time = NOW + 10 * MINUTE_MS + 1;
    t.match(await limiter.consume('a', TEN), { remaining: 9, resetAt: RESET + 600 });
  });

  contract('counts each key by itself', async (t, { limiter }) => {
    await take(limiter, 11);
    t.match(await limiter.consume('b', TEN), { allowed: true, remaining: 9 });
    // An adapter may write keys into a narrower alphabet; none may become another's.
    const keys = [
      '',
      ' ',
      'a.b',
      'a b',
      'a_b',
      'a*',
      'a>',
      'a/b',
      'A',
      'é',
      '::1',
      'a'.repeat(200),
    ];
    for (const key of keys) {
      t.match(await limiter.consume(key, TEN), { remaining: 9 }, JSON.stringify(key));
    }
  });

  contract('counts windows of different lengths by themselves', async (t, { limiter, clock }) => {
    const quarter = { limit: 3, windowMs: 15 * MINUTE_MS };
    await take(limiter, 3, 'a', quarter);
    t.match(await limiter.consume('a', TEN), { allowed: true, remaining: 9 });
    clock.time += MINUTE_MS;
    t.match(await limiter.consume('a', TEN), { allowed: true, remaining: 9 });
    t.match(await limiter.consume('a', quarter), { allowed: false, resetAt: NOW / 1000 + 900 });
  });

  contract('goes by the limit of now', async (t, { limiter }) => {
    await take(limiter, 5);
    const lower = await limiter.consume('a', { ...TEN, limit: 3 });
    t.match(lower, { allowed: false, limit: 3, remaining: 0 }, 'a smaller plan');
    const higher = await limiter.consume('a', { ...TEN, limit: 100 });
    t.match(higher, { allowed: true, limit: 100, remaining: 94 }, 'a greater one');
  });

  contract('never lets more pass, however many come at once', async (t, { limiter, other }) => {
    const statuses = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? limiter : other).consume('a', TEN)),
    );
    const passed = statuses.filter(({ allowed }) => allowed);
    t.equal(passed.length, 10);
    t.strictSame(
      passed.map(({ remaining }) => remaining).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  contract('looks without counting', async (t, { limiter, other, clock }) => {
    const untouched = { allowed: true, limit: 10, remaining: 10, resetAt: RESET };
    t.strictSame(await limiter.get('a', TEN), untouched);
    t.strictSame(await limiter.get('a', TEN), untouched);
    await take(limiter, 9);
    t.match(await other.get('a', TEN), { allowed: true, remaining: 1 });
    await take(other, 1);
    t.match(await limiter.get('a', TEN), { allowed: false, remaining: 0 });
    clock.time += MINUTE_MS;
    t.match(await limiter.get('a', TEN), { allowed: true, remaining: 10, resetAt: RESET + 60 });
  });

  contract('takes back what was counted, and no more than that', async (t, { limiter, clock }) => {
    await take(limiter, 10);
    await limiter.refund('a', TEN);
    t.match(await limiter.consume('a', TEN), { allowed: true, remaining: 0 });
    for (let n = 0; n < 15; n += 1) await limiter.refund('a', TEN);
    t.match(await limiter.get('a', TEN), { remaining: 10 });
    t.match(await limiter.consume('a', TEN), { remaining: 9 });
    clock.time += MINUTE_MS;
    await limiter.refund('a', TEN);
    t.match(await limiter.consume('a', TEN), { remaining: 9 }, 'nothing of the window before');
    await limiter.refund('never seen', TEN);
    t.match(await limiter.get('never seen', TEN), { remaining: 10 });
  });

  contract('takes back as many as were counted at once', async (t, { limiter, other }) => {
    await take(limiter, 10);
    await Promise.all([limiter, other, limiter].map((each) => each.refund('a', TEN)));
    t.match(await limiter.get('a', TEN), { remaining: 3 });
  });
}
