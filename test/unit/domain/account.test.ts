import { test } from 'tap';
import {
  type AccountCommand,
  type AccountEvent,
  acceptedWithKey,
  account,
  accountStream,
  CREDITS_PER_CONVERSION,
} from '../../../src/domain/account.ts';
import { MAX_BALANCE } from '../../../src/domain/credits.ts';
import type { EventOf } from '../../../src/domain/events.ts';
import { fold, given } from '../../support/given.ts';
import {
  accountId,
  blobRef,
  certificateId,
  conversionId,
  DAY_MS,
  HOUR_MS,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
  SIGNATURE,
  sha256,
} from '../../support/samples.ts';

const ID = accountId();
const opened: EventOf<'AccountOpened'> = {
  type: 'AccountOpened',
  data: { accountId: ID, email: 'v1.email', passwordHash: 'v1.hash', plan: 'free' },
};
const granted = (amount: number): AccountEvent => ({
  type: 'CreditGranted',
  data: { accountId: ID, amount },
});
const erased: AccountEvent = { type: 'AccountErased', data: { accountId: ID } };
const debited = (n: number): AccountEvent => ({
  type: 'CreditDebited',
  data: { accountId: ID, conversionId: conversionId(n), amount: CREDITS_PER_CONVERSION },
});
const requested = (n: number, requestedAt: number, key?: string): AccountEvent => ({
  type: 'ConversionRequested',
  data: {
    accountId: ID,
    conversionId: conversionId(n),
    source: 'html',
    request: blobRef('request', n),
    requestHmac: REQUEST_HMAC,
    options: OPTIONS,
    requestedAt,
    ...(key === undefined ? {} : { idempotencyKey: key }),
  },
});
const unpaid = (n: number, requestedAt: number): AccountEvent => {
  const { type, data } = requested(n, requestedAt) as EventOf<'ConversionRequested'>;
  return { type, data: { ...data, unpaid: true } };
};
const refunded = (n: number, failedAt: bigint): AccountEvent => ({
  type: 'CreditRefunded',
  data: {
    accountId: ID,
    conversionId: conversionId(n),
    amount: CREDITS_PER_CONVERSION,
    failedAt: `${failedAt}`,
  },
});

const open: AccountCommand = {
  type: 'OpenAccount',
  accountId: ID,
  email: 'v1.email',
  passwordHash: 'v1.hash',
  plan: 'free',
  credits: 100,
};
const request = (n: number, now: number, key?: string): AccountCommand => ({
  type: 'RequestConversion',
  accountId: ID,
  conversionId: conversionId(n),
  source: 'html',
  request: blobRef('request', n),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
  now,
  ...(key === undefined ? {} : { idempotencyKey: key }),
});
const refund = (n: number, failure: number): AccountCommand => ({
  type: 'RefundConversion',
  accountId: ID,
  conversionId: conversionId(n),
  failure,
  failedAt: BigInt(40 * failure),
});
const grant = (amount: number, once?: { idempotencyKey: string }, now = NOW): AccountCommand => ({
  type: 'GrantCredits',
  accountId: ID,
  amount,
  now,
  ...once,
});
const toPro: AccountCommand = { type: 'ChangePlan', accountId: ID, plan: 'pro' };
const newPassword: AccountCommand = {
  type: 'ChangePassword',
  accountId: ID,
  passwordHash: 'v1.other',
};

function rightsAfter(...events: AccountEvent[]) {
  const { isOperator, mustChangePassword } = fold(account, events);
  return { isOperator, mustChangePassword };
}

void test('the stream is named after the account', (t) => {
  t.equal(accountStream(ID), `account-${ID}`);
  t.end();
});

void test('opening an account', (t) => {
  given(t, account).when(open).thenEvents(opened, granted(100));
  given(t, account)
    .when({ ...open, credits: 0 })
    .thenEvents(opened);
  given(t, account, opened).when(open).thenNothing();
  given(t, account, opened, erased).when(open).thenNothing();
  const state = fold(account, [opened]);
  t.match(state, { status: 'open', email: 'v1.email', passwordHash: 'v1.hash', plan: 'free' });
  t.equal(state.credits, 0);
  t.end();
});

