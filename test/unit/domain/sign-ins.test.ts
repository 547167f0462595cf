import fc from 'fast-check';
import { test } from 'tap';
import { isRejection } from '../../../src/domain/decider.ts';
import {
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
const refused = (refusedAt = NOW): SignInEvent => ({
  type: 'SignInRefused',
  data: { accountId: accountId(), refusedAt },
});
const refusedUnknown = (refusedAt = NOW): SignInEvent => ({
  type: 'UnknownSignInRefused',
  data: { address: sha256(1), client: sha256(2), refusedAt },
});
const noted = (count = 1, notedAt = NOW): SignInEvent => ({
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
    .thenEvents(noted());
  const last = HOUR_BEGAN + HOUR_MS - 1;
  given(t, signIns, ...full, noted())
    .when(refuse(known, last))
    .thenNothing();
  given(t, signIns, ...full)
    .when(refuse(known, last + 1))
    .thenEvents(refused(last + 1));
  given(t, signIns, ...full, noted())
    .when(refuse(known, NOW - HOUR_MS))
    .thenNothing();
  t.end();
});

void test('of an address that is nobody’s nothing personal is kept', (t) => {
  given(t, signIns).when(refuse(unknown)).thenEvents(refusedUnknown());
  given(t, signIns, ...times(RECORDED_AN_HOUR.unknown - 1, refusedUnknown()))
    .when(refuse(unknown))
    .thenEvents(refusedUnknown());
  t.end();
});

void test('once an hour it is noted that some are left out', (t) => {
  const full = times(RECORDED_AN_HOUR.account, refused());
  given(t, signIns, ...full, noted())
    .when(refuse(known))
    .thenNothing();
  // Logs of earlier releases have several notes an hour, with higher counts.
  given(t, signIns, ...full, noted(1), noted(2), noted(4))
    .when(refuse(known))
    .thenNothing();
  const next = times(RECORDED_AN_HOUR.account, refused(NOW + HOUR_MS));
  given(t, signIns, ...full, noted(), ...next)
    .when(refuse(known, NOW + HOUR_MS))
    .thenEvents(noted(1, NOW + HOUR_MS));
  given(t, signIns, ...times(RECORDED_AN_HOUR.unknown, refusedUnknown()))
    .when(refuse(unknown))
    .thenEvents({
      type: 'SignInsLeftOut',
      data: { count: 1, since: HOUR_BEGAN, notedAt: NOW },
    });
  t.end();
});

void test('no order of refusals adds more than the bound to an hour', (t) => {
  const now = fc.integer({ min: NOW, max: NOW + 2 * HOUR_MS });
  const bound = 3 * (RECORDED_AN_HOUR.account + 1);
  t.doesNotThrow(() => {
    fc.assert(
      fc.property(fc.array(now, { minLength: 150, maxLength: 400 }), (moments) => {
        let state = signIns.initialState;
        let events = 0;
        for (const moment of moments) {
          const decided = signIns.decide(refuse(known, moment), state);
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
