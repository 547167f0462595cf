import { test } from 'tap';
import { DAY_MS, usageQueries } from '../../../projections/usage.ts';
import { monthOf } from '../../../src/domain/key-use.ts';
import { completion, failure, opening, request } from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openProjected } from '../../support/projected.ts';
import { accountId, NOW } from '../../support/samples.ts';

const DECEMBER = Date.UTC(2026, 11, 1);
/** A step of this number is requested at 00:00 of the next month; it ends 900 ms later. */
const AT_MIDNIGHT = DECEMBER - NOW;
const ENDS_AT_MIDNIGHT = AT_MIDNIGHT - 900;

void test('what happens at 00:00 of a month is counted in that month, not in the one before', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const before = [AT_MIDNIGHT - 1, ENDS_AT_MIDNIGHT - 1];
  const after = [AT_MIDNIGHT, ENDS_AT_MIDNIGHT];
  const all = [...before, ...after];
  await runner.waitFor(
    await write(log, [
      opening(1, 9),
      ...all.map((n) => request(n, 1)),
      completion(ENDS_AT_MIDNIGHT - 1, 1),
      completion(ENDS_AT_MIDNIGHT, 1),
      failure(AT_MIDNIGHT - 1, 1),
      failure(AT_MIDNIGHT, 1),
    ]),
  );
  const first = DECEMBER / DAY_MS;
  const days = (from: number, to: number) =>
    readModel
      .query(usageQueries)
      .days(accountId(1), from, to)
      .map(({ day, accepted, completed, failed }) => ({ day, accepted, completed, failed }));
  const november = { day: first - 1, accepted: 3, completed: 1, failed: 0 };
  const december = { day: first, accepted: 1, completed: 1, failed: 2 };
  t.strictSame(days(first - 30, first - 1), [november]);
  t.strictSame(days(first, first + 30), [december]);
  t.strictSame(days(first - 1, first), [november, december]);
});

void test('a month begins at 00:00 in UTC', (t) => {
  t.equal(monthOf(DECEMBER - 1), '2026-11');
  t.equal(monthOf(DECEMBER), '2026-12');
  t.end();
});
