/** Who belongs to an account, and as what: invitations, roles, removal, and the sessions that end with them. */
import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import {
  founderOf,
  homeOf,
  MAX_INVITATIONS,
  MAX_MEMBERS,
  openInvitation,
  removalRefused,
} from '../../../src/domain/members.ts';
import type { Role } from '../../../src/domain/member-events.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, HOUR_MS, NOW, personId, sha256 } from '../../support/samples.ts';

const ID = accountId();
const FOUNDER = founderOf(ID);
const [BOB, CAROL, DAN] = [personId(2), personId(3), personId(4)] as const;
const at = (who: string) => ({ accountId: ID, personId: who });

const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { accountId: ID, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
};
type Right = { readonly documents?: true };
const joined = (who: string, role: Role = 'member', right: Right = {}): AccountEvent => ({
  type: 'MemberJoined',
  data: { ...at(who), role, ...right },
});
const changed = (who: string, role: Role, right: Right = {}): AccountEvent => ({
  type: 'MemberChanged',
  data: { ...at(who), role, ...right },
});
const removed = (who: string, more: { left?: true; unproven?: true } = {}): AccountEvent => ({
  type: 'MemberRemoved',
  data: { ...at(who), ...more },
});
const revoked = (who: string): AccountEvent => ({ type: 'InvitationRevoked', data: at(who) });
type InvitedData = Extract<AccountEvent, { type: 'MemberInvited' }>['data'];
const invited = (n: number, more: Partial<InvitedData> = {}): AccountEvent => ({
  type: 'MemberInvited',
  data: {
    ...at(personId(n)),
    tokenHash: sha256(n),
    email: 'v1.i',
    role: 'member',
    invitedAt: NOW,
    expiresAt: NOW + HOUR_MS,
    ...more,
  },
});
type CommandOf<T extends AccountCommand['type']> = Extract<AccountCommand, { readonly type: T }>;
const invite = (
  n: number,
  more: Partial<CommandOf<'InviteMember'>> = {},
): CommandOf<'InviteMember'> => ({
  type: 'InviteMember',
  ...at(personId(n)),
  tokenHash: sha256(n),
  email: 'v1.i',
  role: 'member',
  byMail: false,
  now: NOW,
  expiresAt: NOW + HOUR_MS,
  ...more,
});
const join = (n: number, who = personId(n), now = NOW): AccountCommand => ({
  type: 'JoinAccount',
  ...at(who),
  isProven: true,
  tokenHash: sha256(n),
  now,
});
const joinedBy = (n: number, who = personId(n), more: object = {}): AccountEvent => ({
  type: 'MemberJoined',
  data: { ...at(who), invitation: personId(n), role: 'member', ...more },
});
const change = (
  who: string,
  more: Partial<CommandOf<'ChangeMember'>> = {},
): CommandOf<'ChangeMember'> => ({ type: 'ChangeMember', ...at(who), ...more });
const remove = (
  who: string,
  more: Partial<CommandOf<'RemoveMember'>> = {},
): CommandOf<'RemoveMember'> => ({ type: 'RemoveMember', ...at(who), ...more });
const admit = (who: string, role: Role = 'member'): AccountCommand => ({
  type: 'AdmitMember',
  ...at(who),
  role,
});
const list = (count: number, event: (n: number) => AccountEvent): readonly AccountEvent[] =>
  Array.from({ length: count }, (_, n) => event(n + 10));

void test('an account has its founder as its only owner', (t) => {
  t.strictSame(fold(account, [opened]).members, {
    [FOUNDER]: { role: 'owner', since: 0, epoch: 0 },
  });
  t.equal(homeOf(FOUNDER), ID);
  t.end();
});

