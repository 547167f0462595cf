/** A person: registered once, erased for good, with a name, a password and the mails that they want. */
import { test } from 'tap';
import type { PersonCommand, PersonEvent } from '../../../src/domain/person-commands.ts';
import { person } from '../../../src/domain/person.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, HOUR_MS, NOW, personId, sha256 } from '../../support/samples.ts';

const BOB = { personId: personId(2) };
const PLACE = { ...BOB, accountId: accountId(1) };
const terms = { email: 'v1.e', name: 'v1.n' };
const provider = (n = 1) => ({
  issuer: 'https://login.example.com',
  identity: sha256(n),
  subject: `v1.s${n}`,
});

const registered: PersonEvent = {
  type: 'PersonRegistered',
  data: { ...PLACE, ...terms, passwordHash: 'v1.p' },
};
const proven: PersonEvent = {
  type: 'PersonRegistered',
  data: { ...PLACE, ...terms, provenBy: 'mail' },
};
const linked = (n = 1): PersonEvent => ({
  type: 'IdentityLinked',
  data: { ...PLACE, ...provider(n) },
});
const erased: PersonEvent = { type: 'PersonErased', data: BOB };
const password = (where: { accountId?: string } = {}): PersonEvent => ({
  type: 'PersonPasswordChanged',
  data: { ...BOB, ...where, passwordHash: 'v1.q' },
});
const offered = (n: number, byMail = false): PersonEvent => ({
  type: 'PersonResetOffered',
  data: {
    ...PLACE,
    tokenHash: sha256(n),
    expiresAt: NOW + HOUR_MS,
    ...(byMail && { byMail: true as const }),
  },
});
const reset = (n: number, now = NOW): PersonCommand => ({
  type: 'ResetPersonPassword',
  ...PLACE,
  tokenHash: sha256(n),
  passwordHash: 'v1.q',
  now,
});
const byLink: PersonEvent = {
  type: 'PersonPasswordChanged',
  data: { ...PLACE, passwordHash: 'v1.q', byLink: true },
};

void test('a person is registered once, with what they sign in with', (t) => {
  const register: PersonCommand = { type: 'RegisterPerson', ...PLACE, ...terms };
  given(t, person)
    .when({ ...register, passwordHash: 'v1.p' })
    .thenEvents(registered);
  given(t, person)
    .when({ ...register, provenBy: 'mail' })
    .thenEvents(proven);
  const byProvider: PersonEvent = {
    type: 'PersonRegistered',
    data: { ...PLACE, ...terms, provenBy: 'provider' },
  };
  given(t, person)
    .when({ ...register, provenBy: 'provider', identity: provider() })
    .thenEvents(byProvider, linked());
  given(t, person, registered)
    .when({ ...register, provenBy: 'mail', identity: provider() })
    .thenNothing();
  t.match(fold(person, [proven]), { status: 'registered', passwordHash: '', provenBy: 'mail' });
  t.match(fold(person, [registered]), { passwordHash: 'v1.p', provenBy: undefined, passwords: 0 });
  t.end();
});

void test('a person who was erased is erased for good', (t) => {
  const commands: readonly PersonCommand[] = [
    { type: 'RegisterPerson', ...PLACE, ...terms },
    { type: 'NamePerson', ...PLACE, name: 'v1.m' },
    { type: 'ChangePersonPassword', ...PLACE, passwordHash: 'v1.q' },
    { type: 'LinkIdentity', ...PLACE, identity: provider() },
    { type: 'ChangePersonMails', ...PLACE, off: ['credits_low'] },
    reset(1),
  ];
  for (const command of commands)
    given(t, person, registered, offered(1), erased)
      .when(command)
      .thenRejected('not_found', /no such person any more/);
  given(t, person, registered, erased)
    .when({ type: 'ErasePerson', ...BOB })
    .thenNothing();
  const state = fold(person, [registered, linked(), erased]);
  t.match(state, { status: 'erased', email: '', passwordHash: '', name: undefined });
  t.strictSame(state.identities, {});
  t.end();
});

void test('whoever proves an unproven address ends its person, and only such a one', (t) => {
  const unproven = { type: 'ErasePerson', ...PLACE, unproven: true } as const;
  const ended: PersonEvent = { type: 'PersonErased', data: { ...PLACE, unproven: true } };
  given(t, person, registered).when(unproven).thenEvents(ended);
  given(t, person, proven).when(unproven).thenRejected('forbidden');
  given(t, person, registered, linked()).when(unproven).thenRejected('forbidden');
  given(t, person, proven)
    .when({ type: 'ErasePerson', ...PLACE })
    .thenEvents({ type: 'PersonErased', data: PLACE });
  given(t, person, registered)
    .when({ type: 'ErasePerson', ...BOB })
    .thenEvents(erased);
  t.end();
});