void test('an account that is not open takes no command but its opening', (t) => {
  for (const events of [[], [opened, granted(5), erased]]) {
    for (const command of [toPro, grant(1), newPassword, request(1, NOW), refund(1, 1)]) {
      given(t, account, ...events)
        .when(command)
        .thenRejected('not_found', /no such account/);
    }
  }
  t.end();
});

void test('erasing forgets everything personal and every credit', (t) => {
  const key = sha256(9);
  const state = fold(account, [opened, granted(5), debited(1), requested(1, NOW, key), erased]);
  t.match(state, { status: 'erased', email: '', passwordHash: '', credits: 0 });
  t.equal(acceptedWithKey(state, key, NOW), undefined);
  t.end();
});

void test('an account may keep its documents shorter, and no request longer than that', (t) => {
  const own = (retentionSeconds?: number): AccountEvent => ({
    type: 'RetentionChanged',
    data: { accountId: ID, ...(retentionSeconds === undefined ? {} : { retentionSeconds }) },
  });
  const change = { type: 'ChangeRetention', accountId: ID } as const;
  given(t, account, opened)
    .when({ ...change, retentionSeconds: 0 })
    .thenEvents(own(0));
  given(t, account, opened, own(0))
    .when({ ...change, retentionSeconds: 0 })
    .thenNothing();
  given(t, account, opened, own(0)).when(change).thenEvents(own());
  given(t, account, opened, own(0), own()).when(change).thenNothing();
  const kept = (before: readonly AccountEvent[], asked?: number): unknown => {
    const facts = asked === undefined ? {} : { retentionSeconds: asked };
    const command = { ...request(1, NOW), facts } as AccountCommand;
    const decided = account.decide(command, fold(account, [opened, granted(1), ...before]));
    const event = (decided as readonly AccountEvent[])[1];
    if (event?.type !== 'ConversionRequested') throw new Error('It was not accepted.');
    const { retentionSeconds, retentionOfAccount } = event.data;
    return retentionOfAccount ? [retentionSeconds] : retentionSeconds;
  };
  t.strictSame([kept([]), kept([], 90)], [undefined, 90]);
  const ofAccount = [60];
  t.strictSame([kept([own(60)]), kept([own(60)], 90)], [ofAccount, ofAccount], 'as marked');
  t.strictSame([kept([own(60)], 60), kept([own(60)], 0)], [60, 0], 'as its request says');
  t.strictSame([kept([own(60), own()]), kept([own(0)], 90)], [undefined, [0]]);
  t.end();
});

void test('plan and password', (t) => {
  const pro: AccountEvent = { type: 'PlanChanged', data: { accountId: ID, plan: 'pro' } };
  given(t, account, opened).when(toPro).thenEvents(pro);
  given(t, account, opened, pro).when(toPro).thenNothing();
  t.equal(fold(account, [opened, pro]).plan, 'pro');
  const changed: AccountEvent = {
    type: 'PasswordChanged',
    data: { accountId: ID, passwordHash: 'v1.other' },
  };
  given(t, account, opened).when(newPassword).thenEvents(changed);
  t.equal(fold(account, [opened, changed]).passwordHash, 'v1.other');
  const judged: AccountCommand = { ...newPassword, epoch: 0 };
  given(t, account, opened).when(judged).thenEvents(changed);
  given(t, account, opened, changed).when(judged).thenRejected('unauthorized');
  t.end();
});

void test('the certificate for signatures is set, replaced and removed', (t) => {
  const set = (signature = SIGNATURE): AccountEvent => ({
    type: 'SignatureSet',
    data: { accountId: ID, ...signature, setAt: NOW },
  });
  const other = { ...SIGNATURE, secret: 'v1.o' };
  const command = { type: 'SetSignature', accountId: ID, signature: other, now: NOW } as const;
  given(t, account, opened, set()).when(command).thenEvents(set(other));
  t.strictSame(fold(account, [opened, set(), set(other)]).signature, other);
  const removed: AccountEvent = {
    type: 'SignatureRemoved',
    data: { accountId: ID, removedAt: NOW },
  };
  const remove = { type: 'RemoveSignature', accountId: ID, now: NOW } as const;
  given(t, account, opened, set()).when(remove).thenEvents(removed);
  given(t, account, opened, set(), removed).when(remove).thenRejected('not_found');
  t.equal(fold(account, [opened, set(), erased]).signature, undefined);
  t.end();
});

