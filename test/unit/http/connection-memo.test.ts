import { Socket } from 'node:net';
import { test } from 'tap';
import { ConnectionMemo } from '../../../src/http/connection-memo.ts';

void test('what came over a connection is made once, and for that connection alone', async (t) => {
  const memo = new ConnectionMemo<string>();
  const made: string[] = [];
  const make = (text: string): string => {
    made.push(text);
    return text.toUpperCase();
  };
  const [one, other] = [new Socket(), new Socket()];
  t.equal(memo.of(one, 'a', make), 'A');
  t.equal(memo.of(one, 'a', make), 'A');
  t.equal(memo.of(other, 'a', make), 'A', 'not from what came over another');
  t.equal(memo.of(one, 'b', make), 'B', 'another text');
  t.equal(memo.of(one, 'a', make), 'A', 'only the last is kept');
  t.strictSame(made, ['a', 'a', 'b', 'a']);
});
