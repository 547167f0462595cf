import { test } from 'tap';
import { sessionQueries } from '../../../projections/sessions.ts';
import type { DomainEvent } from '../../../src/domain/events.ts';
import { openProjected } from '../../support/projected.ts';
import { accountId, DAY_MS, NOW, sessionId, sha256 } from '../../support/samples.ts';

const opened = (n: number, account: number, client: number): DomainEvent => ({
  type: 'SessionOpened',
  data: {
    accountId: accountId(account),
    sessionId: sessionId(n),
    expiresAt: NOW + DAY_MS,
    epoch: 0,
    client: sha256(client),
  },
});

void test('sessions: open ones, newest first', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const open = (account: number, now = NOW) =>
    readModel.query(sessionQueries).open({ accountId: accountId(account) }, now);
  const append = async (stream: string, event: DomainEvent) =>
    await runner.waitFor(await log.append(stream, event));
  for (const n of [1, 2, 3]) await append(`session-${sessionId(n)}`, opened(n, 1, 1));
  await append(`session-${sessionId(4)}`, opened(4, 2, 2));
  t.strictSame(open(1), [sessionId(3), sessionId(2), sessionId(1)]);
  const ids = { accountId: accountId(1), sessionId: sessionId(2) };
  await append(`session-${sessionId(2)}`, { type: 'SessionRevoked', data: ids });
  t.strictSame(open(1), [sessionId(3), sessionId(1)]);
  t.strictSame(open(1, NOW + DAY_MS), [], 'each for its time');
  await append(`account-${accountId(1)}`, {
    type: 'SessionsEnded',
    data: { accountId: accountId(1) },
  });
  t.strictSame(open(1), []);
  t.strictSame(open(2), [sessionId(4)], 'of another account');
  await append(`account-${accountId(2)}`, {
    type: 'PasswordChanged',
    data: { accountId: accountId(2), passwordHash: 'v1.x' },
  });
  t.strictSame(open(2), []);
});

void test('sessions: pages say who opened each; what an old event lacks is null', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const old: DomainEvent = {
    type: 'SessionOpened',
    data: { accountId: accountId(1), sessionId: sessionId(1), expiresAt: NOW + DAY_MS },
  };
  await log.append(`session-${sessionId(1)}`, old);
  const { data } = opened(2, 1, 1);
  const dashboard = { ...data, kind: 'dashboard', userAgent: 'v1.u' } as typeof old.data;
  await runner.waitFor(
    await log.append(`session-${sessionId(2)}`, { type: 'SessionOpened', data: dashboard }),
  );
  const confirmed = { accountId: accountId(1), sessionId: sessionId(2), methods: ['otp' as const] };
  await runner.waitFor(
    await log.append(`session-${sessionId(2)}`, { type: 'SessionConfirmed', data: confirmed }),
  );
  const page = (offset: number) =>
    readModel.query(sessionQueries).page({ accountId: accountId(1) }, NOW, { offset, limit: 1 });
  t.match(page(0), {
    rows: [
      {
        id: sessionId(2),
        kind: 'dashboard',
        methods: ['password', 'otp'],
        userAgent: 'v1.u',
        expiresAt: NOW + DAY_MS,
      },
    ],
    total: 2,
  });
  t.match(page(1), {
    rows: [
      { id: sessionId(1), kind: 'api', methods: ['password'], userAgent: null, address: null },
    ],
    total: 2,
  });
  t.strictSame(page(2).rows, []);
  const ended = readModel.query(sessionQueries).page({ accountId: accountId(1) }, NOW + DAY_MS, {
    offset: 0,
    limit: 1,
  });
  t.strictSame(ended, { rows: [], total: 0 });
});

void test('sessions: the last ten clients of an account, until it is erased', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const isKnown = (client: number) =>
    readModel.query(sessionQueries).lastSignIn(sha256(client)) !== undefined;
  for (let n = 1; n <= 10; n += 1) await log.append(`session-${sessionId(n)}`, opened(n, 1, n));
  await log.append(`session-${sessionId(11)}`, opened(11, 1, 1));
  await log.append(`session-${sessionId(12)}`, opened(12, 2, 100));
  await runner.waitFor(await log.append(`session-${sessionId(13)}`, opened(13, 1, 11)));
  t.equal(isKnown(1), true, 'used again');
  t.equal(isKnown(2), false, 'the one not used for longest');
  t.equal(isKnown(3), true);
  t.equal(isKnown(11), true);
  await runner.waitFor(
    await log.append(`account-${accountId(1)}`, {
      type: 'AccountErased',
      data: { accountId: accountId(1) },
    }),
  );
  t.equal(isKnown(11), false);
  t.equal(isKnown(100), true, 'of another account');
});

void test('sessions: a changed address ends them, and its clients are not those of whoever gets it next', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const lastSignIn = (client: number) => readModel.query(sessionQueries).lastSignIn(sha256(client));
  await log.append(`session-${sessionId(1)}`, opened(1, 1, 1));
  await runner.waitFor(await log.append(`session-${sessionId(2)}`, opened(2, 2, 2)));
  t.not(lastSignIn(1), undefined, 'the control');
  const data = {
    accountId: accountId(1),
    email: 'v1.n',
    addressHash: sha256(4),
    formerEmail: 'v1.e',
  };
  await runner.waitFor(await log.append(`account-${accountId(1)}`, { type: 'EmailChanged', data }));
  const open = (n: number) =>
    readModel.query(sessionQueries).open({ accountId: accountId(n) }, NOW).length;
  t.strictSame([open(1), open(2)], [0, 1]);
  t.equal(lastSignIn(1), undefined);
  t.not(lastSignIn(2), undefined, 'of another account');
});