void test('only who is registered has a password, an address to change and links to set them', (t) => {
  const commands: readonly PersonCommand[] = [
    { type: 'ProveAddress', ...PLACE, provenBy: 'operator', memberships: 0 },
    { type: 'ChangePersonPassword', ...PLACE, passwordHash: 'v1.q' },
    { type: 'OfferPersonReset', ...PLACE, tokenHash: sha256(1), now: NOW },
    {
      type: 'OfferPersonEmail',
      ...PLACE,
      email: 'v1.2',
      addressHash: sha256(1),
      tokenHash: sha256(2),
      expiresAt: NOW + 1,
      byMail: true,
      epoch: 0,
    },
  ];
  const named: PersonEvent = { type: 'PersonNamed', data: { ...PLACE, name: 'v1.m' } };
  for (const command of commands) {
    given(t, person)
      .when(command)
      .thenRejected('not_found', /no such person\.$/);
    // A founder has a name, and their password is in the stream of the account.
    given(t, person, named)
      .when(command)
      .thenRejected('not_found', /no such person\.$/);
  }
  t.end();
});

void test('an address that was proven once is not proven again, and nothing is dropped', (t) => {
  const prove: PersonCommand = {
    type: 'ProveAddress',
    ...BOB,
    provenBy: 'operator',
    memberships: 0,
    name: 'v1.m',
    passwordHash: 'v1.q',
  };
  given(t, person, proven).when(prove).thenNothing();
  given(t, person, registered, linked()).when(prove).thenNothing();
  given(t, person, registered)
    .when({ type: 'ProveAddress', ...BOB, provenBy: 'operator', memberships: 0 })
    .thenEvents({
      type: 'PersonAddressProven',
      data: {
        ...BOB,
        provenBy: 'operator',
        dropped: { password: true, passkeys: 0, memberships: 0 },
      },
    });
  t.end();
});

void test('a person is one at an identity provider', (t) => {
  const link = (n: number): PersonCommand => ({
    type: 'LinkIdentity',
    ...PLACE,
    identity: provider(n),
  });
  given(t, person, proven).when(link(1)).thenEvents(linked(1));
  given(t, person, proven, linked(1)).when(link(1)).thenNothing();
  given(t, person, proven, linked(1))
    .when(link(2))
    .thenRejected('forbidden', /another one at the identity provider/);
  const other = { ...provider(2), issuer: 'https://id.example.org' };
  const event: PersonEvent = { type: 'IdentityLinked', data: { ...PLACE, ...other } };
  given(t, person, proven, linked(1))
    .when({ type: 'LinkIdentity', ...PLACE, identity: other })
    .thenEvents(event);
  const state = fold(person, [proven, linked(1), event]);
  t.equal(state.provenBy, 'mail', 'the first proof stays');
  t.strictSame(state.identities, {
    [provider().issuer]: sha256(1),
    [other.issuer]: sha256(2),
  });
  t.end();
});

void test('a session that was opened with a former password changes no password', (t) => {
  const set = (passwords?: number): PersonCommand => ({
    type: 'ChangePersonPassword',
    ...PLACE,
    passwordHash: 'v1.q',
    ...(passwords !== undefined && { passwords }),
  });
  given(t, person, registered).when(set(0)).thenEvents(password(PLACE));
  given(t, person, registered, password()).when(set(1)).thenEvents(password(PLACE));
  given(t, person, registered, password())
    .when(set(0))
    .thenRejected('unauthorized', /Sign in again/);
  // An operator has no session of theirs.
  given(t, person, registered, password()).when(set()).thenEvents(password(PLACE));
  given(t, person, registered)
    .when({ type: 'ChangePersonPassword', ...BOB, passwordHash: 'v1.q' })
    .thenEvents(password());
  t.equal(fold(person, [registered, password(), password()]).passwords, 2);
  t.end();
});