void test('only owners and the operator change who belongs to an account, and how they sign in', (t) => {
  const people = [opened, joined(BOB), joined(CAROL, 'auditor'), invited(5)];
  const policy: AccountCommand = {
    type: 'ChangeSignInPolicy',
    accountId: ID,
    require: 'second_factor',
  };
  const commands: readonly [AccountCommand, AccountEvent][] = [
    [invite(6), invited(6)],
    [{ type: 'RevokeInvitation', ...at(personId(5)) }, revoked(personId(5))],
    [change(CAROL, { role: 'owner' }), changed(CAROL, 'owner')],
    [remove(CAROL), removed(CAROL)],
    [policy, { type: 'SignInPolicyChanged', data: { accountId: ID, require: 'second_factor' } }],
  ];
  for (const [command, event] of commands) {
    for (const by of [BOB, CAROL, personId(5), DAN]) {
      if (command.type === 'RemoveMember' && by === CAROL) continue;
      given(t, account, ...people)
        .when({ ...command, by } as AccountCommand)
        .thenRejected('forbidden', /Only an owner/);
    }
    given(t, account, ...people)
      .when(command)
      .thenEvents(event);
    const byOwner = { ...command, by: FOUNDER } as AccountCommand;
    const expected =
      event.type === 'MemberInvited'
        ? ({ ...event, data: { ...event.data, invitedBy: FOUNDER } } as const)
        : event;
    given(t, account, ...people)
      .when(byOwner)
      .thenEvents(expected);
  }
  t.end();
});

void test('an invitation says who made it, how it went out, and what an auditor may read', (t) => {
  const before = given(t, account, opened, joined(BOB, 'owner'));
  before.when(invite(5, { by: BOB })).thenEvents(invited(5, { invitedBy: BOB }));
  before.when(invite(5, { byMail: true })).thenEvents(invited(5, { byMail: true }));
  const auditor = { role: 'auditor' } as const;
  before
    .when(invite(5, { ...auditor, documents: true }))
    .thenEvents(invited(5, { ...auditor, documents: true }));
  before.when(invite(5, { ...auditor, documents: false })).thenEvents(invited(5, auditor));
  before.when(invite(5, auditor)).thenEvents(invited(5, auditor));
  // Owners and members read documents anyway.
  before.when(invite(5, { documents: true })).thenEvents(invited(5));
  t.end();
});

void test('an invitation lets one person in, until it is used, revoked or expired', (t) => {
  const end = NOW + HOUR_MS;
  given(t, account, opened, invited(5)).when(join(5)).thenEvents(joinedBy(5));
  given(t, account, opened, invited(5)).when(join(5, BOB)).thenEvents(joinedBy(5, BOB));
  given(t, account, opened, invited(5))
    .when(join(5, BOB, end - 1))
    .thenEvents(joinedBy(5, BOB));
  given(t, account, opened, invited(4), invited(5)).when(join(5)).thenEvents(joinedBy(5));
  const gone: readonly (readonly [string, readonly AccountEvent[], number])[] = [
    ['never made', [opened], NOW],
    ['another one', [opened, invited(6)], NOW],
    ['expired', [opened, invited(5)], end],
    ['revoked', [opened, invited(5), revoked(personId(5))], NOW],
    ['used', [opened, invited(5), joinedBy(5, DAN)], NOW],
    [
      'made again with another link',
      [opened, invited(5), invited(5, { tokenHash: sha256(9) })],
      NOW,
    ],
  ];
  for (const [what, events, now] of gone) {
    t.comment(what);
    given(t, account, ...events)
      .when(join(5, BOB, now))
      .thenRejected('gone', /used or revoked, or it has expired/);
  }
  given(t, account, opened, joined(BOB), invited(5))
    .when(join(5, BOB))
    .thenRejected('validation_error', /member of this account already/);
  t.end();
});

void test('who joins gets the role and the right that the invitation names', (t) => {
  const right = { role: 'auditor', documents: true } as const;
  given(t, account, opened, invited(5, right))
    .when(join(5))
    .thenEvents(joinedBy(5, undefined, right));
  const joinedNow = fold(account, [opened, invited(5, right), joinedBy(5, undefined, right)]);
  t.match(joinedNow.members[personId(5)], right);
  t.strictSame(joinedNow.invitations, {});
  const mailed = fold(account, [opened, invited(5, { byMail: true, invitedBy: BOB })]);
  t.match(openInvitation(mailed, sha256(5), NOW), {
    id: personId(5),
    role: 'member',
    byMail: true,
    invitedBy: BOB,
  });
  const handedOver = openInvitation(fold(account, [opened, invited(5)]), sha256(5), NOW);
  t.notOk(handedOver?.byMail, 'a link that was handed over proves no address');
  t.notOk(handedOver?.documents);
  t.end();
});

