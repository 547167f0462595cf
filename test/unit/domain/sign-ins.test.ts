import fc from 'fast-check';
import { test } from 'tap';
import { isRejection } from '../../../src/domain/decider.ts';
import {
  NOTES_AN_HOUR,
  RECORDED_AN_HOUR,
  type SignInCommand,
  type SignInEvent,
  type SignInTarget,
  signInStream,
  signIns,
  signInTrail,
} from '../../../src/domain/sign-in-trail.ts';
import { given } from '../../support/given.ts';
import { accountId, HOUR_MS, NOW, sha256 } from '../../support/samples.ts';

const HOUR_BEGAN = NOW - (NOW % HOUR_MS);
const known: SignInTarget = { kind: 'account', accountId: accountId() };
const unknown: SignInTarget = { kind: 'unknown', address: sha256(1), client: sha256(2) };

const refuse = (target: SignInTarget, now = NOW): SignInCommand => ({
  type: 'RecordRefusal',
  target,
  now,
});
const note = (target: SignInTarget, count: number, now = NOW): SignInCommand => ({
  type: 'NoteLeftOut',
  target,
  count,
  now,
});
const refused = (refusedAt = NOW): SignInEvent => ({
  type: 'SignInRefused',
  data: { accountId: accountId(), refusedAt },
});
const refusedUnknown = (refusedAt = NOW): SignInEvent => ({
  type: 'UnknownSignInRefused',
  data: { address: sha256(1), client: sha256(2), refusedAt },
});
const noted = (count: number, notedAt = NOW): SignInEvent => ({
  type: 'SignInsLeftOut',
  data: { accountId: accountId(), count, since: notedAt - (notedAt % HOUR_MS), notedAt },
});
const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

void test('an account has one trail, unknown addresses one a day', (t) => {
  t.equal(signInStream(signInTrail(known, NOW)), `signins-${accountId()}`);
  t.equal(signInStream(signInTrail(unknown, NOW)), 'signins-unknown-2026-11-21');
  t.end();
});

void test('a refused sign-in is recorded, so many of them an hour', (t) => {
  const most = RECORDED_AN_HOUR.account;
  given(t, signIns).when(refuse(known)).thenEvents(refused());
  given(t, signIns, ...times(most - 1, refused()))
    .when(refuse(known))
    .thenEvents(refused());
  const full = times(most, refused());
  given(t, signIns, ...full)
    .when(refuse(known))
    .thenNothing();
  const last = HOUR_BEGAN + HOUR_MS - 1;
  given(t, signIns, ...full)
    .when(refuse(known, last))
    .thenNothing();
  given(t, signIns, ...full)
    .when(refuse(known, last + 1))
    .thenEvents(refused(last + 1));
  given(t, signIns, ...full)
    .when(refuse(known, NOW - HOUR_MS))
    .thenNothing();
  t.end();
});

void test('of an address that is nobody’s nothing personal is kept', (t) => {
  given(t, signIns).when(refuse(unknown)).thenEvents(refusedUnknown());
  given(t, signIns, ...times(RECORDED_AN_HOUR.unknown, refusedUnknown()))
    .when(refuse(unknown))
    .thenNothing();
  t.end();
});

void test('what is left out is counted, and noted whenever the count has doubled', (t) => {
  for (const count of [1, 2, 4, 1024, 2 ** 40]) {
    given(t, signIns, refused()).when(note(known, count)).thenEvents(noted(count));
  }
  for (const count of [3, 5, 1023, 2 ** 40 + 1]) {
    given(t, signIns, refused()).when(note(known, count)).thenNothing();
  }
  given(t, signIns)
    .when(note(unknown, 8))
    .thenEvents({
      type: 'SignInsLeftOut',
      data: { count: 8, since: HOUR_BEGAN, notedAt: NOW },
    });
  const many = times(NOTES_AN_HOUR, noted(1));
  given(t, signIns, ...many)
    .when(note(known, 2))
    .thenNothing();
  given(t, signIns, ...many)
    .when(note(known, 2, NOW + HOUR_MS))
    .thenEvents(noted(2, NOW + HOUR_MS));
  t.end();
});

void test('no order of commands adds more than the bound to an hour', (t) => {
  const command = fc.record({
    type: fc.constantFrom('RecordRefusal', 'NoteLeftOut'),
    count: fc.constantFrom(1, 2, 4, 8),
    now: fc.integer({ min: NOW, max: NOW + 2 * HOUR_MS }),
  });
  const bound = 3 * (RECORDED_AN_HOUR.account + NOTES_AN_HOUR);
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(fc.array(command, { minLength: 150, maxLength: 400 }), (commands) => {
        let state = signIns.initialState;
        let events = 0;
        for (const { type, count, now } of commands) {
          const decided = signIns.decide(
            type === 'NoteLeftOut' ? note(known, count, now) : refuse(known, now),
            state,
          );
          if (isRejection(decided)) return false;
          events += decided.length;
          state = decided.reduce((before, event) => signIns.evolve(before, event), state);
        }
        return events <= bound;
      }),
      { numRuns: 100 },
    );
  });
  t.end();
});
