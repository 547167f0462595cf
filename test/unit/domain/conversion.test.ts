import { test } from 'tap';
import {
  type ConversionCommand,
  type ConversionEvent,
  conversion,
  conversionStream,
} from '../../../src/domain/conversion.ts';
import { fold, given } from '../../support/given.ts';
import {
  accountId,
  blobRef,
  conversionId,
  NOW,
  PDF,
  sha256,
  TIMINGS,
} from '../../support/samples.ts';

const who = { accountId: accountId(), conversionId: conversionId() };
const by = (renderer: string, attempt: number) => ({ ...who, renderer, attempt });

/** A delivery is named after its renderer, who has one here. */
const started = (renderer = 'r1', attempt = 1): ConversionEvent => ({
  type: 'ConversionStarted',
  data: { ...by(renderer, attempt), delivery: renderer, startedAt: NOW },
});
const requeued = (renderer = 'r1', attempt = 1): ConversionEvent => ({
  type: 'ConversionRequeued',
  data: { ...by(renderer, attempt), requeuedAt: NOW },
});
const result = {
  document: blobRef('document'),
  pdf: PDF,
  pages: 2,
  timings: TIMINGS,
  manifest: blobRef('manifest'),
  chrome: 'HeadlessChrome/156',
};
const completed = (renderer = 'r1', attempt = 1): ConversionEvent => ({
  type: 'ConversionCompleted',
  data: { ...by(renderer, attempt), ...result, completedAt: NOW },
});
const failure = { code: 'timeout', message: 'It took too long.' } as const;
const failed = (renderer = 'r1', attempt = 1): ConversionEvent => ({
  type: 'ConversionFailed',
  data: { ...by(renderer, attempt), ...failure, failedAt: NOW },
});
const ignored = (
  outcome: 'completed' | 'failed',
  renderer: string,
  attempt: number,
): ConversionEvent => ({
  type: 'ConversionOutcomeIgnored',
  data: { ...by(renderer, attempt), outcome },
});
const expired: ConversionEvent = { type: 'ConversionExpired', data: { ...who, expiredAt: NOW } };

const start = (renderer = 'r1'): ConversionCommand => ({
  type: 'StartConversion',
  ...who,
  renderer,
  delivery: renderer,
  at: NOW,
});
const requeue = (renderer = 'r1'): ConversionCommand => ({
  type: 'RequeueConversion',
  ...who,
  renderer,
  delivery: renderer,
  at: NOW,
});
const complete = (renderer = 'r1', attempt = 1): ConversionCommand => ({
  type: 'CompleteConversion',
  ...by(renderer, attempt),
  ...result,
  at: NOW,
});
const fail = (renderer = 'r1', attempt = 1, retryable = false): ConversionCommand => ({
  type: 'FailConversion',
  ...by(renderer, attempt),
  ...failure,
  retryable,
  at: NOW,
});
const deleted: ConversionEvent = { type: 'ConversionDeleted', data: { ...who, deletedAt: NOW } };
const cancelled: ConversionEvent = {
  type: 'ConversionFailed',
  data: { ...by('service', 1), code: 'cancelled', message: 'v1.by', failedAt: NOW },
};

const cancel: ConversionCommand = {
  type: 'AbandonConversion',
  ...who,
  code: 'cancelled',
  message: 'v1.by',
  at: NOW,
};
const remove: ConversionCommand = { type: 'DeleteConversion', ...who, at: NOW };
const expire: ConversionCommand = { type: 'ExpireConversion', ...who, at: NOW };

void test('the stream is named after the conversion', (t) => {
  t.equal(conversionStream(who.conversionId), `conversion-${who.conversionId}`);
  t.end();
});

void test('pending', (t) => {
  t.equal(conversion.initialState.status, 'pending');
  given(t, conversion).when(start()).thenEvents(started());
  given(t, conversion).when(complete()).thenEvents(completed());
  given(t, conversion).when(fail()).thenEvents(failed());
  given(t, conversion).when(expire).thenNothing();
  t.end();
});