void test('the key of a certificate ends when that signs no more, once', (t) => {
  const set = (n: number): AccountEvent => ({
    type: 'SignatureSet',
    data: { accountId: ID, certificateId: certificateId(n), ...SIGNATURE, setAt: NOW },
  });
  const removed: AccountEvent = {
    type: 'SignatureRemoved',
    data: { accountId: ID, removedAt: NOW },
  };
  const destroyed = (n: number): AccountEvent => ({
    type: 'SignatureKeyDestroyed',
    data: { accountId: ID, certificateId: certificateId(n) },
  });
  const record = (n: number): AccountCommand => ({
    type: 'RecordKeyDestroyed',
    accountId: ID,
    certificateId: certificateId(n),
  });
  given(t, account, opened, set(1)).when(record(1)).thenEvents();
  given(t, account, opened, set(1), set(2)).when(record(1)).thenEvents(destroyed(1));
  given(t, account, opened, set(1), set(2)).when(record(2)).thenEvents();
  given(t, account, opened, set(1), set(2), destroyed(1)).when(record(1)).thenEvents();
  given(t, account, opened, set(1), removed).when(record(1)).thenEvents(destroyed(1));
  const ended = [opened, set(1), removed, set(2), erased] as const;
  for (const n of [1, 2])
    given(t, account, ...ended)
      .when(record(n))
      .thenEvents(destroyed(n));
  given(t, account, ...ended, destroyed(2))
    .when(record(2))
    .thenEvents();
  t.strictSame(fold(account, [...ended, destroyed(2)]).endedCertificates, [certificateId(1)]);
  t.end();
});

void test('sessions end with a changed password, and on their own', (t) => {
  const changed: AccountEvent = {
    type: 'PasswordChanged',
    data: { accountId: ID, passwordHash: 'v1.other' },
  };
  const ended: AccountEvent = { type: 'SessionsEnded', data: { accountId: ID } };
  const end: AccountCommand = { type: 'EndSessions', accountId: ID };
  given(t, account, opened).when(end).thenEvents(ended);
  given(t, account).when(end).thenRejected('not_found');
  t.equal(fold(account, [opened]).sessionEpoch, 0);
  t.equal(fold(account, [opened, changed, ended]).sessionEpoch, 2);
  t.end();
});

void test('an operator is made once and revoked once', (t) => {
  const made: AccountEvent = { type: 'OperatorGranted', data: { accountId: ID } };
  const revoked: AccountEvent = { type: 'OperatorRevoked', data: { accountId: ID } };
  const grantOperator: AccountCommand = { type: 'GrantOperator', accountId: ID };
  const revokeOperator: AccountCommand = { type: 'RevokeOperator', accountId: ID };
  given(t, account, opened).when(grantOperator).thenEvents(made);
  given(t, account, opened, made).when(grantOperator).thenNothing();
  given(t, account, opened, made).when(revokeOperator).thenEvents(revoked);
  given(t, account, opened).when(revokeOperator).thenNothing();
  given(t, account, opened, made, revoked).when(grantOperator).thenEvents(made);
  given(t, account).when(grantOperator).thenRejected('not_found');
  given(t, account, opened, erased).when(grantOperator).thenRejected('not_found');
  t.equal(fold(account, [opened]).isOperator, false);
  t.equal(fold(account, [opened, made]).isOperator, true);
  t.equal(fold(account, [opened, made, revoked]).isOperator, false);
  t.equal(fold(account, [opened, made, erased]).isOperator, false);
  t.end();
});

void test('the first account is an operator, whose password is to be changed', (t) => {
  const first: AccountEvent = {
    type: 'AccountOpened',
    data: { ...opened.data, mustChangePassword: true },
  };
  const made: AccountEvent = { type: 'OperatorGranted', data: { accountId: ID } };
  const revoked: AccountEvent = { type: 'OperatorRevoked', data: { accountId: ID } };
  const changed: AccountEvent = {
    type: 'PasswordChanged',
    data: { accountId: ID, passwordHash: 'v1.other' },
  };
  given(t, account)
    .when({ ...open, isFirst: true })
    .thenEvents(first, made, granted(100));
  given(t, account, first, made, revoked)
    .when({ ...open, isFirst: true })
    .thenNothing();
  given(t, account, first, made).when(newPassword).thenEvents(changed);
  t.strictSame(rightsAfter(first, made), { isOperator: true, mustChangePassword: true });
  t.strictSame(rightsAfter(first, made, revoked, made), {
    isOperator: true,
    mustChangePassword: true,
  });
  t.strictSame(rightsAfter(first, made, changed), { isOperator: true, mustChangePassword: false });
  t.strictSame(rightsAfter(opened, made), { isOperator: true, mustChangePassword: false });
  t.strictSame(rightsAfter(first, made, erased), { isOperator: false, mustChangePassword: false });
  t.end();
});

