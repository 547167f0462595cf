import { test } from 'tap';
import { person } from '../../../src/domain/person.ts';
import type { PersonCommand, PersonEvent } from '../../../src/domain/person-commands.ts';
import { codesRefusedUntil, WRONG_CODES_A_DAY } from '../../../src/domain/second-factor.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, DAY_MS, NOW, personId, sha256 } from '../../support/samples.ts';

const of = { personId: personId(), accountId: accountId() };
const fields = { secret: 'v1.s', addedAt: NOW, step: 10, recoveryCodes: [sha256(1), sha256(2)] };
const add: PersonCommand = { type: 'AddSecondFactor', ...of, ...fields };
const added: PersonEvent = { type: 'SecondFactorAdded', data: { ...of, ...fields } };
const removed: PersonEvent = { type: 'SecondFactorRemoved', data: of };
const useStep = (step: number): PersonCommand => ({ type: 'UseSecondFactor', ...of, step });
const stepUsed = (step: number): PersonEvent => ({
  type: 'SecondFactorUsed',
  data: { ...of, step },
});
const useCode = (n: number): PersonCommand => ({
  type: 'UseRecoveryCode',
  ...of,
  codeHash: sha256(n),
});
const codeUsed = (n: number, left: number): PersonEvent => ({
  type: 'RecoveryCodeUsed',
  data: { ...of, codeHash: sha256(n), left },
});
const refuse = (now: number, isKnownClient = false): PersonCommand => ({
  type: 'RefuseCode',
  ...of,
  isKnownClient,
  now,
});
const refused = (count: number, refusedAt: number, isKnownClient = false): PersonEvent => ({
  type: 'SecondFactorRefused',
  data: { ...of, count, refusedAt, ...(isKnownClient && { isKnownClient: true as const }) },
});

void test('a person has one authenticator at a time', (t) => {
  given(t, person).when(add).thenEvents(added);
  given(t, person, added)
    .when(add)
    .thenRejected('validation_error', /Remove it before/);
  given(t, person, added, removed).when(add).thenEvents(added);
  t.end();
});

void test('without an authenticator no code is taken, and nothing is removed', (t) => {
  const renew: PersonCommand = { type: 'RenewRecoveryCodes', ...of, recoveryCodes: [sha256(3)] };
  const remove: PersonCommand = { type: 'RemoveSecondFactor', ...of };
  for (const command of [useStep(11), useCode(1), renew, remove]) {
    given(t, person).when(command).thenRejected('not_found');
    given(t, person, added, removed).when(command).thenRejected('not_found');
  }
  t.end();
});

void test('a time code works once, and none from before it works later', (t) => {
  given(t, person, added).when(useStep(10)).thenRejected('unauthorized');
  given(t, person, added).when(useStep(11)).thenEvents(stepUsed(11));
  // Two nodes saw the code at the same moment: the second one decides again on what the first one stored.
  given(t, person, added, stepUsed(11)).when(useStep(11)).thenRejected('unauthorized');
  given(t, person, added, stepUsed(12)).when(useStep(11)).thenRejected('unauthorized');
  given(t, person, added, stepUsed(11)).when(useStep(12)).thenEvents(stepUsed(12));
  t.end();
});

void test('a recovery code works once', (t) => {
  given(t, person, added).when(useCode(1)).thenEvents(codeUsed(1, 1));
  given(t, person, added, codeUsed(1, 1)).when(useCode(1)).thenRejected('unauthorized');
  given(t, person, added, codeUsed(1, 1)).when(useCode(2)).thenEvents(codeUsed(2, 0));
  given(t, person, added).when(useCode(3)).thenRejected('unauthorized');
  t.end();
});

void test('new recovery codes take the place of all from before', (t) => {
  const recoveryCodes = [sha256(5)];
  const renewed: PersonEvent = { type: 'RecoveryCodesRenewed', data: { ...of, recoveryCodes } };
  given(t, person, added)
    .when({ type: 'RenewRecoveryCodes', ...of, recoveryCodes })
    .thenEvents(renewed);
  given(t, person, added, renewed).when(useCode(1)).thenRejected('unauthorized');
  given(t, person, added, renewed).when(useCode(5)).thenEvents(codeUsed(5, 0));
  t.strictSame(fold(person, [added, stepUsed(20), renewed]).authenticator?.step, 20);
  t.end();
});

void test('an authenticator is removed by its person, or by the operator without an account', (t) => {
  given(t, person, added)
    .when({ type: 'RemoveSecondFactor', ...of })
    .thenEvents(removed);
  given(t, person, added)
    .when({ type: 'RemoveSecondFactor', personId: of.personId })
    .thenEvents({ type: 'SecondFactorRemoved', data: { personId: of.personId } });
  t.end();
});

void test('wrong codes are counted by the day and by who sends them', (t) => {
  const midnight = Math.ceil(NOW / DAY_MS) * DAY_MS;
  given(t, person, added).when(refuse(NOW)).thenEvents(refused(1, NOW));
  given(t, person, added, refused(1, NOW)).when(refuse(NOW)).thenEvents(refused(2, NOW));
  given(t, person, added, refused(5, NOW))
    .when(refuse(NOW, true))
    .thenEvents(refused(1, NOW, true));
  given(t, person, added, refused(5, NOW))
    .when(refuse(midnight - 1))
    .thenEvents(refused(6, midnight - 1));
  given(t, person, added, refused(5, NOW)).when(refuse(midnight)).thenEvents(refused(1, midnight));
  // A node whose clock lags does not bring yesterday's guesses back.
  given(t, person, added, refused(1, midnight)).when(refuse(NOW)).thenEvents(refused(2, NOW));
  t.end();
});

void test('after too many wrong codes none is taken until midnight, of strangers or of known clients alone', (t) => {
  const midnight = Math.ceil(NOW / DAY_MS) * DAY_MS;
  const after = (count: number, isKnownClient = false) =>
    fold(person, [added, refused(count, NOW, isKnownClient)]);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY - 1), false, NOW), undefined);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY), false, NOW), midnight);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY), true, NOW), undefined);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY, true), true, NOW), midnight);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY, true), false, NOW), undefined);
  t.equal(codesRefusedUntil(after(WRONG_CODES_A_DAY), false, midnight), undefined);
  const another = fold(person, [added, refused(WRONG_CODES_A_DAY, NOW), removed, added]);
  t.equal(
    codesRefusedUntil(another, false, NOW),
    midnight,
    'another authenticator, no more guesses',
  );
  t.end();
});
