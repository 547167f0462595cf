import { test } from 'tap';
import { IdempotencyKeys } from '../../../dashboard/src/api/idempotency-keys.ts';

void test('a request keeps its key until an answer tells what has happened', (t) => {
  const keys = new IdempotencyKeys();
  const first = keys.keyFor('a');
  t.equal(keys.keyFor('a'), first, 'no answer came');
  for (const status of [500, 502, 503, 504]) {
    keys.answered(status);
    t.equal(keys.keyFor('a'), first, `${status}: it may have been done`);
  }
  keys.answered(400);
  const second = keys.keyFor('a');
  t.not(second, first);
  t.not(keys.keyFor('b'), second, 'another request');
  t.end();
});