void test('grants stay within what a number holds', (t) => {
  given(t, account, opened).when(grant(7)).thenEvents(granted(7));
  given(t, account, opened).when(grant(MAX_BALANCE)).thenEvents(granted(MAX_BALANCE));
  const nearlyFull = [opened, granted(MAX_BALANCE - 1)];
  given(t, account, ...nearlyFull)
    .when(grant(1))
    .thenEvents(granted(1));
  given(t, account, ...nearlyFull)
    .when(grant(2))
    .thenRejected('validation_error', /999999999999/);
  t.end();
});

void test('a grant with an idempotency key happens once in 24 hours', (t) => {
  const once = { idempotencyKey: sha256(1) };
  const before: AccountEvent = {
    type: 'CreditGranted',
    data: { accountId: ID, amount: 7, ...once, grantedAt: NOW },
  };
  given(t, account, opened).when(grant(7, once)).thenEvents(before);
  const again = given(t, account, opened, before);
  again.when(grant(7, once, NOW + DAY_MS - 1)).thenNothing();
  again.when(grant(8, { idempotencyKey: sha256(2) })).thenEvents({
    type: 'CreditGranted',
    data: { accountId: ID, amount: 8, idempotencyKey: sha256(2), grantedAt: NOW },
  });
  again.when(grant(7, once, NOW + DAY_MS)).thenEvents({
    type: 'CreditGranted',
    data: { accountId: ID, amount: 7, ...once, grantedAt: NOW + DAY_MS },
  });
  t.end();
});

void test('a request takes its credit in the same decision', (t) => {
  given(t, account, opened, granted(1))
    .when(request(1, NOW))
    .thenEvents(debited(1), requested(1, NOW));
  given(t, account, opened, granted(1))
    .when(request(1, NOW, sha256(9)))
    .thenEvents(debited(1), requested(1, NOW, sha256(9)));
  given(t, account, opened).when(request(1, NOW)).thenRejected('insufficient_credits');
  given(t, account, opened, granted(1), debited(1), requested(1, NOW))
    .when(request(2, NOW))
    .thenRejected('insufficient_credits');
  t.end();
});

const renew = (month: string): AccountCommand => ({
  type: 'GrantCredits',
  accountId: ID,
  amount: 5,
  month,
  now: NOW,
});
const renewed = (month: string): AccountEvent => ({
  type: 'CreditGranted',
  data: { accountId: ID, amount: 5, month },
});

void test('a plan gives the credits of a month once, whatever the clock says later', (t) => {
  given(t, account, opened).when(renew('2026-11')).thenEvents(renewed('2026-11'));
  given(t, account, opened, renewed('2026-11')).when(renew('2026-11')).thenNothing();
  given(t, account, opened, renewed('2026-12')).when(renew('2026-11')).thenNothing();
  given(t, account, opened, renewed('2026-12'), granted(1))
    .when(renew('2027-01'))
    .thenEvents(renewed('2027-01'));
  given(t, account, opened, granted(MAX_BALANCE))
    .when(renew('2026-11'))
    .thenRejected('validation_error');
  t.end();
});

void test('what costs nothing is accepted without credits, and takes none', (t) => {
  given(t, account, opened)
    .when({ ...request(1, NOW), unpaid: true } as AccountCommand)
    .thenEvents(unpaid(1, NOW));
  given(t, account, opened, granted(1))
    .when({ ...request(1, NOW), unpaid: true } as AccountCommand)
    .thenEvents(unpaid(1, NOW));
  given(t, account, opened, granted(1), unpaid(1, NOW))
    .when(request(2, NOW))
    .thenEvents(debited(2), requested(2, NOW));
  given(t, account, opened, unpaid(1, NOW))
    .when({ ...request(2, NOW), unpaid: false } as AccountCommand)
    .thenRejected('insufficient_credits');
  t.end();
});

