import { test } from 'tap';
import { Strays } from '../../src/render-queue/strays.ts';

const jobs = (...ids: string[]): ReadonlySet<string> => new Set(ids);

void test('a job that nobody takes for a minute while places are free has strayed', (t) => {
  const strays = new Strays();
  t.strictSame(strays.look(jobs('a', 'b'), 1, 0), []);
  t.strictSame(strays.look(jobs('a', 'c'), 2, 59_999), [], 'b was taken');
  t.strictSame(strays.look(jobs('a', 'b', 'c'), 1, 60_000), ['a']);
  t.strictSame(strays.look(jobs('b', 'c'), 1, 119_998), []);
  t.strictSame(strays.look(jobs('b', 'c'), 1, 119_999), ['c']);
  t.end();
});

void test('where no place is free jobs wait as they should', (t) => {
  const strays = new Strays();
  strays.look(jobs('a'), 1, 0);
  t.strictSame(strays.look(jobs('a'), 0, 70_000), []);
  t.strictSame(strays.look(jobs('a'), 1, 80_000), [], 'it begins anew');
  t.strictSame(strays.look(jobs('a'), 1, 140_000), ['a']);
  t.end();
});
