import { test } from 'tap';
import { durationText, reportFiles, slowestLines } from '../support/report.ts';

void test('a run names its slowest files, and how long each took', async (t) => {
  const { tally, reportFile } = reportFiles(() => {});
  for (const [name, seconds] of [
    ['a', 1.5],
    ['b', 140.25],
    ['c', 20],
  ] as const) {
    const { parser, end } = reportFile(name);
    const ended = new Promise((resolve) => parser.once('complete', resolve));
    parser.end('ok 1\n1..1\n');
    await ended;
    end({ status: 0, seconds });
  }
  t.strictSame(slowestLines(tally, 2), ['slow  140.3 s  b', 'slow   20.0 s  c']);
  t.equal(tally.passed, 3);
});

void test('a time is told in minutes and seconds', (t) => {
  t.equal(durationText(59.4), '59 s');
  t.equal(durationText(59.6), '1 min 0 s');
  t.equal(durationText(1144), '19 min 4 s');
  t.end();
});
