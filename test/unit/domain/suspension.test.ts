import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import { given } from '../../support/given.ts';
import {
  accountId,
  batchId,
  blobRef,
  conversionId,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
  sha256,
} from '../../support/samples.ts';

const owner = { accountId: accountId() };
const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { ...owner, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
};
const granted: AccountEvent = { type: 'CreditGranted', data: { ...owner, amount: 5 } };
const suspended = (reason: string, suspendedAt = NOW): AccountEvent => ({
  type: 'AccountSuspended',
  data: { ...owner, reason, suspendedAt },
});
const resumed: AccountEvent = { type: 'AccountResumed', data: { ...owner, resumedAt: NOW + 1 } };
const suspend = (reason: string): AccountCommand => ({
  type: 'SuspendAccount',
  ...owner,
  reason,
  now: NOW,
});
const resume: AccountCommand = { type: 'ResumeAccount', ...owner, now: NOW + 1 };
const asked = {
  conversionId: conversionId(),
  source: 'html',
  request: blobRef('request', 1),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
} as const;
const request = (key?: string): AccountCommand => ({
  type: 'RequestConversion',
  ...owner,
  ...asked,
  now: NOW + 2,
  ...(key === undefined ? {} : { idempotencyKey: key }),
});
const batch: AccountCommand = {
  type: 'RequestBatch',
  ...owner,
  batchId: batchId(),
  conversions: [asked],
  now: NOW,
};

void test('a suspension keeps its reason, and another takes its place', (t) => {
  given(t, account, opened).when(suspend('v1.r')).thenEvents(suspended('v1.r'));
  given(t, account, opened, suspended('v1.r')).when(suspend('v1.s')).thenEvents(suspended('v1.s'));
  given(t, account).when(suspend('v1.r')).thenRejected('not_found');
  t.end();
});

void test('nothing new is accepted of a suspended account, until it is resumed', (t) => {
  for (const command of [request(), request(sha256(9)), batch]) {
    given(t, account, opened, granted, suspended('v1.r'))
      .when(command)
      .thenRejected('forbidden', /suspended: nothing new is accepted/);
  }
  given(t, account, opened, granted, suspended('v1.r')).when(resume).thenEvents(resumed);
  const refund = { type: 'RefundConversion', ...owner, conversionId: conversionId() } as const;
  given(t, account, opened, granted, suspended('v1.r'))
    .when({ ...refund, failure: 1, failedAt: 4n })
    .thenEvents({
      type: 'CreditRefunded',
      data: { ...owner, conversionId: conversionId(), amount: 1, failedAt: '4' },
    });
  given(t, account, opened, granted, suspended('v1.r'), resumed)
    .when(request())
    .thenEvents(
      { type: 'CreditDebited', data: { ...owner, conversionId: conversionId(), amount: 1 } },
      { type: 'ConversionRequested', data: { ...owner, ...asked, requestedAt: NOW + 2 } },
    );
  given(t, account, opened)
    .when(resume)
    .thenRejected('not_found', /not suspended/);
  given(t, account, opened, suspended('v1.r'), resumed).when(resume).thenRejected('not_found');
  t.end();
});
