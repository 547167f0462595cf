import { test } from 'tap';
import { Resting } from '../../../src/process-managers/resting.ts';

const ids = Array.from({ length: 500 }, (_, n) => `id-${n}`);
const list = (limit: number) => ids.slice(0, limit);
const same = (id: string): string => id;

void test('what fails rests, twice as long each time, and a quarter of an hour at most', (t) => {
  const resting = new Resting(1000);
  const first = (now: number) => resting.awake(list, same, 1, now)[0];
  t.equal(first(0), 'id-0');
  let now = 0;
  for (const ms of [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000]) {
    resting.failed('id-0', now);
    t.equal(resting.nextMs(now), ms);
    t.equal(first(now + ms - 1), 'id-1');
    now += ms;
    t.equal(first(now), 'id-0');
    t.equal(resting.nextMs(now), Infinity);
  }
  resting.failed('id-0', now);
  t.equal(resting.nextMs(now), 900_000);
  resting.done('id-0');
  t.equal(first(now), 'id-0');
  resting.failed('id-0', now);
  t.equal(resting.nextMs(now), 1000, 'it begins again');
  t.end();
});

void test('what may be tried again since the look is next at once', (t) => {
  const resting = new Resting(1000);
  resting.failed('id-0', 0);
  t.strictSame(
    resting.awake(() => ['id-0'], same, 1, 999.9),
    [],
  );
  t.equal(resting.nextMs(1000.1), 0);
  t.end();
});

void test('more that rest than a page has do not hide what is behind them', (t) => {
  const resting = new Resting(1000);
  for (const id of ids.slice(0, 450)) resting.failed(id, 0);
  t.same(resting.awake(list, same, 3, 1), ['id-450', 'id-451', 'id-452']);
  t.end();
});
