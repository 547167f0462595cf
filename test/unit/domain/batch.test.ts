import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import { type BatchEvent, batch, batchStream } from '../../../src/domain/batch.ts';
import { given } from '../../support/given.ts';
import {
  accountId,
  batchId,
  blobRef,
  conversionId,
  DAY_MS,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
  sha256,
} from '../../support/samples.ts';

const who = { accountId: accountId(), batchId: batchId() };
const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { accountId: accountId(), email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
};
const granted = (amount: number): AccountEvent => ({
  type: 'CreditGranted',
  data: { accountId: accountId(), amount },
});
const asked = (n: number) => ({
  conversionId: conversionId(n),
  source: 'html' as const,
  request: blobRef('request', n),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
});
const key = sha256(9);
const request = (total: number, idempotencyKey?: string, now = NOW): AccountCommand => ({
  type: 'RequestBatch',
  ...who,
  conversions: Array.from({ length: total }, (_, n) => asked(n + 1)),
  now,
  ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
});
const requested = (total: number, idempotencyKey?: string): AccountEvent => ({
  type: 'BatchRequested',
  data: {
    ...who,
    total,
    requestedAt: NOW,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  },
});
const accepted = (n: number): readonly AccountEvent[] => [
  {
    type: 'CreditDebited',
    data: { accountId: accountId(), conversionId: conversionId(n), amount: 1 },
  },
  {
    type: 'ConversionRequested',
    data: { accountId: accountId(), ...asked(n), requestedAt: NOW, batchId: batchId() },
  },
];

const unpaid = ({ type, data }: AccountEvent) =>
  ({ type, data: { ...data, unpaid: true } }) as AccountEvent;

void test('a batch is accepted as a whole, each conversion with its debit', (t) => {
  given(t, account, opened, granted(2))
    .when(request(2, key))
    .thenEvents(requested(2, key), ...accepted(1), ...accepted(2));
  given(t, account, opened, granted(1))
    .when(request(2))
    .thenRejected('insufficient_credits', /takes 2 credits, and the account has 1\. Nothing was/);
  const pairs = [requested(2, key), ...accepted(1), ...accepted(2)];
  given(t, account, opened)
    .when({ ...request(2, key), unpaid: true } as AccountCommand)
    .thenEvents(...pairs.filter(({ type }) => type !== 'CreditDebited').map(unpaid));
  given(t, account, opened, granted(5), requested(2, key))
    .when(request(2, key, NOW + DAY_MS - 1))
    .thenNothing();
  given(t, account, opened, granted(1), requested(1, key)).when(request(2, key)).thenNothing();
  given(t, account).when(request(1)).thenRejected('not_found');
  const erased: AccountEvent = { type: 'AccountErased', data: { accountId: accountId() } };
  given(t, account, opened, granted(2), erased).when(request(1)).thenRejected('not_found');
  t.end();
});

void test('a batch ends once, when all its conversions have ended', (t) => {
  const counts = { total: 3, completed: 2, failed: 1 };
  const end = { type: 'EndBatch', ...who, ...counts, at: NOW } as const;
  const ended: BatchEvent = { type: 'BatchEnded', data: { ...who, ...counts, endedAt: NOW } };
  given(t, batch).when(end).thenEvents(ended);
  given(t, batch, ended).when(end).thenNothing();
  given(t, batch)
    .when({ ...end, completed: 1 })
    .thenNothing();
  const cancel = { type: 'CancelBatch', ...who, message: 'v1.m', at: NOW } as const;
  const cancelled: BatchEvent = {
    type: 'BatchCancelled',
    data: { ...who, message: 'v1.m', cancelledAt: NOW },
  };
  given(t, batch).when(cancel).thenEvents(cancelled);
  given(t, batch, cancelled).when(cancel).thenNothing();
  given(t, batch, ended).when(cancel).thenNothing();
  given(t, batch, cancelled)
    .when(end)
    .thenEvents({
      type: 'BatchEnded',
      data: { ...who, ...counts, cancelled: true, endedAt: NOW },
    });
  t.equal(batchStream(batchId()), `batch-${batchId()}`);
  t.end();
});