void test('what is revoked must be an open invitation', (t) => {
  const revoke: AccountCommand = { type: 'RevokeInvitation', ...at(personId(5)) };
  given(t, account, opened, invited(5), invited(6))
    .when(revoke)
    .thenEvents(revoked(personId(5)));
  given(t, account, opened, invited(6)).when(revoke).thenRejected('not_found');
  given(t, account, opened, invited(5), joinedBy(5)).when(revoke).thenRejected('not_found');
  const left = fold(account, [opened, invited(5), invited(6), revoked(personId(5))]);
  t.strictSame(Object.keys(left.invitations), [personId(6)]);
  t.end();
});

void test('an account has at most 200 members, invited ones among them, and 50 open invitations', (t) => {
  t.strictSame([MAX_MEMBERS, MAX_INVITATIONS], [200, 50]);
  // The founder is one of the members.
  const almost = list(MAX_MEMBERS - 2, (n) => joined(personId(n)));
  const expired = invited(5, { expiresAt: NOW });
  given(t, account, opened, ...almost, expired)
    .when(invite(6))
    .thenEvents(invited(6));
  given(t, account, opened, ...almost, invited(5))
    .when(invite(6))
    .thenRejected('validation_error', /at most 200 members/);
  given(t, account, opened, ...almost)
    .when(admit(BOB))
    .thenEvents(joined(BOB));
  const full = given(t, account, opened, ...almost, joined(DAN));
  full.when(invite(6)).thenRejected('validation_error', /at most 200 members.*Remove one/);
  full.when(admit(BOB)).thenRejected('forbidden', /at most 200 members.*Ask an owner/);
  full.when(admit(DAN)).thenNothing();

  const open = list(MAX_INVITATIONS, invited);
  given(t, account, opened, ...open.slice(1), expired)
    .when(invite(6))
    .thenEvents(invited(6));
  given(t, account, opened, ...open)
    .when(invite(6))
    .thenRejected('validation_error', /at most 50 open invitations.*Revoke one/);
  t.end();
});

void test('an identity provider lets nobody back in who was removed, and an invitation does', (t) => {
  given(t, account, opened).when(admit(BOB, 'auditor')).thenEvents(joined(BOB, 'auditor'));
  given(t, account, opened, joined(BOB)).when(admit(BOB, 'owner')).thenNothing();
  const out = [opened, joined(BOB), removed(BOB)];
  given(t, account, ...out)
    .when(admit(BOB))
    .thenRejected('forbidden', /do not belong/);
  given(t, account, ...out)
    .when(admit(CAROL))
    .thenEvents(joined(CAROL));
  given(t, account, ...out, invited(5))
    .when(join(5, BOB))
    .thenEvents(joinedBy(5, BOB));
  given(t, account, ...out, invited(5), joinedBy(5, BOB), removed(BOB, { unproven: true }))
    .when(admit(BOB))
    .thenEvents(joined(BOB));
  t.end();
});

void test('a role or right is changed where it differs, and by whom is recorded', (t) => {
  const documents = { documents: true } as const;
  const before = given(t, account, opened, joined(BOB), joined(CAROL, 'auditor', documents));
  before.when(change(DAN, { role: 'owner' })).thenRejected('not_found', /no such member/);
  for (const same of [{}, { role: 'member' }, { documents: true }, { documents: false }] as const)
    before.when(change(BOB, same)).thenNothing();
  for (const same of [{}, { role: 'auditor' }, documents] as const)
    before.when(change(CAROL, same)).thenNothing();
  before.when(change(CAROL, { documents: false })).thenEvents(changed(CAROL, 'auditor'));
  before.when(change(CAROL, { role: 'member' })).thenEvents(changed(CAROL, 'member'));
  before.when(change(BOB, { role: 'auditor' })).thenEvents(changed(BOB, 'auditor'));
  before
    .when(change(BOB, { role: 'auditor', documents: true }))
    .thenEvents(changed(BOB, 'auditor', documents));
  before.when(change(BOB, { role: 'owner', byProvider: true })).thenEvents({
    type: 'MemberChanged',
    data: { ...at(BOB), role: 'owner', byProvider: true },
  });
  given(t, account, opened, joined(CAROL, 'auditor'))
    .when(change(CAROL, documents))
    .thenEvents(changed(CAROL, 'auditor', documents));
  given(t, account, opened, joined(CAROL, 'auditor')).when(change(CAROL)).thenNothing();
  t.end();
});

