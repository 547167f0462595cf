import { test } from 'tap';
import { type AccountEvent, account } from '../../../src/domain/account.ts';
import { type EmailEvent, email } from '../../../src/domain/email.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { person } from '../../../src/domain/person.ts';
import type { PersonEvent } from '../../../src/domain/person-commands.ts';
import {
  ADDRESS_LINK_MS,
  addressOfferText,
  keepsAddress,
  signsInWith,
} from '../../../src/domain/sign-in-address.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, personId, sha256 } from '../../support/samples.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const HOUR_MS = 60 * 60 * 1000;
const ID = accountId(1);
const BOB = personId(2);
const PLACE = { personId: BOB, accountId: ID };
const offer = (n: number) => ({
  email: `v1.${n}`,
  addressHash: sha256(n),
  tokenHash: sha256(n + 10),
  expiresAt: NOW + HOUR_MS,
});
const changed = (n: number) => ({
  email: `v1.${n}`,
  addressHash: sha256(n),
  formerEmail: 'v1.former',
  provenBy: 'mail' as const,
});
const link = (n: number, now = NOW) => ({
  tokenHash: sha256(n + 10),
  formerEmail: 'v1.former',
  provenBy: 'mail' as const,
  now,
});
const asked = (n: number, epoch = 0) => ({ ...offer(n), byMail: true, epoch });

const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { accountId: ID, email: 'v1.first', passwordHash: 'v1.p', plan: 'free' },
};
const offered = (n: number): AccountEvent => ({
  type: 'EmailChangeOffered',
  data: { accountId: ID, ...offer(n), byMail: true },
});
const moved: AccountEvent = { type: 'EmailChanged', data: { accountId: ID, ...changed(1) } };
const ask = { type: 'OfferEmailChange', accountId: ID, ...asked(1) } as const;
const use = { type: 'ChangeEmail', accountId: ID, ...link(1) } as const;

const registered: PersonEvent = {
  type: 'PersonRegistered',
  data: { ...PLACE, email: 'v1.first', name: 'v1.n', passwordHash: 'v1.p', provenBy: 'mail' },
};
const offeredBob = (n: number): PersonEvent => ({
  type: 'PersonEmailOffered',
  data: { ...PLACE, ...offer(n), byMail: true },
});
const movedBob: PersonEvent = { type: 'PersonEmailChanged', data: { ...PLACE, ...changed(1) } };
const askBob = { type: 'OfferPersonEmail', ...PLACE, ...asked(1) } as const;
const useBob = { type: 'ChangePersonEmail', ...PLACE, ...link(1) } as const;

void test('an address changes by its link, once and in time', (t) => {
  given(t, account, opened).when(ask).thenEvents(offered(1));
  given(t, account, opened, offered(1)).when(use).thenEvents(moved);
  given(t, account, opened).when(use).thenRejected('gone');
  given(t, account, opened, offered(1), moved).when(use).thenRejected('gone');
  given(t, account, opened, offered(1), offered(2)).when(use).thenRejected('gone');
  const late = { ...use, ...link(1, NOW + HOUR_MS) };
  given(t, account, opened, offered(1)).when(late).thenRejected('gone');
  given(t, person, registered).when(askBob).thenEvents(offeredBob(1));
  given(t, person, registered, offeredBob(1)).when(useBob).thenEvents(movedBob);
  given(t, person, registered).when(useBob).thenRejected('gone');
  given(t, person, registered, offeredBob(1), movedBob).when(useBob).thenRejected('gone');
  given(t, person).when(askBob).thenRejected('not_found');
  t.end();
});

void test('a password that is changed meanwhile ends the link, and what was asked with the old one', (t) => {
  const password: AccountEvent = {
    type: 'PasswordChanged',
    data: { accountId: ID, passwordHash: 'v1.q' },
  };
  given(t, account, opened, offered(1), password).when(use).thenRejected('gone');
  given(t, account, opened, password).when(ask).thenRejected('unauthorized');
  const bobs: PersonEvent = {
    type: 'PersonPasswordChanged',
    data: { ...PLACE, passwordHash: 'v1.q' },
  };
  given(t, person, registered, offeredBob(1), bobs).when(useBob).thenRejected('gone');
  given(t, person, registered, bobs).when(askBob).thenRejected('unauthorized');
  t.end();
});

