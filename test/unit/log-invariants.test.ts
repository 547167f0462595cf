import { test } from 'tap';
import type { DomainEvent } from '../../src/domain/events.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import { eventId } from '../../src/time/ids.ts';
import { balanceOf, type LogEvent, violations } from '../support/invariants.ts';
import {
  accountId,
  blobRef,
  conversionId,
  keyId,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  sha256,
  TIMINGS,
} from '../support/samples.ts';

const who = { accountId: accountId() };
const ACCOUNT = `account-${accountId()}`;
const life = (n: number) => `conversion-${conversionId(n)}`;
const by = (n: number) => ({ ...who, conversionId: conversionId(n), renderer: 'r', attempt: 1 });

type Entry = readonly [stream: string, event: DomainEvent, time?: number];

const granted = (amount: number): Entry => [
  ACCOUNT,
  { type: 'CreditGranted', data: { ...who, amount } },
];
const debited = (n: number): Entry => [
  ACCOUNT,
  { type: 'CreditDebited', data: { ...who, conversionId: conversionId(n), amount: 1 } },
];
const requested = (n: number, requestedAt = NOW): Entry => [
  ACCOUNT,
  {
    type: 'ConversionRequested',
    data: {
      ...who,
      conversionId: conversionId(n),
      source: 'html',
      request: blobRef('request', n),
      requestHmac: REQUEST_HMAC,
      options: OPTIONS,
      requestedAt,
      idempotencyKey: sha256(n),
    },
  },
];
const started = (n: number): Entry => [
  life(n),
  { type: 'ConversionStarted', data: { ...by(n), delivery: 'd', startedAt: NOW } },
];
const completed = (n: number): Entry => [
  life(n),
  {
    type: 'ConversionCompleted',
    data: {
      ...by(n),
      document: blobRef('document', n),
      pdf: PDF,
      manifest: blobRef('manifest', n),
      pages: 1,
      timings: TIMINGS,
      chrome: 'c',
      completedAt: NOW,
    },
  },
];
const failed = (n: number): Entry => [
  life(n),
  {
    type: 'ConversionFailed',
    data: { ...by(n), code: 'timeout', message: 'm', failedAt: NOW },
  },
];
const refunded = (n: number, failedAt: number): Entry => [
  ACCOUNT,
  {
    type: 'CreditRefunded',
    data: { ...who, conversionId: conversionId(n), amount: 1, failedAt: `${failedAt}` },
  },
];
const ignored = (n: number): Entry => [
  life(n),
  { type: 'ConversionOutcomeIgnored', data: { ...by(n), outcome: 'failed' } },
];
const expired = (n: number): Entry => [
  life(n),
  {
    type: 'ConversionExpired',
    data: { ...who, conversionId: conversionId(n), expiredAt: NOW },
  },
];

/** The log that these entries make, numbered as a store numbers them. */
function logOf(...entries: readonly Entry[]): LogEvent[] {
  const next = new Map<string, number>();
  return entries.map(([stream, event, time = NOW], index) => {
    const revision = next.get(stream) ?? 0;
    next.set(stream, revision + 1);
    const written = encodeEvent(eventId(`${index}`), event, {
      correlationId: 'c',
      causationId: 'c',
      actor: { kind: 'service' },
      time,
    });
    return {
      position: index + 1,
      stream,
      revision,
      id: written.id,
      type: written.type,
      data: JSON.stringify(written.data),
      metadata: JSON.stringify(written.metadata),
    };
  });
}

const request = (n: number): readonly Entry[] => [debited(n), requested(n)];
const good = [
  granted(2),
  ...request(1),
  started(1),
  completed(1),
  ...request(2),
  failed(2),
  refunded(2, 8),
  ignored(1),
  expired(1),
];

void test('a good log has nothing wrong with it', (t) => {
  t.strictSame(violations(logOf(...good), { settled: true }), []);
  t.equal(balanceOf(logOf(...good), accountId()), 1);
  const open = logOf(granted(2), ...request(1), started(1), ...request(2), failed(2));
  t.strictSame(violations(open, { settled: false }), []);
  t.end();
});

void test('each fault is told', (t) => {
  const keyUsed = { ...who, keyId: keyId(), usedAt: NOW };
  const faults: readonly (readonly [told: RegExp, ...entries: readonly Entry[]])[] = [
    [/balance is -1/, ...request(1), completed(1)],
    [/CreditDebited without its pair/, granted(2), debited(1), granted(1)],
    [/ConversionRequested without its pair/, granted(2), requested(1), completed(1)],
    [/without its pair/, granted(2), debited(1), requested(2), completed(2)],
    [/without its pair/, granted(2), debited(1), started(1), requested(1), completed(1)],
    [/accepted twice/, granted(2), ...request(1), completed(1), debited(1), requested(1, NOW + 1)],
    [/requested twice/, granted(2), ...request(1), completed(1), ...request(1)],
    [/has not ended/, granted(2), ...request(1), started(1)],
    [/ended 2 times/, granted(2), ...request(1), completed(1), failed(1), refunded(1, 5)],
    [/started after its end/, granted(2), ...request(1), completed(1), started(1)],
    [/Expired before its end/, granted(2), ...request(1), expired(1), completed(1)],
    [/Ignored before its end/, granted(2), ...request(1), ignored(1), completed(1)],
    [/was not refunded/, granted(2), ...request(1), failed(1)],
    [/refunded 2 times/, granted(2), ...request(1), failed(1), refunded(1, 4), refunded(1, 4)],
    [/refunded and not failed/, granted(2), ...request(1), completed(1), refunded(1, 4)],
    [/answers 3, not 4/, granted(2), ...request(1), failed(1), refunded(1, 3)],
    [/without a request/, started(1), completed(1)],
    [
      /lives on after its end/,
      ['apikey-1', { type: 'KeyRevoked', data: { ...who, keyId: keyId() } }],
      ['apikey-1', { type: 'KeyUsed', data: keyUsed }],
    ],
  ];
  for (const [told, ...entries] of faults) {
    t.match(violations(logOf(...entries), { settled: true }).join('\n'), told, `${told}`);
  }
  t.end();
});

void test('a damaged order is told', (t) => {
  const log = logOf(...good);
  const without = (position: number) => log.filter((each) => each.position !== position);
  t.match(violations(without(4), { settled: true }).join(), /position 5 is at place 4/);
  t.match(violations(without(2), { settled: true }).join(), /revision 2, not 1/);
  const twice = log.map((each, index) => (index === 3 ? { ...each, id: log[0]?.id ?? '' } : each));
  t.match(violations(twice, { settled: true }).join(), /is there twice/);
  const nonsense = log.map((each) => ({ ...each, type: 'Nonsense' }));
  t.match(violations(nonsense, { settled: true }).join(), /Unknown event type/);
  const other = log.map((each) =>
    each.stream === life(1) ? { ...each, data: each.data.replace(/acct_\w+/, accountId(2)) } : each,
  );
  t.match(violations(other, { settled: true }).join(), /names another account/);
  t.end();
});
