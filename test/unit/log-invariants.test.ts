import { test } from 'tap';
import type { DomainEvent } from '../../src/domain/events.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import { eventId } from '../../src/time/ids.ts';
import {
  completion,
  expiry,
  failure,
  refund,
  request,
  type Step,
  start,
} from '../support/history.ts';
import { balanceOf, type LogEvent, violations } from '../support/invariants.ts';
import { accountId, conversionId, keyId, NOW, sha256 } from '../support/samples.ts';

const who = { accountId: accountId() };
const ACCOUNT = `account-${accountId()}`;
const life = (n: number) => `conversion-${conversionId(n)}`;

type Entry = readonly [stream: string, event: DomainEvent, time?: number];

const entriesOf = ({ stream, events }: Step, position = 0): Entry[] =>
  events(BigInt(position)).map((event) => [stream, event]);

function only(step: Step, position?: number): Entry {
  const [entry] = entriesOf(step, position);
  if (entry === undefined) throw new Error('A step without an event.');
  return entry;
}

const granted = (amount: number): Entry => [
  ACCOUNT,
  { type: 'CreditGranted', data: { ...who, amount } },
];
const debited = (n: number): Entry => only(request(n, 1));
function requested(n: number, requestedAt = NOW): Entry {
  const event = request(n, 1)
    .events(0n)
    .find(({ type }) => type === 'ConversionRequested');
  if (event?.type !== 'ConversionRequested') throw new Error('A request without its event.');
  const data = { ...event.data, requestedAt, idempotencyKey: sha256(n) };
  return [ACCOUNT, { ...event, data }];
}
function unpaid(n: number): Entry {
  const [stream, event] = requested(n);
  const data = { ...event.data, unpaid: true };
  return [stream, { ...event, data } as DomainEvent];
}
const started = (n: number): Entry => only(start(n, 1));
const completed = (n: number): Entry => only(completion(n, 1));
const failed = (n: number): Entry => only(failure(n, 1));
const refunded = (n: number, failedAt: number): Entry => only(refund(n, 1), failedAt);
const expired = (n: number): Entry => only(expiry(n, 1));
const ignored = (n: number): Entry => {
  const attempt = { ...who, conversionId: conversionId(n), renderer: 'r', attempt: 1 };
  return [life(n), { type: 'ConversionOutcomeIgnored', data: { ...attempt, outcome: 'failed' } }];
};

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

const accepted = (n: number): readonly Entry[] => [debited(n), requested(n)];
const good = [
  granted(2),
  ...accepted(1),
  started(1),
  completed(1),
  ...accepted(2),
  failed(2),
  refunded(2, 8),
  ignored(1),
  expired(1),
];

void test('a good log has nothing wrong with it', (t) => {
  t.strictSame(violations(logOf(...good), { settled: true }), []);
  t.equal(balanceOf(logOf(...good), accountId()), 1);
  const open = logOf(granted(2), ...accepted(1), started(1), ...accepted(2), failed(2));
  t.strictSame(violations(open, { settled: false }), []);
  t.end();
});

void test('what costs nothing has no debit and no refund', (t) => {
  const log = logOf(unpaid(1), completed(1), unpaid(2), failed(2));
  t.strictSame(violations(log, { settled: true }), []);
  t.equal(balanceOf(log, accountId()), 0);
  t.end();
});

void test('each fault is told', (t) => {
  const keyUsed = { ...who, keyId: keyId(), usedAt: NOW };
  const faults: readonly (readonly [told: RegExp, ...entries: readonly Entry[]])[] = [
    [/balance is -1/, ...accepted(1), completed(1)],
    [/CreditDebited without its pair/, granted(2), debited(1), granted(1)],
    [/ConversionRequested without its pair/, granted(2), requested(1), completed(1)],
    [/without its pair/, granted(2), debited(1), requested(2), completed(2)],
    [/without its pair/, granted(2), debited(1), started(1), requested(1), completed(1)],
    [/accepted twice/, granted(2), ...accepted(1), completed(1), debited(1), requested(1, NOW + 1)],
    [/without its pair/, granted(2), debited(1), unpaid(1), completed(1)],
    [/refunded and not paid/, granted(2), unpaid(1), failed(1), refunded(1, 3)],
    [/requested twice/, granted(2), ...accepted(1), completed(1), ...accepted(1)],
    [/has not ended/, granted(2), ...accepted(1), started(1)],
    [/ended 2 times/, granted(2), ...accepted(1), completed(1), failed(1), refunded(1, 5)],
    [/started after its end/, granted(2), ...accepted(1), completed(1), started(1)],
    [/Expired before its end/, granted(2), ...accepted(1), expired(1), completed(1)],
    [/Ignored before its end/, granted(2), ...accepted(1), ignored(1), completed(1)],
    [/was not refunded/, granted(2), ...accepted(1), failed(1)],
    [/refunded 2 times/, granted(2), ...accepted(1), failed(1), refunded(1, 4), refunded(1, 4)],
    [/refunded and not failed/, granted(2), ...accepted(1), completed(1), refunded(1, 4)],
    [/answers 3, not 4/, granted(2), ...accepted(1), failed(1), refunded(1, 3)],
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