void test('a changed address ends sessions, and links that set a password', (t) => {
  const reset = { tokenHash: sha256(9), expiresAt: NOW + HOUR_MS, byMail: true } as const;
  const founder: AccountEvent = { type: 'PasswordResetOffered', data: { accountId: ID, ...reset } };
  const state = fold(account, [opened, founder, offered(1), moved]);
  t.match(state, { email: 'v1.1', addressHash: sha256(1), addressOffer: undefined, passwords: 1 });
  t.equal(state.mailedReset, undefined);
  t.equal(state.members[founderOf(ID)]?.epoch, 1);
  const bobs: PersonEvent = { type: 'PersonResetOffered', data: { ...PLACE, ...reset } };
  t.match(fold(person, [registered, bobs, offeredBob(1), movedBob]), {
    email: 'v1.1',
    addressHash: sha256(1),
    mailedReset: undefined,
    passwords: 1,
  });
  t.end();
});

void test('an address that is reserved for a change is held once the change has happened', (t) => {
  const reserve = { type: 'ReserveEmail', accountId: ID, personId: BOB, forChange: true } as const;
  const reserved: EmailEvent = { type: 'EmailReserved', data: { ...PLACE, forChange: true } };
  given(t, email).when(reserve).thenEvents(reserved);
  const other = { type: 'ReserveEmail', accountId: accountId(3) } as const;
  given(t, email, reserved).when(other).thenNothing();
  given(t, email, reserved)
    .when({ ...other, insteadOf: 1 })
    .thenEvents({ type: 'EmailReserved', data: { accountId: accountId(3) } });
  // Bob takes it back before the other one, who has read that he had left it.
  given(t, email, reserved).when(reserve).thenEvents(reserved);
  given(t, email, reserved, reserved)
    .when({ ...other, insteadOf: 1 })
    .thenNothing();

  const first = fold(email, [{ type: 'EmailReserved', data: PLACE }]);
  const second = fold(email, [reserved]);
  const before = fold(person, [registered, offeredBob(1)]);
  const after = fold(person, [registered, offeredBob(1), movedBob]);
  t.same(
    [signsInWith(before, first, sha256(0)), signsInWith(before, second, sha256(1))],
    [true, false],
  );
  t.same(
    [signsInWith(after, first, sha256(0)), signsInWith(after, second, sha256(1))],
    [false, true],
  );
  const keeps = (state: typeof before, now: number) => keepsAddress(state, second, sha256(1), now);
  t.ok(keeps(before, NOW), 'the link may be used yet');
  t.notOk(keeps(before, NOW + 2 * HOUR_MS), 'nobody has used the link');
  t.ok(keeps(after, NOW + 2 * HOUR_MS));
  t.notOk(keepsAddress(after, first, sha256(0), NOW), 'the former address is free');
  const back = fold(person, [registered, offeredBob(1), movedBob, offeredBob(0)]);
  t.notOk(keepsAddress(back, first, sha256(0), NOW), 'also while a link back is open');
  t.end();
});

void test('a link is valid for an hour, and its address kept ten minutes longer', (t) => {
  t.equal(ADDRESS_LINK_MS, HOUR_MS);
  const holder = fold(person, [registered, offeredBob(1)]);
  const reserved = { isForChange: true };
  const kept = NOW + HOUR_MS + HOUR_MS / 6;
  t.ok(keepsAddress(holder, reserved, sha256(1), kept - 1));
  t.notOk(keepsAddress(holder, reserved, sha256(1), kept));
  t.notOk(keepsAddress(holder, reserved, sha256(2), NOW), 'the link is to another address');
  t.end();
});

const offerSentence = (byMail?: true) =>
  addressOfferText({ expiresAt: NOW, ...(byMail && { byMail }) });

void test('a link that an operator hands over is not called mailed', (t) => {
  given(t, account, opened)
    .when({ ...ask, byMail: false })
    .thenEvents({ type: 'EmailChangeOffered', data: { accountId: ID, ...offer(1) } });
  t.match(offerSentence(true), /A link is sent there, which is valid until 2026-11-27/);
  t.notMatch(offerSentence(), /sent/);
  t.end();
});