void test('a changed role leaves the membership the same one, and other members as they are', (t) => {
  const before = [opened, joined(CAROL), joined(BOB)];
  const { members } = fold(account, [...before, changed(BOB, 'auditor', { documents: true })]);
  t.strictSame(members, {
    [FOUNDER]: { role: 'owner', since: 0, epoch: 0 },
    [CAROL]: { role: 'member', since: 1, epoch: 1 },
    [BOB]: { role: 'auditor', documents: true, since: 2, epoch: 2 },
  });
  const back = fold(account, [
    ...before,
    changed(BOB, 'auditor', { documents: true }),
    changed(BOB, 'member'),
  ]);
  t.strictSame(back.members[BOB], { role: 'member', since: 2, epoch: 2 });
  t.end();
});

void test('an account keeps an owner', (t) => {
  const last = given(t, account, opened, joined(BOB));
  for (const by of [undefined, FOUNDER]) {
    const who = by === undefined ? {} : { by };
    last
      .when(change(FOUNDER, { role: 'member', ...who }))
      .thenRejected('forbidden', /at least one owner/);
    last.when(remove(FOUNDER, who)).thenRejected('forbidden', /Make another member an owner/);
  }
  last.when(change(FOUNDER, { role: 'owner' })).thenNothing();
  last.when(remove(BOB)).thenEvents(removed(BOB));
  const two = given(t, account, opened, joined(BOB), changed(BOB, 'owner'));
  two.when(change(FOUNDER, { role: 'member' })).thenEvents(changed(FOUNDER, 'member'));
  two.when(remove(FOUNDER)).thenEvents(removed(FOUNDER));
  given(t, account, opened, joined(BOB, 'owner'), removed(FOUNDER))
    .when(remove(BOB))
    .thenRejected('forbidden');
  given(t, account, opened, joined(BOB, 'owner'), changed(FOUNDER, 'member'))
    .when(change(BOB, { role: 'auditor' }))
    .thenRejected('forbidden');
  const people = fold(account, [opened, joined(BOB)]);
  t.match(removalRefused(people, FOUNDER), { rejected: 'forbidden' });
  t.equal(removalRefused(people, BOB), undefined);
  t.equal(removalRefused(fold(account, [opened, joined(BOB, 'owner')]), FOUNDER), undefined);
  t.end();
});

void test('whoever leaves needs nobody, and the history says that they left', (t) => {
  const before = given(t, account, opened, joined(BOB), joined(CAROL));
  before.when(remove(BOB, { by: BOB })).thenEvents(removed(BOB, { left: true }));
  before.when(remove(BOB, { by: CAROL })).thenRejected('forbidden', /Only an owner/);
  before.when(remove(BOB, { by: FOUNDER })).thenEvents(removed(BOB));
  before.when(remove(BOB, { unproven: true })).thenEvents(removed(BOB, { unproven: true }));
  before.when(remove(DAN)).thenRejected('not_found');
  before.when(remove(DAN, { by: DAN })).thenRejected('not_found');
  t.end();
});

void test('an owner’s invitations end when they are an owner no more', (t) => {
  const before = given(
    t,
    account,
    opened,
    joined(BOB, 'owner'),
    invited(5, { invitedBy: BOB }),
    invited(6, { invitedBy: FOUNDER }),
    invited(7),
    invited(8, { invitedBy: BOB }),
  );
  const ended = [revoked(personId(5)), revoked(personId(8))];
  before.when(remove(BOB)).thenEvents(removed(BOB), ...ended);
  before.when(change(BOB, { role: 'member' })).thenEvents(changed(BOB, 'member'), ...ended);
  before.when(change(BOB, { role: 'owner' })).thenNothing();
  given(t, account, opened, joined(BOB), invited(5, { invitedBy: BOB }))
    .when(change(BOB, { role: 'owner' }))
    .thenEvents(changed(BOB, 'owner'));
  t.end();
});

