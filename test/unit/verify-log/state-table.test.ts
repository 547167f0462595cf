import { test } from 'tap';
import { StateTable } from '../../../src/log/verify-log/state-table.ts';

const GENERATION = 100;
/** More than two generations hold. */
const MANY = 1_200;

void test('states that memory has no room for are kept as they were changed', (t) => {
  const table = new StateTable<{ n: number }>(() => true, GENERATION);
  for (let n = 0; n < MANY; n += 1) table.set(`a-${n}`, { n });
  for (let n = 0; n < MANY; n += 7) {
    const state = table.get(`a-${n}`);
    if (state !== undefined) state.n = -n;
  }
  for (let n = 0; n < MANY; n += 1) table.set(`b-${n}`, { n });
  let wrong = 0;
  for (let n = 0; n < MANY; n += 1) {
    const expected = n % 7 === 0 ? -n : n;
    if (table.get(`a-${n}`)?.n !== expected || table.get(`b-${n}`)?.n !== n) wrong += 1;
  }
  t.equal(wrong, 0);
  t.equal(table.get('c-1'), undefined);
  const listed = [...table.entries('a-')].map(([name]) => name);
  t.equal(new Set(listed).size, MANY);
  t.ok(listed.every((name) => name.startsWith('a-')));
  t.strictSame(listed, listed.toSorted());
  table.close();
  t.end();
});

void test('states that are not needed any more are forgotten', (t) => {
  const table = new StateTable<{ n: number }>(({ n }) => n >= MANY / 2, GENERATION);
  for (let n = 0; n < MANY; n += 1) table.set(`${n}`, { n });
  t.equal(table.get('0'), undefined);
  t.strictSame(table.get(`${MANY - 1}`), { n: MANY - 1 });
  t.equal([...table.entries('')].length, MANY / 2);
  table.close();
  t.end();
});
