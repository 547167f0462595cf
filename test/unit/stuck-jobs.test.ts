import { test } from 'tap';
import { StuckJobs } from '../../src/render-queue/stuck-jobs.ts';

const jobs = (...ids: string[]): ReadonlySet<string> => new Set(ids);

void test('a job that nobody takes for a minute while slots are free is stuck', (t) => {
  const stuck = new StuckJobs();
  t.strictSame(stuck.check(jobs('a', 'b'), 1, 0), []);
  t.strictSame(stuck.check(jobs('a', 'c'), 2, 59_999), [], 'b was taken');
  t.strictSame(stuck.check(jobs('a', 'b', 'c'), 1, 60_000), ['a']);
  t.strictSame(stuck.check(jobs('b', 'c'), 1, 119_998), []);
  t.strictSame(stuck.check(jobs('b', 'c'), 1, 119_999), ['c']);
  t.end();
});

void test('where no place is free jobs wait as they should', (t) => {
  const stuck = new StuckJobs();
  stuck.check(jobs('a'), 1, 0);
  t.strictSame(stuck.check(jobs('a'), 0, 70_000), []);
  t.strictSame(stuck.check(jobs('a'), 1, 80_000), [], 'it begins anew');
  t.strictSame(stuck.check(jobs('a'), 1, 140_000), ['a']);
  t.end();
});
