import { test } from 'tap';
import { GIVEN_UP_AFTER_MS, type MailCommand, mail } from '../../../src/domain/mail.ts';
import { failedMail } from '../../../src/domain/mail-words.ts';
import { accountId, NOW } from '../../support/samples.ts';

const HOUR_MS = 60 * 60 * 1000;
const of = {
  mailId: 'mail_3f0c9a4be71d5286c0f4a9d1e8',
  kind: 'credits_low',
  accountId: accountId(),
  personId: 'person_06h052dhthm9dd3gzpjcjczmm2',
} as const;

const tried = (attempt: number, more: Partial<MailCommand> = {}): MailCommand => ({
  type: 'RecordAttempt',
  ...of,
  attempt,
  since: NOW,
  jitter: 0,
  at: NOW,
  ...more,
});

void test('a mail that is put off is tried again after longer and longer pauses, for three days', (t) => {
  let state = mail.initialState;
  let at = NOW;
  const pauses: number[] = [];
  for (let attempt = 1; ; attempt += 1) {
    const command = tried(attempt, { at, failure: 'deferred', status: 451, jitter: 1 });
    const events = mail.decide(command, state);
    if ('rejected' in events) throw new Error(events.message);
    const [event] = events;
    if (event?.type !== 'MailFailed') throw new Error('It is not recorded.');
    state = mail.evolve(state, event);
    if (event.data.nextAt === undefined) break;
    pauses.push(event.data.nextAt - at);
    at = event.data.nextAt;
  }
  const minutes = pauses.map((pause) => pause / 60_000 / 1.2);
  t.same(minutes.slice(0, 7), [1, 5, 15, 60, 180, 360, 720]);
  t.ok(minutes.slice(7).every((each) => each === 720));
  t.ok(pauses.length <= 12, 'an event for each try, and few tries');
  t.ok(at < NOW + GIVEN_UP_AFTER_MS);
  t.ok(at > NOW + GIVEN_UP_AFTER_MS - 15 * HOUR_MS);
  t.equal(state.hasEnded, true);
  t.same(mail.decide(tried(state.attempt + 1), state), [], 'nothing follows');
  t.end();
});

void test('what a server refuses, what is outdated and what was sent has ended', (t) => {
  for (const failure of ['refused', 'outdated', 'given_up', undefined] as const) {
    const command = tried(1, failure && { failure });
    const events = mail.decide(command, mail.initialState);
    if ('rejected' in events) throw new Error(events.message);
    t.equal(events.length, 1);
    t.equal(
      events.reduce((state, event) => mail.evolve(state, event), mail.initialState).hasEnded,
      true,
      String(failure),
    );
  }
  t.end();
});

void test('of two processes that send at a time, one is recorded', (t) => {
  const [first] = [mail.decide(tried(1, { failure: 'timeout' }), mail.initialState)].flat();
  if (first === undefined || 'rejected' in first) throw new Error('It is not recorded.');
  const state = mail.evolve(mail.initialState, first);
  t.same(mail.decide(tried(1), state), []);
  t.same(mail.decide(tried(3), state), []);
  t.end();
});

const failed = (command: MailCommand) => {
  const [event] = [mail.decide(command, mail.initialState)].flat();
  if (event === undefined || 'rejected' in event) throw new Error('It is not recorded.');
  if (event.type !== 'MailFailed') throw new Error('It was sent.');
  return event.data;
};

void test('what may pass is tried again, within three days of the event', (t) => {
  t.equal(GIVEN_UP_AFTER_MS, 72 * HOUR_MS);
  for (const failure of ['deferred', 'connection_failed', 'timeout'] as const)
    t.match(failed(tried(1, { failure })), { failure, nextAt: NOW + 60_000 });
  const last = NOW - GIVEN_UP_AFTER_MS + 60_000;
  t.equal(failed(tried(1, { failure: 'timeout', since: last })).nextAt, undefined);
  t.equal(failed(tried(1, { failure: 'timeout', since: last + 1 })).nextAt, NOW + 60_000);
  t.end();
});

void test('the status of an answer is recorded, if there was one', (t) => {
  t.match(failed(tried(1, { failure: 'refused', status: 550 })), { status: 550 });
  t.notOk('status' in failed(tried(1, { failure: 'timeout' })));
  t.end();
});

const sentence = (more: object) =>
  failedMail({ ...of, failure: 'deferred', attempt: 1, at: NOW, ...more });

void test('a sentence says why a mail was not sent, and when it is tried again', (t) => {
  t.equal(sentence({}), 'A mail about low credits was not sent: the mail server put it off.');
  t.equal(
    sentence({ status: 451, nextAt: NOW }),
    'A mail about low credits was not sent: the mail server answered with 451. The next try is at 2026-11-21T12:30:00.000Z.',
  );
  t.end();
});

void test('a mail that was sent is recorded as sent, by its number', (t) => {
  const data = { ...of, attempt: 1, at: NOW };
  t.strictSame(mail.decide(tried(1), mail.initialState), [{ type: 'MailSent', data }]);
  t.end();
});
