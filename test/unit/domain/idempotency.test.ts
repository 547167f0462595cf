import { test } from 'tap';
import {
  decodeKeys,
  encodeKeys,
  findKey,
  IDEMPOTENCY_WINDOW_MS,
  isForgotten,
  noKeys,
  rememberKey,
} from '../../../src/domain/idempotency.ts';
import { conversionId, HOUR_MS } from '../../support/samples.ts';

const BUCKET_MS = 4 * HOUR_MS;
/** The begin of a bucket. */
const START = 100_000 * BUCKET_MS;
const accepted = (requestedAt: number, n = 1) => ({ conversionId: conversionId(n), requestedAt });

void test('a key is found for 24 hours to the millisecond', (t) => {
  const keys = rememberKey(noKeys, 'a', accepted(START));
  t.strictSame(findKey(keys, 'a', START), accepted(START));
  t.strictSame(findKey(keys, 'a', START + IDEMPOTENCY_WINDOW_MS - 1), accepted(START));
  t.equal(findKey(keys, 'a', START + IDEMPOTENCY_WINDOW_MS), undefined);
  t.strictSame(findKey(keys, 'a', START - 1), accepted(START), 'a clock that lags');
  t.equal(findKey(keys, 'b', START), undefined);
  t.end();
});

void test('a key that was used again after a day names the newer conversion', (t) => {
  const later = START + IDEMPOTENCY_WINDOW_MS;
  const keys = rememberKey(rememberKey(noKeys, 'a', accepted(START)), 'a', accepted(later, 2));
  t.strictSame(findKey(keys, 'a', later), accepted(later, 2));
  t.end();
});

void test('only buckets that no clock of a node can still need are forgotten', (t) => {
  const newest = START + 7 * BUCKET_MS;
  t.notOk(isForgotten(START, newest));
  t.ok(isForgotten(START - 1, newest));
  const kept = rememberKey(rememberKey(noKeys, 'a', accepted(START)), 'b', accepted(newest));
  t.strictSame(findKey(kept, 'a', START), accepted(START));
  const dropped = rememberKey(kept, 'c', accepted(newest + BUCKET_MS));
  t.equal(findKey(dropped, 'a', START), undefined);
  t.strictSame(findKey(dropped, 'b', newest), accepted(newest));
  t.end();
});

void test('keys come back from a snapshot, beside those that are added later', (t) => {
  const before = rememberKey(
    rememberKey(noKeys, 'a', accepted(START)),
    'b',
    accepted(START + 1, 2),
  );
  const stored: unknown = JSON.parse(JSON.stringify(encodeKeys(before)));
  const restored = decodeKeys(stored as ReturnType<typeof encodeKeys>);
  t.strictSame(findKey(restored, 'a', START), accepted(START));
  t.strictSame(findKey(restored, 'b', START), accepted(START + 1, 2));
  const more = rememberKey(restored, 'c', accepted(START + 2, 3));
  t.strictSame(findKey(more, 'a', START), accepted(START));
  t.strictSame(findKey(more, 'c', START), accepted(START + 2, 3));
  t.strictSame(encodeKeys(more), [
    [
      100_000,
      ['a', 'b', 'c'],
      [1, 2, 3].map((n) => conversionId(n)),
      [START, START + 1, START + 2],
    ],
  ]);
  t.end();
});