const epochs = (...events: readonly AccountEvent[]): Record<string, number> =>
  Object.fromEntries(
    Object.entries(fold(account, events).members).map(([id, { epoch }]) => [id, epoch]),
  );

void test('sessions end for one member or for all, and who joins again has none from before', (t) => {
  const before = [opened, joined(BOB), joined(CAROL)];
  const ended = (who?: string): AccountEvent => ({
    type: 'SessionsEnded',
    data: { accountId: ID, ...(who !== undefined && { personId: who }) },
  });
  t.strictSame(epochs(...before), { [FOUNDER]: 0, [BOB]: 1, [CAROL]: 2 });
  t.strictSame(epochs(...before, ended(BOB)), { [FOUNDER]: 0, [BOB]: 3, [CAROL]: 2 });
  t.strictSame(epochs(...before, ended()), { [FOUNDER]: 3, [BOB]: 3, [CAROL]: 3 });
  t.strictSame(epochs(...before, removed(BOB)), { [FOUNDER]: 0, [CAROL]: 2 });
  const again = fold(account, [...before, removed(BOB), joined(BOB)]);
  t.match(again.members[BOB], { since: 3, epoch: 3 });
  given(t, account, ...before)
    .when({ type: 'EndSessions', accountId: ID })
    .thenEvents(ended());
  given(t, account, ...before)
    .when({ type: 'EndSessions', ...at(BOB) })
    .thenEvents(ended(BOB));
  t.end();
});

void test('a founder who was judged by a former password, or who has left, sets no other', (t) => {
  const set = (epoch: number): AccountCommand => ({
    type: 'ChangePassword',
    accountId: ID,
    passwordHash: 'v1.q',
    epoch,
  });
  const event: AccountEvent = {
    type: 'PasswordChanged',
    data: { accountId: ID, passwordHash: 'v1.q' },
  };
  // That others join or leave does not end a session of the founder.
  given(t, account, opened, joined(BOB), removed(BOB)).when(set(0)).thenEvents(event);
  given(t, account, opened, event).when(set(1)).thenEvents(event);
  given(t, account, opened, event)
    .when(set(0))
    .thenRejected('unauthorized', /Sign in again/);
  const left = given(t, account, opened, joined(BOB, 'owner'), removed(FOUNDER));
  left.when(set(0)).thenRejected('unauthorized');
  left.when(set(1)).thenEvents(event);
  t.end();
});

void test('what an operator does for a member is in the account’s history, of members only', (t) => {
  const before = given(t, account, opened, joined(BOB));
  const reset = { type: 'RecordPasswordReset', ...at(BOB) } as const;
  before.when(reset).thenEvents({ type: 'MemberPasswordReset', data: at(BOB) });
  before
    .when({ ...reset, expiresAt: NOW })
    .thenEvents({ type: 'MemberPasswordReset', data: { ...at(BOB), expiresAt: NOW } });
  before.when({ ...reset, personId: CAROL }).thenNothing();
  const second = { type: 'RecordSecondFactorRemoval', ...at(BOB) } as const;
  before.when(second).thenEvents({ type: 'MemberSecondFactorRemoved', data: at(BOB) });
  before.when({ ...second, personId: CAROL }).thenNothing();
  t.end();
});

const requireSignIn = (require: 'none' | 'oidc') =>
  ({ type: 'ChangeSignInPolicy', accountId: ID, require }) as const;

const required = (require: 'none' | 'oidc'): AccountEvent => ({
  type: 'SignInPolicyChanged',
  data: { accountId: ID, require },
});

void test('how people sign in is recorded where it changes', (t) => {
  given(t, account, opened).when(requireSignIn('none')).thenNothing();
  given(t, account, opened).when(requireSignIn('oidc')).thenEvents(required('oidc'));
  given(t, account, opened, required('oidc')).when(requireSignIn('oidc')).thenNothing();
  given(t, account, opened, required('oidc'))
    .when(requireSignIn('none'))
    .thenEvents(required('none'));
  t.end();
});