void test('processing', (t) => {
  t.equal(fold(conversion, [started()]).status, 'processing');
  given(t, conversion, started()).when(complete()).thenEvents(completed());
  given(t, conversion, started()).when(fail()).thenEvents(failed());
  const pictured = { picture: blobRef('picture') };
  given(t, conversion, started())
    .when({ ...fail(), ...pictured })
    .thenEvents({ ...failed(), data: { ...failed().data, ...pictured } } as ConversionEvent);
  given(t, conversion, started()).when(expire).thenNothing();
  t.end();
});

void test('what waits or runs is cancelled once, and what comes later is recorded as ignored', (t) => {
  given(t, conversion).when(cancel).thenEvents(cancelled);
  given(t, conversion, started()).when(cancel).thenEvents(cancelled);
  given(t, conversion, started(), requeued()).when(cancel).thenEvents(cancelled);
  given(t, conversion, cancelled).when(cancel).thenNothing();
  given(t, conversion, started(), completed()).when(cancel).thenNothing();
  given(t, conversion, started(), failed()).when(cancel).thenNothing();
  given(t, conversion, cancelled).when(start()).thenNothing();
  given(t, conversion, started(), cancelled).when(requeue()).thenNothing();
  given(t, conversion, started(), cancelled)
    .when(complete())
    .thenEvents(ignored('completed', 'r1', 1));
  given(t, conversion, started(), cancelled)
    .when(fail())
    .thenEvents(ignored('failed', 'r1', 1));
  t.end();
});

void test('the documents of what has ended are deleted once, and nothing of what has not', (t) => {
  given(t, conversion).when(remove).thenRejected('not_ready');
  given(t, conversion, started()).when(remove).thenRejected('not_ready');
  for (const end of [completed(), failed(), cancelled]) {
    given(t, conversion, started(), end).when(remove).thenEvents(deleted);
    given(t, conversion, started(), end, deleted).when(remove).thenNothing();
    given(t, conversion, started(), end)
      .when({ ...remove, afterDownload: true })
      .thenEvents({ ...deleted, data: { ...deleted.data, afterDownload: true } });
    given(t, conversion, started(), end, deleted).when(expire).thenEvents(expired);
    given(t, conversion, started(), end, deleted, expired).when(remove).thenNothing();
    given(t, conversion, started(), end, expired).when(remove).thenNothing();
  }
  t.end();
});

void test('each delivery that starts counts as one try, and no fourth one starts', (t) => {
  const [first, second, third] = [started('r1', 1), started('r2', 2), started('r3', 3)];
  given(t, conversion, first).when(start()).thenNothing();
  given(t, conversion, first).when(start('r2')).thenEvents(second);
  given(t, conversion, first, second).when(start()).thenNothing();
  given(t, conversion, first, second).when(start('r3')).thenEvents(third);
  given(t, conversion, first, second, third).when(start('r4')).thenNothing();
  t.strictSame(fold(conversion, [first, second, third]).tries, ['r1', 'r2', 'r3']);
  t.end();
});

void test('a try that is requeued counts no longer', (t) => {
  given(t, conversion, started()).when(requeue()).thenEvents(requeued());
  t.match(fold(conversion, [started(), requeued()]), { status: 'pending', tries: [] });
  given(t, conversion, started(), requeued()).when(start('r2')).thenEvents(started('r2'));
  given(t, conversion, started(), requeued()).when(complete()).thenEvents(completed());
  const twice = [started(), started('r2', 2)];
  given(t, conversion, ...twice)
    .when(requeue('r2'))
    .thenEvents(requeued('r2', 2));
  t.strictSame(fold(conversion, [...twice, requeued('r2', 2)]).tries, ['r1']);
  t.end();
});

void test('a renderer that starts and requeues without end comes to one', (t) => {
  const rounds = Array.from({ length: 100 }, (_, n) => [started(`r${n}`), requeued(`r${n}`)]);
  given(t, conversion, ...rounds.slice(1).flat(), started('r'))
    .when(requeue('r'))
    .thenEvents(requeued('r'));
  given(t, conversion, ...rounds.flat(), started('r'))
    .when(requeue('r'))
    .thenNothing();
  given(t, conversion, ...rounds.flat(), started('r'))
    .when(start('s'))
    .thenEvents(started('s', 2));
  t.end();
});

