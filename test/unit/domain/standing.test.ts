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
