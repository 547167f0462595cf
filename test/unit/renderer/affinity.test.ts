import { test } from 'tap';
import { Affinity } from '../../../src/renderer/pool.ts';
import { WARM_ACCOUNTS } from '../../../src/renderer/chrome/warm-tabs.ts';

void test('a document goes to a worker that is warm for its account', (t) => {
  const affinity = new Affinity();
  t.equal(affinity.choose('a', [1, 2]), 1);
  t.equal(affinity.choose('b', [2]), 2);
  t.equal(affinity.choose('a', [1, 2]), 1, 'not to the one that is idle longest');
  t.equal(affinity.choose('b', [1, 2]), 2);
  t.equal(affinity.choose('a', [2]), 2, 'but it does not wait for it');
  t.equal(affinity.choose('a', [1, 2]), 2, 'the one used last, where several are warm');
  t.end();
});

void test('another account goes to the worker that is idle longest, unused ones first', (t) => {
  const affinity = new Affinity();
  const idle = [1, 2, 3];
  const chosen = ['a', 'b', 'c', 'd', 'e'].map((account) => affinity.choose(account, idle));
  t.same(chosen, [1, 2, 3, 1, 2]);
  t.equal(affinity.choose('x', []), undefined);
  t.end();
});

void test('a worker is warm for as many accounts as it keeps tabs for, used last', (t) => {
  const affinity = new Affinity();
  const accounts = Array.from({ length: WARM_ACCOUNTS }, (_, index) => `account ${index}`);
  for (const account of accounts) affinity.choose(account, [1]);
  affinity.choose('account 0', [1]);
  affinity.choose('one more', [1]);
  affinity.choose('elsewhere', [2]);
  // Worker 1 was used before worker 2, so an account that is warm nowhere goes to worker 1.
  const warm = (account: string): boolean => {
    affinity.choose('elsewhere', [2]);
    affinity.choose('one more', [1]);
    return affinity.choose(account, [1, 2]) === 1;
  };
  t.ok(warm('account 0'), 'it was used again');
  t.ok(warm('account 2'));
  t.notOk(warm('account 1'), 'its tab was given up');
  t.end();
});

void test('a worker that is no more is forgotten', (t) => {
  const affinity = new Affinity();
  affinity.choose('a', [1]);
  affinity.choose('b', [2]);
  affinity.keep([2, 3]);
  t.equal(affinity.choose('a', [1, 2, 3]), 1, 'as one that was never used');
  t.equal(affinity.choose('b', [1, 2, 3]), 2, 'a living one keeps what it has');
  t.end();
});
