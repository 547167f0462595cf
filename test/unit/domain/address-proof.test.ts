/** Proofs of addresses: what the first one drops, and what an unproven address does not open. */
import { test } from 'tap';
import { account, type AccountEvent } from '../../../src/domain/account.ts';
import { provenText } from '../../../src/domain/address-proof.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { person } from '../../../src/domain/person.ts';
import type { PersonEvent } from '../../../src/domain/person-commands.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, passkeyId, personId, sha256 } from '../../support/samples.ts';

const NOW = Date.parse('2026-11-27T12:00:00Z');
const BOB = personId(2);
const PLACE = { personId: BOB, accountId: accountId(1) };

const registered: PersonEvent = {
  type: 'PersonRegistered',
  data: { ...PLACE, email: 'v1.e', name: 'v1.n', passwordHash: 'v1.p' },
};
const byMail: PersonEvent = { ...registered, data: { ...registered.data, provenBy: 'mail' } };
const passkey: PersonEvent = {
  type: 'PasskeyAdded',
  data: {
    ...PLACE,
    passkeyId: passkeyId(),
    credential: 'v1.c',
    publicKey: 'v1.k',
    name: 'v1.n',
    counter: 0,
    challenge: sha256(5),
    addedAt: NOW,
  },
};
const authenticator: PersonEvent = {
  type: 'SecondFactorAdded',
  data: { ...PLACE, secret: 'v1.s', step: 1, recoveryCodes: [sha256(6)], addedAt: NOW },
};
const dropped = { password: true, passkeys: 1, secondFactor: true, memberships: 2 } as const;
const proven = (provenBy: 'mail' | 'provider' | 'operator'): PersonEvent => ({
  type: 'PersonAddressProven',
  data: { ...PLACE, provenBy, dropped },
});
const prove = { type: 'ProveAddress', ...PLACE, provenBy: 'operator', memberships: 2 } as const;
const identity = { issuer: 'https://login.example.com', identity: sha256(7), subject: 'v1.s' };
const link = { type: 'LinkIdentity', ...PLACE, identity } as const;
const offer = (n: number, isMailed: boolean): PersonEvent => ({
  type: 'PersonResetOffered',
  data: {
    ...PLACE,
    tokenHash: sha256(n),
    expiresAt: NOW + 1,
    ...(isMailed && { byMail: true as const }),
  },
});
const reset = (n: number) =>
  ({
    type: 'ResetPersonPassword',
    ...PLACE,
    tokenHash: sha256(n),
    passwordHash: 'v1.q',
    memberships: 2,
    now: NOW,
  }) as const;
const byLink: PersonEvent = {
  type: 'PersonPasswordChanged',
  data: { ...PLACE, passwordHash: 'v1.q', byLink: true },
};

void test('the first proof drops all credentials, and there is one first proof', (t) => {
  given(t, person, registered, passkey, authenticator).when(prove).thenEvents(proven('operator'));
  given(t, person, registered, proven('mail')).when(prove).thenNothing();
  given(t, person, byMail).when(prove).thenNothing();
  given(t, person).when(prove).thenRejected('not_found');
  const before: readonly PersonEvent[] = [
    registered,
    passkey,
    authenticator,
    { type: 'PersonMailsChanged', data: { ...PLACE, off: ['credits_low'] } },
    offer(1, true),
    offer(2, false),
  ];
  const state = fold(person, [...before, proven('mail')]);
  t.strictSame(state.passkeys, {});
  t.match(state, { passwordHash: '', passwords: 1, provenBy: 'mail', mailsOff: [] });
  t.equal(state.authenticator, undefined);
  t.equal(state.reset ?? state.mailedReset, undefined);
  t.ok(state.usedChallenges[sha256(5)], 'a challenge from before is not taken again');
  t.end();
});

void test('who proves it by a mailed link chooses what takes the place', (t) => {
  const chosen = { name: 'v1.b', passwordHash: 'v1.q' };
  given(t, person, registered, passkey, authenticator)
    .when({ ...prove, ...chosen })
    .thenEvents(
      proven('operator'),
      { type: 'PersonNamed', data: { ...PLACE, name: 'v1.b' } },
      { type: 'PersonPasswordChanged', data: { ...PLACE, passwordHash: 'v1.q' } },
    );
  t.end();
});

void test('a reset by mail is a proof, and a link of an operator is none', (t) => {
  const before = [registered, passkey, authenticator, offer(1, true), offer(2, false)] as const;
  given(t, person, ...before)
    .when(reset(1))
    .thenEvents(proven('mail'), byLink);
  given(t, person, ...before)
    .when(reset(2))
    .thenEvents(byLink);
  given(t, person, byMail, passkey, offer(1, true)).when(reset(1)).thenEvents(byLink);
  t.equal(fold(person, [...before, byLink]).provenBy, undefined, 'either link may have been used');
  t.equal(fold(person, [registered, offer(1, true), byLink]).provenBy, 'mail', 'an older log');
  t.end();
});

void test('an identity is linked to a proven address alone', (t) => {
  const linked: PersonEvent = { type: 'IdentityLinked', data: { ...PLACE, ...identity } };
  given(t, person, registered)
    .when(link)
    .thenRejected('forbidden', /account prove/);
  given(t, person, registered, proven('operator')).when(link).thenEvents(linked);
  given(t, person, byMail).when(link).thenEvents(linked);
  given(t, person).when(link).thenEvents(linked);
  t.equal(fold(person, [registered, linked]).provenBy, 'provider', 'an older log');
  t.end();
});

