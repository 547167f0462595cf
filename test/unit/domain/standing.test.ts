import { test } from 'tap';
import { type AccountCommand, type AccountEvent, account } from '../../../src/domain/account.ts';
import {
  isResetOffered,
  LOOK_RECORDED_MS,
  offerReset,
  offeredReset,
  ordinary,
  RESET_LIFETIME_MS,
} from '../../../src/domain/standing.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, NOW, sha256 } from '../../support/samples.ts';

const owner = { accountId: accountId() };
const opened: AccountEvent = {
  type: 'AccountOpened',
  data: { ...owner, email: 'v1.e', passwordHash: 'v1.p', plan: 'free' },
};

void test('what an operator sets already is not recorded again', (t) => {
  const toPro: AccountCommand = { type: 'ChangePlan', ...owner, plan: 'pro' };
  const pro: AccountEvent = { type: 'PlanChanged', data: { ...owner, plan: 'pro' } };
  given(t, account, opened).when(toPro).thenEvents(pro);
  given(t, account, opened, pro).when(toPro).thenNothing();
  const below: AccountEvent = { type: 'LowCreditsChanged', data: { ...owner, below: 5 } };
  const usual: AccountEvent = { type: 'LowCreditsChanged', data: owner };
  given(t, account, opened)
    .when({ type: 'ChangeLowCredits', ...owner, below: 5 })
    .thenEvents(below);
  given(t, account, opened, below)
    .when({ type: 'ChangeLowCredits', ...owner, below: 5 })
    .thenNothing();
  given(t, account, opened, below)
    .when({ type: 'ChangeLowCredits', ...owner })
    .thenEvents(usual);
  given(t, account, opened)
    .when({ type: 'ChangeLowCredits', ...owner })
    .thenNothing();
  t.end();
});

const looked = (inspectedAt: number, by?: string): AccountEvent => ({
  type: 'AccountInspected',
  data: { ...owner, ...(by !== undefined && { by }), inspectedAt },
});
const look = (now: number, by?: string): AccountCommand => ({
  type: 'RecordLook',
  ...owner,
  now,
  ...(by !== undefined && { by }),
});

void test('a look of an operator is recorded once an hour for each of them', (t) => {
  const [ann, ben] = [accountId(2), accountId(3)];
  given(t, account, opened).when(look(NOW, ann)).thenEvents(looked(NOW, ann));
  const before = given(t, account, opened, looked(NOW, ann));
  before.when(look(NOW + LOOK_RECORDED_MS - 1, ann)).thenNothing();
  before.when(look(NOW + LOOK_RECORDED_MS, ann)).thenEvents(looked(NOW + LOOK_RECORDED_MS, ann));
  before.when(look(NOW, ben)).thenEvents(looked(NOW, ben));
  before.when(look(NOW)).thenEvents(looked(NOW));
  given(t, account, opened, looked(NOW)).when(look(NOW)).thenNothing();
  t.end();
});

void test('a link that sets a password is valid for a day, or until the time in its mail', (t) => {
  t.strictSame(offerReset({ tokenHash: sha256(1), now: NOW }), {
    tokenHash: sha256(1),
    expiresAt: NOW + RESET_LIFETIME_MS,
  });
  t.equal(RESET_LIFETIME_MS, 24 * 60 * 60 * 1000);
  const mailed = offerReset({ tokenHash: sha256(2), now: NOW, mailedUntil: NOW + 5 });
  t.strictSame(mailed, { tokenHash: sha256(2), expiresAt: NOW + 5, byMail: true });
  const state = { ...ordinary, ...offeredReset(mailed) };
  t.ok(isResetOffered(state, sha256(2), NOW + 4));
  t.notOk(isResetOffered(state, sha256(2), NOW + 5));
  t.notOk(isResetOffered(state, sha256(1), NOW));
  t.notOk(isResetOffered(ordinary, sha256(1), NOW));
  t.end();
});

void test('a mailed link and one of an operator do not end each other', (t) => {
  const operators = { tokenHash: sha256(1), expiresAt: NOW + 9 };
  const mailed = { tokenHash: sha256(2), expiresAt: NOW + 9, byMail: true as const };
  const both = { ...ordinary, ...offeredReset(operators), ...offeredReset(mailed) };
  t.ok(isResetOffered(both, sha256(1), NOW));
  t.ok(isResetOffered(both, sha256(2), NOW));
  const next = { ...both, ...offeredReset({ tokenHash: sha256(3), expiresAt: NOW + 9 }) };
  t.notOk(isResetOffered(next, sha256(1), NOW), 'one of a kind takes the place of the one before');
  t.ok(isResetOffered(next, sha256(2), NOW));
  t.end();
});