void test('only the latest try is requeued, once', (t) => {
  given(t, conversion).when(requeue()).thenNothing();
  given(t, conversion, started(), requeued()).when(requeue()).thenNothing();
  given(t, conversion, started(), requeued(), started('r2')).when(requeue()).thenNothing();
  given(t, conversion, started(), started('r2', 2)).when(requeue()).thenNothing();
  for (const end of [completed(), failed()]) {
    given(t, conversion, started(), end).when(requeue()).thenNothing();
  }
  t.end();
});

void test('what may be tried again fails with its third try', (t) => {
  const tries = [started('r1', 1), started('r2', 2), started('r3', 3)];
  for (const [n, renderer] of ['r1', 'r2'].entries()) {
    given(t, conversion, ...tries.slice(0, n + 1))
      .when(fail(renderer, n + 1, true))
      .thenNothing();
  }
  given(t, conversion, ...tries)
    .when(fail('r3', 3, true))
    .thenEvents(failed('r3', 3));
  given(t, conversion, ...tries)
    .when(fail('r2', 2, true))
    .thenNothing();
  given(t, conversion, ...tries.slice(0, 1))
    .when(fail())
    .thenEvents(failed());
  t.end();
});

void test('the outcome of an earlier attempt counts while none has ended it', (t) => {
  given(t, conversion, started('r1', 1), started('r2', 2))
    .when(complete('r1', 1))
    .thenEvents(completed('r1', 1));
  t.end();
});

void test('an ended conversion does not start again', (t) => {
  for (const end of [completed(), failed()]) {
    given(t, conversion, end).when(start('r2')).thenNothing();
  }
  t.end();
});

void test('the same outcome again is nothing', (t) => {
  given(t, conversion, started(), completed()).when(complete()).thenNothing();
  given(t, conversion, started(), failed()).when(fail()).thenNothing();
  t.end();
});

void test('a second outcome changes nothing and is recorded', (t) => {
  const done = [started(), completed()];
  given(t, conversion, ...done)
    .when(fail())
    .thenEvents(ignored('failed', 'r1', 1));
  given(t, conversion, ...done)
    .when(complete('r2', 1))
    .thenEvents(ignored('completed', 'r2', 1));
  given(t, conversion, ...done)
    .when(complete('r1', 2))
    .thenEvents(ignored('completed', 'r1', 2));
  const lost = [started(), failed()];
  given(t, conversion, ...lost)
    .when(complete())
    .thenEvents(ignored('completed', 'r1', 1));
  given(t, conversion, ...lost)
    .when(fail('r2', 2))
    .thenEvents(ignored('failed', 'r2', 2));
  const state = fold(conversion, [...lost, ignored('completed', 'r1', 1)]);
  t.match(state, { status: 'failed', ended: { renderer: 'r1', attempt: 1, outcome: 'failed' } });
  t.strictSame(state.ignored, [{ renderer: 'r1', attempt: 1, outcome: 'completed' }]);
  t.end();
});

void test('an ignored outcome that is reported again changes nothing', (t) => {
  given(t, conversion, completed(), ignored('failed', 'r2', 2), ignored('completed', 'r2', 1))
    .when(fail('r2', 2))
    .thenNothing();
  given(t, conversion, completed(), ignored('failed', 'r2', 2))
    .when(complete('r2', 2))
    .thenEvents(ignored('completed', 'r2', 2));
  t.end();
});

void test('at most ten ignored outcomes are recorded', (t) => {
  const late = (n: number) =>
    Array.from({ length: n }, (_, at) => ignored('failed', `late-${at}`, 2));
  given(t, conversion, completed(), ...late(9))
    .when(fail('r3', 2))
    .thenEvents(ignored('failed', 'r3', 2));
  given(t, conversion, completed(), ...late(10))
    .when(fail('r3', 2))
    .thenNothing();
  t.end();
});

