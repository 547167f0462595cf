/** Credits that are granted, by an operator or a plan, and given back. Debits: see `acceptance.test.ts`. */
import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import { MAX_BALANCE } from '../../../src/domain/credits.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, conversionId, DAY_MS, keyId, NOW, sha256 } from '../../support/samples.ts';

const owner = { accountId: accountId() };
const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { ...owner, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
};
type GrantData = Extract<AccountEvent, { readonly type: 'CreditGranted' }>['data'];
const grant = (amount: number, more: object = {}, now = NOW): AccountCommand => ({
  type: 'GrantCredits',
  ...owner,
  amount,
  ...more,
  now,
});
const granted = (amount: number, more: Partial<GrantData> = {}): AccountEvent => ({
  type: 'CreditGranted',
  data: { ...owner, amount, ...more },
});
const refund = (failure: number, more: object = {}): AccountCommand => ({
  type: 'RefundConversion',
  ...owner,
  conversionId: conversionId(failure),
  failure,
  failedAt: 7n,
  ...more,
});
const refunded = (failure: number, more: object = {}): AccountEvent => ({
  type: 'CreditRefunded',
  data: { ...owner, conversionId: conversionId(failure), amount: 1, failedAt: '7', ...more },
});

void test('a grant that is repeated with its key within a day adds nothing', (t) => {
  const key = { idempotencyKey: sha256(1) };
  const first = granted(5, { ...key, grantedAt: NOW });
  given(t, account, opened).when(grant(5, key)).thenEvents(first);
  given(t, account, opened, first).when(grant(5, key)).thenNothing();
  given(t, account, opened, first)
    .when(grant(5, { idempotencyKey: sha256(2) }))
    .thenEvents(granted(5, { idempotencyKey: sha256(2), grantedAt: NOW }));
  given(t, account, opened, first)
    .when(grant(5, key, NOW + DAY_MS + 1))
    .thenEvents(granted(5, { ...key, grantedAt: NOW + DAY_MS + 1 }));
  given(t, account, opened, granted(5)).when(grant(5)).thenEvents(granted(5));
  t.equal(fold(account, [opened, first, granted(6)]).credits, 11);
  t.end();
});

void test('a key without its time, in an older log, holds nothing up', (t) => {
  const older = granted(5, { idempotencyKey: sha256(1) });
  t.equal(fold(account, [opened, older]).credits, 5);
  for (const event of [older, granted(5)])
    t.strictSame(fold(account, [opened, event]).keys, account.initialState.keys);
  given(t, account, opened, older)
    .when(grant(5, { idempotencyKey: sha256(1) }))
    .thenEvents(granted(5, { idempotencyKey: sha256(1), grantedAt: NOW }));
  t.end();
});

const ofMonth = (of: string) => ({ month: of });

void test('a plan gives its credits once a month, also if a clock ran ahead', (t) => {
  const november = granted(9, ofMonth('2026-11'));
  given(t, account, opened)
    .when(grant(9, ofMonth('2026-11')))
    .thenEvents(november);
  for (const passed of ['2026-11', '2026-10', '2025-12'])
    given(t, account, opened, november)
      .when(grant(9, ofMonth(passed)))
      .thenNothing();
  given(t, account, opened, november, granted(1))
    .when(grant(9, ofMonth('2026-11')))
    .thenNothing();
  given(t, account, opened, november)
    .when(grant(9, ofMonth('2026-12')))
    .thenEvents(granted(9, ofMonth('2026-12')));
  t.end();
});

void test('an account holds at most a million million credits', (t) => {
  t.equal(MAX_BALANCE, 1_000_000_000_000);
  const almost = given(t, account, opened, granted(MAX_BALANCE - 5));
  almost.when(grant(5)).thenEvents(granted(5));
  almost.when(grant(6)).thenRejected('validation_error', /at most 1000000000000.*999999999995/);
  t.end();
});

void test('failures are refunded in their order, each once', (t) => {
  given(t, account, opened).when(refund(1)).thenEvents(refunded(1));
  given(t, account, opened).when(refund(2)).thenNothing();
  given(t, account, opened, refunded(1)).when(refund(1)).thenNothing();
  given(t, account, opened, refunded(1)).when(refund(2)).thenEvents(refunded(2));
  const { credits, refunds } = fold(account, [opened, granted(5), refunded(1), refunded(2)]);
  t.strictSame([credits, refunds], [7, 2]);
  t.end();
});

void test('a refund gives a key back what it used, if the log says of which key and when', (t) => {
  const debit = { keyId: keyId(), debitedAt: NOW };
  given(t, account, opened).when(refund(1, debit)).thenEvents(refunded(1, debit));
  given(t, account, opened)
    .when(refund(1, { keyId: keyId() }))
    .thenEvents(refunded(1));
  given(t, account, opened)
    .when(refund(1, { debitedAt: NOW }))
    .thenEvents(refunded(1));
  const debited: AccountEvent = {
    type: 'CreditDebited',
    data: { ...owner, conversionId: conversionId(), amount: 3, ...debit },
  };
  const state = fold(account, [opened, granted(9), debited, refunded(1, debit)]);
  t.equal(state.credits, 7);
  t.strictSame(state.keyUse.credits, { [keyId()]: 2 });
  t.end();
});