void test('an idempotency key holds for 24 hours to the millisecond', (t) => {
  const key = sha256(9);
  const before = [opened, granted(5), debited(1), requested(1, NOW, key)];
  const end = NOW + DAY_MS;
  given(t, account, ...before)
    .when(request(2, NOW, key))
    .thenNothing();
  given(t, account, ...before)
    .when(request(2, end - 1, key))
    .thenNothing();
  for (const now of [end, end + 1]) {
    given(t, account, ...before)
      .when(request(2, now, key))
      .thenEvents(debited(2), requested(2, now, key));
  }
  given(t, account, ...before)
    .when(request(2, NOW, sha256(8)))
    .thenEvents(debited(2), requested(2, NOW, sha256(8)));
  t.strictSame(acceptedWithKey(fold(account, before), key, end - 1), {
    conversionId: conversionId(1),
    requestedAt: NOW,
  });
  t.end();
});

void test('a known key is answered without credits, and after a clock went back', (t) => {
  const key = sha256(9);
  const spent = [opened, granted(1), debited(1), requested(1, NOW, key)];
  given(t, account, ...spent)
    .when(request(2, NOW + 1, key))
    .thenNothing();
  given(t, account, ...spent)
    .when(request(2, NOW - HOUR_MS, key))
    .thenNothing();
  t.end();
});

void test('a renewed key answers with the newer conversion', (t) => {
  const key = sha256(9);
  const again = NOW + DAY_MS;
  const events = [opened, granted(5), requested(1, NOW, key), requested(2, again, key)];
  const state = fold(account, events);
  t.equal(acceptedWithKey(state, key, again + 1)?.conversionId, conversionId(2));
  t.equal(acceptedWithKey(state, key, again + DAY_MS), undefined);
  t.end();
});

void test('forgetting old keys never forgets a live one, wherever its bucket begins', (t) => {
  const bucket = Math.floor(NOW / (4 * HOUR_MS)) * 4 * HOUR_MS;
  for (const first of [bucket, bucket + 1, bucket + 4 * HOUR_MS - 1]) {
    for (const later of [first + DAY_MS - 1, first + DAY_MS]) {
      const state = fold(account, [
        opened,
        requested(1, first, sha256(1)),
        requested(2, later, sha256(2)),
      ]);
      const live = acceptedWithKey(state, sha256(1), later) !== undefined;
      t.equal(live, later - first < DAY_MS, `${first - bucket} ms, ${later - first}`);
    }
  }
  t.end();
});

void test('the keys of a long life stay within eight buckets', (t) => {
  let state = fold(account, [opened]);
  for (let hour = 0; hour < 100; hour += 1) {
    state = account.evolve(state, requested(1, NOW + hour * HOUR_MS, sha256(hour)));
    t.ok(state.keys.size <= 8, `${state.keys.size} buckets after ${hour} hours`);
  }
  t.ok(acceptedWithKey(state, sha256(99), NOW + 99 * HOUR_MS), 'the last key is remembered');
  t.equal(acceptedWithKey(state, sha256(50), NOW + 99 * HOUR_MS), undefined);
  t.end();
});

void test('each failure is refunded once, in the order of the failures', (t) => {
  const spent = [opened, granted(2), debited(1), requested(1, NOW), debited(2), requested(2, NOW)];
  given(t, account, ...spent)
    .when(refund(1, 1))
    .thenEvents(refunded(1, 40n));
  given(t, account, ...spent)
    .when(refund(2, 2))
    .thenNothing();
  const once = [...spent, refunded(1, 40n)];
  given(t, account, ...once)
    .when(refund(1, 1))
    .thenNothing();
  given(t, account, ...once)
    .when(refund(2, 2))
    .thenEvents(refunded(2, 80n));
  t.equal(fold(account, once).credits, 1);
  t.equal(fold(account, once).refunds, 1);
  t.end();
});

void test('a log whose positions were larger elsewhere is refunded like any other', (t) => {
  given(t, account, opened, refunded(1, 2n ** 53n))
    .when(refund(2, 2))
    .thenEvents(refunded(2, 80n));
  t.end();
});