void test('a suspended account is resumed, and only that', (t) => {
  const suspended: AccountEvent = {
    type: 'AccountSuspended',
    data: { ...owner, reason: 'v1.r', suspendedAt: NOW },
  };
  given(t, account, opened)
    .when({ type: 'ResumeAccount', ...owner, now: NOW })
    .thenRejected('not_found', /not suspended/);
  t.strictSame(fold(account, [opened, suspended]).suspension, { reason: 'v1.r', suspendedAt: NOW });
  t.end();
});

const erasedAt: AccountCommand = { type: 'EraseAccount', ...owner, now: NOW };
const placed = (until?: number): AccountEvent => ({
  type: 'HoldPlaced',
  data: { ...owner, ...(until !== undefined && { until }), placedAt: NOW },
});

void test('what an operator decides is stored as decided', (t) => {
  const cases: readonly (readonly [AccountEvent, object])[] = [
    [{ type: 'PlanChanged', data: { ...owner, plan: 'pro' } }, { plan: 'pro' }],
    [
      { type: 'RetentionChanged', data: { ...owner, retentionSeconds: 60 } },
      { retentionSeconds: 60 },
    ],
    [{ type: 'LowCreditsChanged', data: { ...owner, below: 0 } }, { lowCredits: 0 }],
    [{ type: 'OperatorGranted', data: owner }, { isOperator: true }],
    [placed(), { hold: { placedAt: NOW } }],
    [placed(NOW + 5), { hold: { placedAt: NOW, until: NOW + 5 } }],
  ];
  for (const [event, expected] of cases)
    t.strictSame(fold(account, [opened, event]), { ...fold(account, [opened]), ...expected });
  const operator: AccountEvent = { type: 'OperatorGranted', data: owner };
  t.notOk(fold(account, [opened, operator, { type: 'OperatorRevoked', data: owner }]).isOperator);
  t.equal(fold(account, [opened, placed(), { type: 'HoldReleased', data: owner }]).hold, undefined);
  t.end();
});

const setRetention = (retentionSeconds?: number): AccountCommand => ({
  type: 'ChangeRetention',
  ...owner,
  ...(retentionSeconds !== undefined && { retentionSeconds }),
});

const retention = (retentionSeconds?: number): AccountEvent => ({
  type: 'RetentionChanged',
  data: { ...owner, ...(retentionSeconds !== undefined && { retentionSeconds }) },
});

void test('an account has a retention of its own until it has that of the service again', (t) => {
  given(t, account, opened).when(setRetention()).thenNothing();
  given(t, account, opened).when(setRetention(0)).thenEvents(retention(0));
  given(t, account, opened, retention(0)).when(setRetention(0)).thenNothing();
  given(t, account, opened, retention(0)).when(setRetention(60)).thenEvents(retention(60));
  given(t, account, opened, retention(0)).when(setRetention()).thenEvents(retention());
  given(t, account, opened, retention(0), retention()).when(setRetention()).thenNothing();
  t.end();
});

void test('an account is made an operator, and is one no longer, once', (t) => {
  const granted: AccountEvent = { type: 'OperatorGranted', data: owner };
  const revoked: AccountEvent = { type: 'OperatorRevoked', data: owner };
  const [grant, revoke] = [
    { type: 'GrantOperator', ...owner },
    { type: 'RevokeOperator', ...owner },
  ] as const;
  given(t, account, opened).when(grant).thenEvents(granted);
  given(t, account, opened, granted).when(grant).thenNothing();
  given(t, account, opened, granted).when(revoke).thenEvents(revoked);
  given(t, account, opened, granted, revoked).when(revoke).thenNothing();
  given(t, account, opened).when(revoke).thenNothing();
  t.end();
});

