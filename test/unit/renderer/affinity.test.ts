import { test } from 'tap';
import { WARM_ACCOUNTS } from '../../../src/renderer/chrome/warm-tabs.ts';
import { chooseThread, withLatest } from '../../../src/renderer/pool.ts';

const thread = (...accounts: readonly string[]) => ({ accounts });

void test('a document goes to a thread that is warm for its account', (t) => {
  const [a, b, both] = [thread('a'), thread('b'), thread('b', 'a')];
  t.equal(chooseThread('b', [a, b]), b, 'not to the one that is idle longest');
  t.equal(chooseThread('a', [b]), b, 'but it does not wait for it');
  t.equal(chooseThread('a', [a, b, both]), both, 'the one used last, where several are warm');
  t.end();
});

void test('another account goes to the thread that is idle longest', (t) => {
  const idle = [thread(), thread('a'), thread('b')];
  t.equal(chooseThread('x', idle), idle[0]);
  t.equal(chooseThread('x', []), undefined);
  t.end();
});

void test('a thread is warm for as many accounts as it keeps tabs for, used last', (t) => {
  const served = Array.from({ length: WARM_ACCOUNTS }, (_, index) => `account ${index}`);
  const accounts = [...served, 'account 0', 'one more'].reduce<readonly string[]>(withLatest, []);
  t.same(accounts, [...served.slice(2), 'account 0', 'one more']);
  t.end();
});
