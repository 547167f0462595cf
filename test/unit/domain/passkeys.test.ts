import { test } from 'tap';
import { MAX_PASSKEYS, type PasskeyCommand } from '../../../src/domain/passkeys.ts';
import { person } from '../../../src/domain/person.ts';
import type { PersonEvent } from '../../../src/domain/person-commands.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, NOW, passkeyId, personId, sha256 } from '../../support/samples.ts';

const MINUTE_MS = 60_000;
const ids = { personId: personId(), accountId: accountId(), passkeyId: passkeyId() };
const texts = { credential: 'v1.c', publicKey: 'v1.k', name: 'v1.n' };
const adding = { ...ids, ...texts, counter: 1, challenge: sha256(1) };
const add: PasskeyCommand = { type: 'AddPasskey', ...adding, now: NOW };
const added: PersonEvent = { type: 'PasskeyAdded', data: { ...adding, addedAt: NOW } };
const use = (counter: number, challenge: number, now = NOW + 1): PasskeyCommand => ({
  type: 'UsePasskey',
  ...ids,
  counter,
  challenge: sha256(challenge),
  now,
});
const used = (counter: number, challenge: number, usedAt = NOW + 1): PersonEvent => ({
  type: 'PasskeyUsed',
  data: { ...ids, counter, challenge: sha256(challenge), usedAt },
});
const remove: PasskeyCommand = { type: 'RemovePasskey', ...ids };
const removed: PersonEvent = { type: 'PasskeyRemoved', data: ids };

void test('a person without a registration, as a founder is, adds a passkey once', (t) => {
  given(t, person).when(add).thenEvents(added);
  const again: PasskeyCommand = { ...add, challenge: sha256(2) };
  given(t, person, added)
    .when(again)
    .thenRejected('validation_error', /one of yours already/);
  given(t, person, added, removed)
    .when(again)
    .thenEvents({
      type: 'PasskeyAdded',
      data: { ...adding, challenge: sha256(2), addedAt: NOW },
    });
  t.end();
});

void test('a registration that was recorded does not bring a removed passkey back', (t) => {
  given(t, person, added, removed)
    .when(add)
    .thenRejected('validation_error', /sent before/);
  t.end();
});

void test('a person has a bounded number of passkeys', (t) => {
  const all = Array.from({ length: MAX_PASSKEYS }, (_, n): PersonEvent => {
    const own = { passkeyId: passkeyId(n + 1), challenge: sha256(n + 1) };
    return { type: 'PasskeyAdded', data: { ...adding, ...own, addedAt: NOW } };
  });
  const more: PasskeyCommand = { ...add, passkeyId: passkeyId(99), challenge: sha256(99) };
  given(t, person, ...all)
    .when(more)
    .thenRejected('validation_error', /at most 20 passkeys/);
  t.end();
});

void test('each signature counts once', (t) => {
  given(t, person, added).when(use(2, 2)).thenEvents(used(2, 2));
  given(t, person, added, used(2, 2)).when(use(3, 2)).thenRejected('unauthorized');
  given(t, person, added).when(use(2, 1)).thenRejected('unauthorized');
  const late = NOW + 9 * MINUTE_MS;
  given(t, person, added, used(2, 2), used(3, 3, late))
    .when(use(4, 2, late))
    .thenRejected('unauthorized');
  t.end();
});

void test('challenges that no node takes any more are forgotten', (t) => {
  const state = fold(person, [added, used(2, 2), used(3, 3, NOW + 11 * MINUTE_MS)]);
  t.same(Object.keys(state.usedChallenges), [sha256(3)]);
  t.match(state.passkeys[passkeyId()], { counter: 3, lastUsedAt: NOW + 11 * MINUTE_MS });
  t.end();
});

const refused = (counter: number): PersonEvent => ({
  type: 'PasskeyRefused',
  data: { ...ids, counter, refusedAt: NOW + 1 },
});

void test('a counter that has not grown is refused and recorded', (t) => {
  given(t, person, added, used(5, 2)).when(use(5, 3)).thenEvents(refused(5));
  given(t, person, added, used(5, 2)).when(use(4, 3)).thenEvents(refused(4));
  given(t, person, added, used(5, 2)).when(use(0, 3)).thenEvents(refused(0));
  given(t, person, added, used(5, 2), refused(4)).when(use(6, 3)).thenEvents(used(6, 3));
  t.end();
});

void test('a passkey that does not count is good with 0 each time', (t) => {
  const uncounted: PersonEvent = {
    type: 'PasskeyAdded',
    data: { ...adding, counter: 0, addedAt: NOW },
  };
  given(t, person, uncounted).when(use(0, 2)).thenEvents(used(0, 2));
  given(t, person, uncounted, used(0, 2)).when(use(0, 3)).thenEvents(used(0, 3));
  t.end();
});

void test('a passkey that is not there signs nothing, is not renamed and not removed', (t) => {
  const rename: PasskeyCommand = { type: 'RenamePasskey', ...ids, name: 'v1.o' };
  const renamed: PersonEvent = { type: 'PasskeyRenamed', data: { ...ids, name: 'v1.o' } };
  given(t, person, added).when(rename).thenEvents(renamed);
  given(t, person, added).when(remove).thenEvents(removed);
  t.match(fold(person, [added, renamed]).passkeys[passkeyId()], { name: 'v1.o' });
  for (const events of [[], [added, removed]]) {
    given(t, person, ...events)
      .when(rename)
      .thenRejected('not_found');
    given(t, person, ...events)
      .when(remove)
      .thenRejected('not_found');
    given(t, person, ...events)
      .when(use(2, 2))
      .thenRejected('unauthorized');
  }
  t.end();
});

void test('nothing is left of the passkeys of an erased person', (t) => {
  const erased: PersonEvent = { type: 'PersonErased', data: { personId: personId() } };
  t.match(fold(person, [added, erased]), { passkeys: {}, usedChallenges: {} });
  given(t, person, added, erased).when(use(2, 2)).thenRejected('not_found');
  given(t, person, added, erased).when(add).thenRejected('not_found');
  t.end();
});