void test('another address is as proven as its link', (t) => {
  const changed = {
    ...PLACE,
    email: 'v1.2',
    addressHash: sha256(1),
    formerEmail: 'v1.e',
  } as const;
  const older: PersonEvent = { type: 'PersonEmailChanged', data: changed };
  t.equal(fold(person, [byMail, older]).provenBy, undefined, 'an older log does not say how');
  const offered: PersonEvent = {
    type: 'PersonEmailOffered',
    data: {
      ...PLACE,
      email: 'v1.2',
      addressHash: sha256(1),
      tokenHash: sha256(2),
      expiresAt: NOW + 1,
      byMail: true,
    },
  };
  const use = {
    type: 'ChangePersonEmail',
    ...PLACE,
    tokenHash: sha256(2),
    formerEmail: 'v1.e',
    provenBy: 'mail',
    memberships: 2,
    now: NOW,
  } as const;
  const moved: PersonEvent = { type: 'PersonEmailChanged', data: { ...changed, provenBy: 'mail' } };
  given(t, person, byMail, offered).when(use).thenEvents(moved);
  given(t, person, registered, passkey, authenticator, offered)
    .when(use)
    .thenEvents(proven('mail'), moved);
  t.end();
});

void test('a membership that ends with the first proof does not keep the person out', (t) => {
  const ID = accountId(1);
  const opened: AccountEvent = {
    type: 'AccountOpened',
    data: { accountId: ID, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
  };
  const joined: AccountEvent = { type: 'MemberJoined', data: { ...PLACE, role: 'owner' } };
  const left: AccountEvent = { type: 'MemberRemoved', data: { ...PLACE, unproven: true } };
  const end = { type: 'RemoveMember', ...PLACE, unproven: true } as const;
  given(t, account, opened, joined).when(end).thenEvents(left);
  const admit = { type: 'AdmitMember', ...PLACE, role: 'member' } as const;
  const admitted: AccountEvent = { type: 'MemberJoined', data: { ...PLACE, role: 'member' } };
  given(t, account, opened, joined, left).when(admit).thenEvents(admitted);
  const founder = { accountId: ID, personId: founderOf(ID) };
  const gone: AccountEvent = { type: 'MemberRemoved', data: founder };
  given(t, account, opened, joined, gone).when(end).thenRejected('forbidden');
  t.end();
});

void test('without a proof, a handed-over link lets in only its own person and former members', (t) => {
  const ID = accountId(1);
  const opened: AccountEvent = {
    type: 'AccountOpened',
    data: { accountId: ID, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
  };
  const invitation = personId(3);
  const invited: AccountEvent = {
    type: 'MemberInvited',
    data: {
      accountId: ID,
      personId: invitation,
      tokenHash: sha256(8),
      email: 'v1.e',
      role: 'member',
      invitedAt: NOW,
      expiresAt: NOW + 1,
    },
  };
  const join = (who: string, isProven: boolean) =>
    ({
      type: 'JoinAccount',
      accountId: ID,
      personId: who,
      isProven,
      tokenHash: sha256(8),
      now: NOW,
    }) as const;
  const joined = (who: string): AccountEvent => ({
    type: 'MemberJoined',
    data: { accountId: ID, personId: who, invitation, role: 'member' },
  });
  const left: AccountEvent = { type: 'MemberRemoved', data: PLACE };
  given(t, account, opened, invited).when(join(BOB, false)).thenRejected('forbidden');
  given(t, account, opened, invited).when(join(BOB, true)).thenEvents(joined(BOB));
  given(t, account, opened, invited).when(join(invitation, false)).thenEvents(joined(invitation));
  const before: AccountEvent = { type: 'MemberJoined', data: { ...PLACE, role: 'member' } };
  given(t, account, opened, before, left, invited).when(join(BOB, false)).thenEvents(joined(BOB));
  t.end();
});

void test('a proof says by whom, and each thing that it dropped', (t) => {
  const none = { passkeys: 0, memberships: 0 };
  const cases: readonly (readonly [Parameters<typeof provenText>[0]['dropped'], string])[] = [
    [none, 'sessions'],
    [{ ...none, password: true }, 'password, sessions'],
    [{ ...none, passkeys: 1 }, 'passkeys (1), sessions'],
    [{ ...none, secondFactor: true }, 'authenticator and recovery codes, sessions'],
    [{ ...none, memberships: 1 }, 'sessions, memberships (1)'],
  ];
  for (const [what, text] of cases)
    t.match(
      provenText({ ...PLACE, provenBy: 'operator', dropped: what }),
      new RegExp(
        `by an operator of the service\\..* is dropped: ${text.replace(/[()]/g, '\\$&')}\\.$`,
      ),
    );
  t.end();
});

void test('the proof of an address names its account, if any', (t) => {
  given(t, person, registered)
    .when({ type: 'ProveAddress', personId: BOB, provenBy: 'provider', memberships: 0 })
    .thenEvents({
      type: 'PersonAddressProven',
      data: {
        personId: BOB,
        provenBy: 'provider',
        dropped: { password: true, passkeys: 0, memberships: 0 },
      },
    });
  t.end();
});