void test('a link sets the password once and in time, and a new password ends all links', (t) => {
  given(t, person, registered)
    .when({
      type: 'OfferPersonReset',
      ...PLACE,
      tokenHash: sha256(1),
      now: NOW,
      mailedUntil: NOW + HOUR_MS,
    })
    .thenEvents(offered(1, true));
  given(t, person, registered)
    .when({ type: 'OfferPersonReset', ...BOB, tokenHash: sha256(1), now: NOW })
    .thenEvents({
      type: 'PersonResetOffered',
      data: { ...BOB, tokenHash: sha256(1), expiresAt: NOW + 24 * HOUR_MS },
    });
  given(t, person, proven, offered(1)).when(reset(1)).thenEvents(byLink);
  given(t, person, proven, offered(1))
    .when(reset(1, NOW + HOUR_MS - 1))
    .thenEvents(byLink);
  const gone: readonly (readonly [string, readonly PersonEvent[], number])[] = [
    ['never made', [], NOW],
    ['used', [offered(1), byLink], NOW],
    ['its time is over', [offered(1)], NOW + HOUR_MS],
    ['another was made', [offered(1), offered(2)], NOW],
    ['the password was changed', [offered(1), offered(2, true), password()], NOW],
  ];
  for (const [why, events, now] of gone) {
    t.comment(why);
    given(t, person, proven, ...events)
      .when(reset(1, now))
      .thenRejected('gone', /Ask for another/);
  }
  t.end();
});

void test('what an older log leaves open is proven only by what a mail had brought', (t) => {
  const cases: readonly (readonly [string, readonly PersonEvent[], 'mail' | undefined])[] = [
    ['a mailed link', [registered, offered(1, true), byLink], 'mail'],
    ['a link that was handed over', [registered, offered(1), byLink], undefined],
    ['either of two links', [registered, offered(1), offered(2, true), byLink], undefined],
    ['no link, although one was mailed', [registered, offered(1, true), password()], undefined],
    ['a proof from before', [proven, password()], 'mail'],
  ];
  for (const [what, events, provenBy] of cases)
    t.equal(fold(person, events).provenBy, provenBy, what);
  t.end();
});

void test('a reset by mail proves the address, and says how many memberships end', (t) => {
  const dropped = { password: true, passkeys: 0, memberships: 0 } as const;
  const proof: PersonEvent = {
    type: 'PersonAddressProven',
    data: { ...PLACE, provenBy: 'mail', dropped },
  };
  given(t, person, registered, offered(1, true)).when(reset(1)).thenEvents(proof, byLink);
  given(t, person, registered, offered(1), offered(2, true)).when(reset(1)).thenEvents(byLink);
  const two = { ...reset(1), memberships: 2 } as PersonCommand;
  given(t, person, registered, offered(1, true))
    .when(two)
    .thenEvents(
      {
        type: 'PersonAddressProven',
        data: { ...PLACE, provenBy: 'mail', dropped: { ...dropped, memberships: 2 } },
      },
      byLink,
    );
  t.end();
});

void test('another address that an operator vouches for is the first proof of it', (t) => {
  const address = { email: 'v1.2', addressHash: sha256(1) };
  const offer: PersonEvent = {
    type: 'PersonEmailOffered',
    data: { ...PLACE, ...address, tokenHash: sha256(2), expiresAt: NOW + 1 },
  };
  const use: PersonCommand = {
    type: 'ChangePersonEmail',
    ...PLACE,
    tokenHash: sha256(2),
    formerEmail: 'v1.e',
    provenBy: 'operator',
    now: NOW,
  };
  given(t, person, registered, offer)
    .when(use)
    .thenEvents(
      {
        type: 'PersonAddressProven',
        data: {
          ...PLACE,
          provenBy: 'operator',
          dropped: { password: true, passkeys: 0, memberships: 0 },
        },
      },
      {
        type: 'PersonEmailChanged',
        data: { ...PLACE, ...address, formerEmail: 'v1.e', provenBy: 'operator' },
      },
    );
  t.end();
});

const mailsOff = (...kinds: readonly ('credits_low' | 'key_expiring')[]): PersonEvent => ({
  type: 'PersonMailsChanged',
  data: { ...PLACE, off: [...kinds] },
});

const chooseMails = (...kinds: readonly ('credits_low' | 'key_expiring')[]): PersonCommand => ({
  type: 'ChangePersonMails',
  ...PLACE,
  off: kinds,
});

void test('the mails that a person does not want are recorded where they change', (t) => {
  given(t, person).when(chooseMails()).thenNothing();
  given(t, person).when(chooseMails('credits_low')).thenEvents(mailsOff('credits_low'));
  const before = given(t, person, registered, mailsOff('credits_low'));
  before.when(chooseMails('credits_low')).thenNothing();
  before
    .when(chooseMails('credits_low', 'key_expiring'))
    .thenEvents(mailsOff('credits_low', 'key_expiring'));
  before.when(chooseMails()).thenEvents(mailsOff());
  t.end();
});