void test('what has ended expires once', (t) => {
  for (const end of [completed(), failed()]) {
    given(t, conversion, end).when(expire).thenEvents(expired);
    given(t, conversion, end, expired).when(expire).thenNothing();
  }
  t.match(fold(conversion, [completed(), expired]), { status: 'completed', expired: true });
  given(t, conversion, completed(), expired)
    .when(fail())
    .thenEvents(ignored('failed', 'r1', 1));
  t.end();
});

const downloaded = (network: string, minute: number, isLast = false): ConversionEvent => ({
  type: 'DocumentDownloaded',
  data: {
    ...who,
    network: network.repeat(64),
    downloadedAt: minute * 60_000,
    ...(isLast ? { isLast: true } : {}),
  },
});
const recordDownload = (network: string, minute: number): ConversionCommand => ({
  type: 'RecordDownload',
  ...who,
  network: network.repeat(64),
  at: minute * 60_000,
});

void test('a download is recorded once for each network and minute, and 100 times in all', (t) => {
  given(t, conversion, started()).when(recordDownload('a', 5)).thenNothing();
  const stored = given(t, conversion, started(), completed());
  stored.when(recordDownload('a', 5)).thenEvents(downloaded('a', 5));
  const once = given(t, conversion, started(), completed(), downloaded('a', 5));
  once.when(recordDownload('a', 5)).thenNothing();
  once.when(recordDownload('b', 5)).thenEvents(downloaded('b', 5));
  once.when(recordDownload('a', 6)).thenEvents(downloaded('a', 6));
  const both = given(t, conversion, completed(), downloaded('a', 5), downloaded('b', 5));
  both.when(recordDownload('a', 5)).thenNothing();
  both.when(recordDownload('a', 4)).thenNothing();
  const many = Array.from({ length: 99 }, (_, minute) => downloaded('a', minute));
  const almost = given(t, conversion, completed(), ...many);
  almost.when(recordDownload('a', 99)).thenEvents(downloaded('a', 99, true));
  const full = given(t, conversion, completed(), ...many, downloaded('a', 99, true));
  full.when(recordDownload('a', 100)).thenNothing();
  t.end();
});

const certificate = sha256(3);
const signed = (digest: string, changes: object = {}): ConversionEvent => ({
  type: 'SignatureMade',
  data: {
    ...who,
    attempt: 1,
    delivery: 'r1',
    digest,
    level: 'B-B',
    certificate,
    madeAt: NOW,
    ...changes,
  },
});
const sign = (digest: string, changes: object = {}): ConversionCommand => ({
  type: 'RecordSignature',
  ...who,
  delivery: 'r1',
  digest,
  level: 'B-B',
  certificate,
  at: NOW,
  ...changes,
});

void test('each try under way has one hash signed', (t) => {
  const [one, two] = [sha256(1), sha256(2)];
  const other = { certificate: sha256(4) };
  given(t, conversion).when(sign(one)).thenRejected('forbidden');
  given(t, conversion, started()).when(sign(one)).thenEvents(signed(one));
  given(t, conversion, started(), signed(one)).when(sign(one)).thenNothing();
  given(t, conversion, started(), signed(one)).when(sign(two)).thenRejected('forbidden');
  given(t, conversion, started(), signed(one))
    .when(sign(one, other))
    .thenEvents(signed(one, other));
  given(t, conversion, started(), signed(one), started('r2', 2))
    .when(sign(two, { delivery: 'r2' }))
    .thenEvents(signed(two, { attempt: 2, delivery: 'r2' }));
  given(t, conversion, started(), signed(one), requeued())
    .when(sign(one))
    .thenRejected('forbidden');
  given(t, conversion, started(), signed(one), requeued(), started())
    .when(sign(two))
    .thenRejected('forbidden');
  given(t, conversion, started(), completed()).when(sign(one)).thenRejected('forbidden');
  t.end();
});
