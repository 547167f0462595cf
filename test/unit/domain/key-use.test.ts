import { test } from 'tap';
import { type AccountEvent, account } from '../../../src/domain/account.ts';
import { usedBy } from '../../../src/domain/key-use.ts';
import { fold } from '../../support/given.ts';
import { accountId, conversionId, keyId } from '../../support/samples.ts';

const NOVEMBER = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
const DECEMBER = NOVEMBER + 1;
const of = { accountId: accountId(), conversionId: conversionId(), amount: 1 };

const debit = (debitedAt: number, n = 1): AccountEvent => ({
  type: 'CreditDebited',
  data: { ...of, keyId: keyId(n), debitedAt },
});
const refund = (debitedAt: number, n = 1): AccountEvent => ({
  type: 'CreditRefunded',
  data: { ...of, failedAt: '1', keyId: keyId(n), debitedAt },
});
const used = (events: readonly AccountEvent[], now: number, n = 1) =>
  usedBy(fold(account, events).keyUse, keyId(n), now);

void test('credits of a limited key count in their month, and none of other keys do', (t) => {
  const plain: AccountEvent = { type: 'CreditDebited', data: of };
  const events = [debit(NOVEMBER), plain, debit(NOVEMBER), debit(NOVEMBER, 2)];
  t.equal(used(events, NOVEMBER), 2);
  t.equal(used(events, NOVEMBER, 2), 1);
  t.equal(used(events, NOVEMBER, 3), 0);
  t.equal(used(events, DECEMBER), 0, 'a new month');
  t.strictSame(fold(account, [...events, debit(DECEMBER)]).keyUse, {
    month: '2026-12',
    credits: { [keyId()]: 1 },
  });
  t.end();
});

void test('a refund gives back in the month of the debit alone', (t) => {
  t.equal(used([debit(NOVEMBER), debit(NOVEMBER), refund(NOVEMBER)], NOVEMBER), 1);
  t.equal(used([debit(NOVEMBER), debit(DECEMBER), refund(NOVEMBER)], DECEMBER), 1);
  const state = fold(account, [debit(NOVEMBER), refund(NOVEMBER), refund(NOVEMBER)]);
  t.strictSame(state.keyUse, { month: '2026-11', credits: {} }, 'what is at 0 is not kept');
  t.end();
});

void test('a node whose clock is behind counts in the newest month', (t) => {
  const events = [debit(DECEMBER), debit(NOVEMBER)];
  t.equal(used(events, NOVEMBER), 2);
  t.equal(used(events, DECEMBER), 2);
  t.end();
});
