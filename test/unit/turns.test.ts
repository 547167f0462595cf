import { test } from 'tap';
import { Turns } from '../../src/async/turns.ts';

void test('work of one key goes one after the other, and keeps no other key waiting', async (t) => {
  const turns = new Turns();
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = (key: string, name: string, until?: Promise<void>): Promise<void> =>
    turns.run(key, async () => {
      begun.push(name);
      await until;
    });
  const failing = run('a', 'a1', first.promise);
  const next = run('a', 'a2');
  await run('b', 'b1');
  t.same(begun, ['a1', 'b1']);
  first.reject(new Error('It failed.'));
  await t.rejects(failing, { message: 'It failed.' });
  await next;
  t.same(begun, ['a1', 'b1', 'a2'], 'a failure ends its own turn alone');
});
