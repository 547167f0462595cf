import { test } from 'tap';
import {
  acceptBatch,
  acceptConversion,
  type RequestedConversion,
  TEST_RETENTION_SECONDS,
} from '../../../src/domain/acceptance.ts';
import { isRejection } from '../../../src/domain/decider.ts';
import { noKeyUse } from '../../../src/domain/key-use.ts';
import {
  accountId,
  batchId,
  blobRef,
  conversionId,
  keyId,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
} from '../../support/samples.ts';

const owner = (
  credits: number,
  more: { readonly retentionSeconds?: number; readonly used?: number } = {},
) => ({
  credits,
  retentionSeconds: more.retentionSeconds,
  keyUse:
    more.used === undefined ? noKeyUse : { month: '2026-11', credits: { [keyId()]: more.used } },
});
const conversion = (n: number, retentionSeconds?: number): RequestedConversion => ({
  conversionId: conversionId(n),
  source: 'html',
  request: blobRef('request', n),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
  ...(retentionSeconds !== undefined && { facts: { retentionSeconds } }),
});
const one = { accountId: accountId(), now: NOW, ...conversion(1) };
const batchOf = (length: number) => ({
  accountId: accountId(),
  now: NOW,
  batchId: batchId(),
  conversions: Array.from({ length }, (_, n) => conversion(n + 1)),
});
const limited = (credits: number) => ({ terms: { limit: { keyId: keyId(), credits } } });

/** The types of the events, or the code of the refusal. */
const outcome = (decision: ReturnType<typeof acceptConversion>): string =>
  isRejection(decision) ? decision.rejected : decision.map(({ type }) => type).join();

/** The data of the first request among the events. */
function requestOf(decision: ReturnType<typeof acceptConversion>) {
  const found = isRejection(decision)
    ? undefined
    : decision.find((event) => event.type === 'ConversionRequested');
  return found?.type === 'ConversionRequested' ? found.data : undefined;
}

void test('a conversion costs the last credit, and none without one', (t) => {
  t.equal(outcome(acceptConversion(owner(1), one)), 'CreditDebited,ConversionRequested');
  t.equal(outcome(acceptConversion(owner(0), one)), 'insufficient_credits');
  t.equal(outcome(acceptConversion(owner(0), { ...one, unpaid: true })), 'ConversionRequested');
  t.equal(
    outcome(acceptConversion(owner(0), { ...one, terms: { isTest: true } })),
    'ConversionRequested',
  );
  t.match(requestOf(acceptConversion(owner(1), { ...one, unpaid: true })), { unpaid: true });
  t.notOk(requestOf(acceptConversion(owner(1), one))?.unpaid);
  t.end();
});

void test('a batch costs a credit for each of its conversions, or nothing is accepted', (t) => {
  const accepted = acceptBatch(owner(2), batchOf(2));
  t.equal(
    outcome(accepted),
    'BatchRequested,CreditDebited,ConversionRequested,CreditDebited,ConversionRequested',
  );
  t.equal(requestOf(accepted)?.batchId, batchId());
  const refused = acceptBatch(owner(2), batchOf(3));
  t.match(refused, {
    rejected: 'insufficient_credits',
    message: /takes 3 credits, and the account has 2/,
  });
  t.equal(
    outcome(acceptBatch(owner(0), { ...batchOf(2), unpaid: true })),
    'BatchRequested,ConversionRequested,ConversionRequested',
  );
  t.end();
});

void test('a key with a limit takes what is left of it, and a test nothing', (t) => {
  t.match(acceptConversion(owner(9, { used: 4 }), { ...one, ...limited(5) }), [
    { type: 'CreditDebited', data: { keyId: keyId(), debitedAt: NOW } },
    { type: 'ConversionRequested' },
  ]);
  t.equal(
    outcome(acceptConversion(owner(9, { used: 5 }), { ...one, ...limited(5) })),
    'insufficient_credits',
  );
  t.equal(
    outcome(acceptBatch(owner(9, { used: 4 }), { ...batchOf(2), ...limited(5) })),
    'insufficient_credits',
  );
  const ofTest = { terms: { isTest: true, ...limited(5).terms } };
  t.equal(
    outcome(acceptConversion(owner(9, { used: 5 }), { ...one, ...ofTest })),
    'ConversionRequested',
  );
  t.end();
});

const kept = (asked: number | undefined, own: number | undefined, isTest = false) => {
  const { retentionSeconds, retentionOfAccount } =
    requestOf(
      acceptConversion(owner(1, own === undefined ? {} : { retentionSeconds: own }), {
        ...one,
        ...conversion(1, asked),
        ...(isTest && { terms: { isTest } }),
      }),
    ) ?? {};
  return [retentionSeconds, retentionOfAccount];
};

void test('nothing is kept longer than the account says, and a test for a day at most', (t) => {
  t.strictSame(kept(undefined, undefined), [undefined, undefined]);
  t.strictSame(kept(60, undefined), [60, undefined]);
  t.strictSame(kept(undefined, 30), [30, true]);
  t.strictSame(kept(60, 30), [30, true]);
  t.strictSame(kept(30, 60), [30, undefined]);
  t.strictSame(kept(60, 60), [60, undefined]);
  t.strictSame(kept(undefined, undefined, true), [TEST_RETENTION_SECONDS, undefined]);
  t.strictSame(kept(60, undefined, true), [60, undefined]);
  t.strictSame(kept(TEST_RETENTION_SECONDS + 1, undefined, true), [
    TEST_RETENTION_SECONDS,
    undefined,
  ]);
  t.strictSame(kept(undefined, 30, true), [30, true]);
  t.end();
});

void test('an idempotency key is that of the conversion, or of the whole batch', (t) => {
  const key = { idempotencyKey: 'a' };
  t.equal(requestOf(acceptConversion(owner(1), { ...one, ...key }))?.idempotencyKey, 'a');
  const batch = acceptBatch(owner(1), { ...batchOf(1), ...key });
  t.match(batch, [{ type: 'BatchRequested', data: { idempotencyKey: 'a', total: 1 } }]);
  t.equal(requestOf(batch)?.idempotencyKey, undefined);
  t.end();
});
