import { test } from 'tap';
import { DEFAULT_OPTIONS } from '../../src/domain/event-fields.ts';
import { type DomainEvent, EVENT_SCHEMAS, SCHEMA_VERSION } from '../../src/domain/events.ts';
import { createDecoder, decodeEvent, encodeEvent } from '../../src/event-store/codec.ts';
import type { RecordedEvent } from '../../src/event-store/port.ts';
import {
  accountId,
  blobRef,
  conversionId,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  TIMINGS,
} from '../support/samples.ts';

const ID = '00000000-0000-5000-8000-000000000001';
const metadata = {
  correlationId: 'cmd_1',
  causationId: 'cmd_1',
  actor: { kind: 'operator' },
  time: NOW,
} as const;
const toPro: DomainEvent = {
  type: 'PlanChanged',
  data: { accountId: accountId(), plan: 'pro' },
};
const recorded = (data: object, schemaVersion: number, type = 'PlanChanged'): RecordedEvent => ({
  id: ID,
  type,
  data,
  metadata: { ...metadata, schemaVersion },
  stream: 'account-1',
  revision: 0,
  position: 1n,
});

void test('what is encoded decodes to the same event', (t) => {
  const written = encodeEvent(ID, toPro, metadata);
  t.strictSame(written, {
    id: ID,
    type: 'PlanChanged',
    data: toPro.data,
    metadata: { ...metadata, schemaVersion: SCHEMA_VERSION },
  });
  t.strictSame(decodeEvent({ ...recorded({}, 1), ...written }), toPro);
  t.end();
});

const request = {
  accountId: accountId(),
  conversionId: conversionId(),
  source: 'html',
  request: blobRef('request'),
  requestHmac: REQUEST_HMAC,
  options: OPTIONS,
  requestedAt: NOW,
} as const;
const completion = {
  accountId: accountId(),
  conversionId: conversionId(),
  renderer: 'r',
  attempt: 1,
  document: blobRef('document'),
  pdf: PDF,
  pages: 1,
  timings: TIMINGS,
  manifest: blobRef('manifest'),
  chrome: 'c',
  completedAt: NOW,
} as const;

const readRequest = (data: object, version = SCHEMA_VERSION) =>
  decodeEvent(recorded(data, version, 'ConversionRequested')).data;

void test('a request is stored without what goes without saying, and read with all of it', (t) => {
  const cases = [
    [{}, {}],
    [
      { margin_top: '1in', scale: 0.5, page_ranges: '2' },
      { margin_top: '1in', scale: 0.5, page_ranges: '2' },
    ],
    [
      { tagged: false, outline: true, media: 'screen' },
      { tagged: false, outline: true, media: 'screen' },
    ],
  ] as const;
  for (const [given, stored] of cases) {
    const options = { ...DEFAULT_OPTIONS, ...given };
    const event: DomainEvent = { type: 'ConversionRequested', data: { ...request, options } };
    const { data } = encodeEvent(ID, event, metadata);
    const { key: _, ...blob } = request.request;
    t.strictSame(data, { ...request, request: blob, options: stored });
    t.strictSame(readRequest(data), event.data);
    for (const form of [data, event.data]) {
      t.strictSame(readRequest(form, 1), event.data, 'as logs of version 1 have it');
    }
  }
  t.end();
});

void test('an event that is not of its shape is never written', (t) => {
  const wrong: readonly (readonly [type: string, data: object])[] = [
    ['Nonsense', {}],
    ['toString', {}],
    ['PlanChanged', { accountId: accountId() }],
    ['PlanChanged', { accountId: accountId(), plan: 'Gold plan' }],
    ['PlanChanged', { accountId: 'acct_1', plan: 'pro' }],
    ['PlanChanged', { accountId: accountId().toUpperCase(), plan: 'pro' }],
    ['CreditGranted', { accountId: accountId(), amount: 0 }],
    ['CreditGranted', { accountId: accountId(), amount: -1 }],
    ['CreditGranted', { accountId: accountId(), amount: 0.5 }],
    ['CreditGranted', { accountId: accountId(), amount: '1' }],
    [
      'CreditRefunded',
      { accountId: accountId(), conversionId: conversionId(), amount: 1, failedAt: 7 },
    ],
    [
      'CreditRefunded',
      { accountId: accountId(), conversionId: conversionId(), amount: 1, failedAt: '-7' },
    ],
    ['PasswordChanged', { accountId: accountId(), passwordHash: '' }],
    ['ConversionRequested', { ...request, idempotencyKey: 'plain' }],
    ['ConversionRequested', { ...request, request: { ...request.request, key: '../../etc' } }],
    ['ConversionRequested', { ...request, options: { ...OPTIONS, page_size: 'B5' } }],
    ['ConversionCompleted', { ...completion, attempt: 0 }],
    ['ConversionCompleted', { ...completion, pages: 0 }],
    ['ConversionCompleted', { ...completion, timings: { ...TIMINGS, print: Number.NaN } }],
    ['ConversionCompleted', { ...completion, completedAt: 1.5 }],
  ];
  for (const [type, data] of wrong) {
    t.throws(
      () => encodeEvent(ID, { type, data } as DomainEvent, metadata),
      { name: 'TypeError', message: new RegExp(`^${type} `) },
      `${type} ${JSON.stringify(data).slice(0, 60)}`,
    );
  }
  t.ok(encodeEvent(ID, { type: 'ConversionRequested', data: request }, metadata));
  t.ok(encodeEvent(ID, { type: 'ConversionCompleted', data: completion }, metadata));
  t.end();
});

void test('an event of a later release is not guessed at', (t) => {
  const later = SCHEMA_VERSION + 1;
  t.throws(() => decodeEvent(recorded(toPro.data, later)), /PlanChanged is of version \d+, newer/);
  t.throws(() => decodeEvent(recorded({}, 1, 'Nonsense')), /Unknown event type Nonsense/);
  t.throws(() => decodeEvent(recorded({}, 1, 'constructor')), /Unknown event type constructor/);
  t.end();
});

void test('an older event is lifted, and the stored data stays as it was', (t) => {
  const decode = createDecoder(3, {
    PlanChanged: {
      1: (data) => ({ accountId: accountId(), name: 'package' in data ? data.package : undefined }),
      2: (data) => ({ accountId: accountId(), plan: 'name' in data ? data.name : undefined }),
    },
  });
  const old = recorded({ accountId: accountId(), package: 'pro' }, 1);
  t.strictSame(decode(old), toPro, 'step by step');
  t.strictSame(old.data, { accountId: accountId(), package: 'pro' });
  t.strictSame(decode(recorded(toPro.data, 3)), toPro, 'a current event is left alone');
  const granted = { accountId: accountId(), amount: 1 };
  t.strictSame(
    decode(recorded(granted, 1, 'CreditGranted')).data,
    granted,
    'a type without an upcaster has not changed',
  );
  t.end();
});

void test('every event says whose it is', (t) => {
  for (const [type, schema] of Object.entries(EVENT_SCHEMAS)) {
    // The log belongs to no account, and neither do a sign-in and a request for a link, which may name an unknown address.
    const isOfNobody =
      /^(Log|SigningKey|Checkpoint|MailSwitched|UnknownSignIn|PasswordReset(Asked|Answered))/.test(
        type,
      );
    t.equal('accountId' in schema.properties, !isOfNobody, type);
  }
  t.end();
});
