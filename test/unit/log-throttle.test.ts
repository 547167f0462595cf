import { test } from 'tap';
import { LogThrottle } from '../../src/observe/log-throttle.ts';

void test('the first of a time is told, the rest are counted', (t) => {
  const told: number[] = [];
  const seldom = new LogThrottle();
  const say = (now: number): void => seldom.log((suppressed) => void told.push(suppressed), now);
  say(5);
  for (let now = 6; now < 1006; now += 1) say(now);
  t.strictSame(told, [0]);
  say(10_004);
  t.strictSame(told, [0]);
  say(10_005);
  t.strictSame(told, [0, 1001]);
  say(30_000);
  t.strictSame(told, [0, 1001, 0]);
  t.end();
});
