import fc from 'fast-check';
import { test } from 'tap';
import { ACCOUNT_ID, CONVERSION_ID } from '../../src/domain/ids.ts';
import {
  apiKeyDigest,
  apiKeyIdOf,
  eventId,
  newAccountId,
  newCommandId,
  newConversionId,
  timeOrderedId,
} from '../../src/time/ids.ts';
import { NOW } from '../support/samples.ts';

const apiKeyId = (key: string): string => apiKeyIdOf(apiKeyDigest(key));

void test('ids have their shape', (t) => {
  t.match(newConversionId(NOW), /^conv_[0-9a-hjkmnp-tv-z]{26}$/);
  t.match(newAccountId(NOW), /^acct_[0-9a-hjkmnp-tv-z]{26}$/);
  t.match(newConversionId(NOW), new RegExp(`^${CONVERSION_ID}$`));
  t.match(newAccountId(NOW), new RegExp(`^${ACCOUNT_ID}$`));
  t.match(newCommandId(NOW), /^cmd_[0-9a-hjkmnp-tv-z]{26}$/);
  t.match(timeOrderedId(0), /^0{9}/);
  t.end();
});

void test('a later id sorts behind an earlier one', (t) => {
  const times = fc.tuple(fc.nat(2 ** 31), fc.integer({ min: 1, max: 2 ** 40 }));
  t.doesNotThrow(() =>
    fc.assert(fc.property(times, ([at, later]) => timeOrderedId(at) < timeOrderedId(at + later))),
  );
  t.ok(timeOrderedId(NOW) < timeOrderedId(NOW + 1), 'by a millisecond');
  t.end();
});

void test('ids of one millisecond differ', (t) => {
  const ids = new Set(Array.from({ length: 20_000 }, () => timeOrderedId(NOW)));
  t.equal(ids.size, 20_000);
  t.end();
});

void test('a key id is computed from the key alone', (t) => {
  const key = 'pk_live_0123456789abcdefABCDEFGH';
  // Computed once apart from this code: a stored key's stream must be found for ever.
  t.equal(apiKeyId(key), 'key_14gtnhr2bczw9mapt8enebz0cc');
  t.match(apiKeyId(key), /^key_[0-9a-hjkmnp-tv-z]{26}$/);
  t.not(apiKeyId(key), apiKeyId(`${key.slice(0, -1)}I`));
  t.not(apiKeyId(key), apiKeyId(key.toLowerCase()));
  t.end();
});

void test('an event id is a UUIDv5 of its cause', (t) => {
  const id = eventId('cmd_1/account-1/0');
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.equal(id, '540ded20-b5e8-5c20-9bdb-b363a40897ec', 'as another implementation computes it');
  t.equal(eventId('cmd_1/account-1/0'), id, 'a retry is the same event');
  t.not(eventId('cmd_1/account-1/1'), id);
  t.end();
});
