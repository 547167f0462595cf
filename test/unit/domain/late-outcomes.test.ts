import { test } from 'tap';
import { isNews, noOutcomes, type Outcome, outcomeOf } from '../../../src/domain/late-outcomes.ts';

const completed = outcomeOf({ renderer: 'r1', attempt: 1 }, 'completed');

void test('a late outcome is recorded, and the same one only once', (t) => {
  t.ok(isNews(noOutcomes, completed));
  t.notOk(isNews({ ended: completed, ignored: [] }, completed), 'the one that counted');
  t.notOk(isNews({ ended: undefined, ignored: [completed] }, completed), 'one that was ignored');
  const others: readonly Outcome[] = [
    { ...completed, renderer: 'r2' },
    { ...completed, attempt: 2 },
    { ...completed, outcome: 'failed' },
  ];
  for (const other of others) t.ok(isNews({ ended: completed, ignored: [] }, other));
  t.end();
});

void test('at most ten are recorded', (t) => {
  const ignored = (n: number): readonly Outcome[] =>
    Array.from({ length: n }, (_, index) => ({ ...completed, attempt: index + 2 }));
  const late = { ...completed, renderer: 'r2' };
  t.ok(isNews({ ended: completed, ignored: ignored(9) }, late));
  t.notOk(isNews({ ended: completed, ignored: ignored(10) }, late));
  t.end();
});