void test('a second suspension tells its own reason, and both end at once', (t) => {
  const suspended = (reason: string): AccountEvent => ({
    type: 'AccountSuspended',
    data: { ...owner, reason, suspendedAt: NOW },
  });
  const resumed: AccountEvent = { type: 'AccountResumed', data: { ...owner, resumedAt: NOW } };
  given(t, account, opened, suspended('v1.r'))
    .when({ type: 'SuspendAccount', ...owner, reason: 'v1.s', now: NOW })
    .thenEvents(suspended('v1.s'));
  const twice = [opened, suspended('v1.r'), suspended('v1.s')];
  t.equal(fold(account, twice).suspension?.reason, 'v1.s');
  const resume = { type: 'ResumeAccount', ...owner, now: NOW } as const;
  given(t, account, ...twice)
    .when(resume)
    .thenEvents(resumed);
  given(t, account, ...twice, resumed)
    .when(resume)
    .thenRejected('not_found');
  t.end();
});

const lookAt = (what?: 'export' | 'account', now = NOW): AccountCommand => ({
  type: 'RecordLook',
  ...owner,
  ...(what && { what }),
  now,
});

const lookedAt = (what?: 'export' | 'account'): AccountEvent => ({
  type: 'AccountInspected',
  data: { ...owner, ...(what && { what }), inspectedAt: NOW },
});

void test('every export is recorded, and other looks once an hour for each thing', (t) => {
  given(t, account, opened, lookedAt('export'))
    .when(lookAt('export'))
    .thenEvents(lookedAt('export'));
  given(t, account, opened, lookedAt('account')).when(lookAt('account')).thenNothing();
  given(t, account, opened, lookedAt()).when(lookAt('account')).thenEvents(lookedAt('account'));
  given(t, account, opened, lookedAt('account')).when(lookAt()).thenEvents(lookedAt());
  given(t, account, opened, lookedAt('export'))
    .when(lookAt('account'))
    .thenEvents(lookedAt('account'));
  t.equal(LOOK_RECORDED_MS, 60 * 60 * 1000);
  t.end();
});

void test('a founder sets a password with the link that is open, once', (t) => {
  const reset: AccountCommand = {
    type: 'ResetPassword',
    ...owner,
    tokenHash: sha256(1),
    passwordHash: 'v1.q',
    now: NOW,
  };
  const offered = (n: number): AccountEvent => ({
    type: 'PasswordResetOffered',
    data: { ...owner, tokenHash: sha256(n), expiresAt: NOW + 1 },
  });
  const changed: AccountEvent = {
    type: 'PasswordChanged',
    data: { ...owner, passwordHash: 'v1.q', byLink: true },
  };
  given(t, account, opened)
    .when({
      type: 'OfferPasswordReset',
      ...owner,
      tokenHash: sha256(1),
      now: NOW,
      mailedUntil: NOW + 1,
    })
    .thenEvents({
      type: 'PasswordResetOffered',
      data: { ...owner, tokenHash: sha256(1), expiresAt: NOW + 1, byMail: true },
    });
  given(t, account, opened, offered(1)).when(reset).thenEvents(changed);
  for (const events of [[], [offered(2)], [offered(1), changed], [offered(1), offered(2)]])
    given(t, account, opened, ...events)
      .when(reset)
      .thenRejected('gone', /Ask for another/);
  given(t, account, opened, offered(1))
    .when({ ...reset, now: NOW + 1 })
    .thenRejected('gone');
  t.end();
});

void test('a session of a former password changes nothing, and an operator needs none', (t) => {
  const set = (epoch?: number): AccountCommand => ({
    type: 'ChangePassword',
    ...owner,
    passwordHash: 'v1.q',
    ...(epoch !== undefined && { epoch }),
  });
  const changed: AccountEvent = {
    type: 'PasswordChanged',
    data: { ...owner, passwordHash: 'v1.q' },
  };
  given(t, account, opened, changed).when(set()).thenEvents(changed);
  given(t, account, opened, changed).when(set(1)).thenEvents(changed);
  for (const epoch of [0, 2])
    given(t, account, opened, changed)
      .when(set(epoch))
      .thenRejected('unauthorized', /Sign in again/);
  t.end();
});

void test('an account under a hold is not erased', (t) => {
  const erased: AccountEvent = { type: 'AccountErased', data: owner };
  given(t, account, opened).when(erasedAt).thenEvents(erased);
  given(t, account, opened, placed())
    .when(erasedAt)
    .thenRejected('forbidden', /under a hold.*has no end/);
  given(t, account, opened, placed(NOW + 1))
    .when(erasedAt)
    .thenRejected('forbidden', /ends 2026/);
  given(t, account, opened, placed(NOW)).when(erasedAt).thenEvents(erased);
  t.end();
});
