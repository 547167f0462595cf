import { test } from 'tap';
import { BUDGETS, Budget, type BudgetLimits, Budgets } from '../../src/limits/budgets.ts';

void test('an amount that does not fit is refused and counted, and fits when others are released', (t) => {
  const budget = new Budget('maxBodiesBytes', 10);
  const first = budget.take(6);
  t.equal(budget.take(5), undefined);
  const second = budget.take(4);
  t.strictSame(budget.count(), { name: 'maxBodiesBytes', limit: 10, used: 10, refused: 1 });
  first?.();
  first?.();
  t.equal(budget.count().used, 4, 'a release counts once');
  t.ok(budget.take(6));
  second?.();
  t.equal(budget.count().used, 6);
  t.end();
});

void test('an amount over the whole limit fits where nothing else is in use', (t) => {
  const budget = new Budget('maxBodiesBytes', 10);
  const release = budget.take(11);
  t.ok(release);
  t.equal(budget.take(1), undefined);
  release?.();
  t.ok(budget.take(1));
  t.end();
});

void test('a budget for each holder leaves others alone', (t) => {
  const budget = new Budget('maxAccountBodiesBytes', 2, 'each');
  const releases = [budget.take(1, 'a'), budget.take(1, 'a')];
  t.equal(budget.take(1, 'a'), undefined);
  t.ok(budget.take(1, 'b'));
  t.equal(budget.count().used, 3);
  releases[0]?.();
  t.ok(budget.take(1, 'a'));
  t.end();
});

void test('a holder that must leave room has no more than is left to others', (t) => {
  const budget = new Budget('maxBodiesBytes', 16, 'leaving room');
  t.ok(budget.take(8, 'a'));
  t.equal(budget.take(1, 'a'), undefined);
  t.ok(budget.take(4, 'b'));
  t.equal(budget.take(1, 'b'), undefined);
  t.equal(budget.take(5, 'c'), undefined);
  t.ok(budget.take(4, 'c'), 'a newcomer may have all that is left');
  t.equal(budget.count().used, 16);
  t.end();
});

void test('every budget of an API node is counted by its name', (t) => {
  const limits = Object.fromEntries(
    Object.entries(BUDGETS).map(([key, setting]) => [key, setting.default]),
  ) as BudgetLimits;
  const budgets = new Budgets(limits);
  budgets.get('maxValidations').take();
  const counts = budgets.counts();
  t.strictSame(
    counts.map(({ name }) => name),
    Object.keys(BUDGETS).filter((name) => name !== 'maxPageMemoryBytes'),
    'a renderer measures the memory of its pages itself',
  );
  t.equal(counts.find(({ name }) => name === 'maxValidations')?.used, 1);
  t.end();
});
