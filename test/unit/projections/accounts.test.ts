import { test } from 'tap';
import { accountQueries } from '../../../projections/accounts.ts';
import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { ledgerQueries } from '../../../projections/ledger.ts';
import { failure, keyMaking, opening, refund, request } from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openProjected } from '../../support/projected.ts';
import { accountId, conversionId, keyId, personId, NOW } from '../../support/samples.ts';

const accountRow = (n: number, plan: string, credits: number, createdAt: number) => ({
  id: accountId(n),
  email: `sealed ${n}`,
  plan,
  publicName: null,
  credits,
  createdAt,
  isOperator: false,
  isSuspended: false,
  mustChangePassword: false,
});

void test('accounts: plan, balance, order of opening', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const accounts = () => readModel.query(accountQueries);
  t.equal(accounts().first(), undefined);
  await write(log, [opening(2, 100), opening(1, 5), request(1, 1), request(2, 1)]);
  await write(log, [failure(1, 1), refund(1, 1)]);
  await runner.waitFor(
    await log.append(`account-${accountId(2)}`, {
      type: 'PlanChanged',
      data: { accountId: accountId(2), plan: 'free' },
    }),
  );
  const [second, first] = [
    accountRow(2, 'free', 100, NOW + 1000),
    accountRow(1, 'pro', 4, NOW + 3000),
  ];
  t.strictSame(accounts().byId(accountId(1)), first);
  t.strictSame(accounts().all({ offset: 0, limit: 10 }), [second, first]);
  t.strictSame(accounts().all({ offset: 1, limit: 10 }), [first]);
  t.strictSame(accounts().first(), second);
  await runner.waitFor(
    await log.append(`account-${accountId(2)}`, {
      type: 'AccountErased',
      data: { accountId: accountId(2) },
    }),
  );
  t.equal(accounts().byId(accountId(2)), undefined);
  t.strictSame(accounts().first(), first);
});

void test('accounts: a suspension, and the operators', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, [opening(1, 5), opening(2, 5), opening(3, 5)]);
  const operators = () => readModel.query(accountQueries).operators().length;
  const append = async (n: number, type: 'OperatorGranted' | 'AccountResumed' | 'suspend') => {
    const owner = { accountId: accountId(n) };
    await runner.waitFor(
      await log.append(
        `account-${accountId(n)}`,
        type === 'suspend'
          ? { type: 'AccountSuspended', data: { ...owner, reason: 'v1.r', suspendedAt: NOW } }
          : type === 'AccountResumed'
            ? { type, data: { ...owner, resumedAt: NOW } }
            : { type, data: owner },
      ),
    );
  };
  await append(1, 'OperatorGranted');
  t.equal(operators(), 1);
  await append(2, 'OperatorGranted');
  await append(3, 'OperatorGranted');
  await append(2, 'suspend');
  t.equal(operators(), 3);
  t.equal(readModel.query(accountQueries).byId(accountId(2))?.isSuspended, true);
  await append(2, 'AccountResumed');
  t.equal(readModel.query(accountQueries).byId(accountId(2))?.isSuspended, false);
});

void test('accounts: the public name, sealed, until it is removed', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, [opening(1, 5)]);
  const publicName = () => readModel.query(accountQueries).byId(accountId(1))?.publicName;
  for (const name of ['sealed', 'sealed too', undefined]) {
    const data = { accountId: accountId(1), ...(name !== undefined && { name }) };
    await runner.waitFor(
      await log.append(`account-${accountId(1)}`, { type: 'PublicNameChanged', data }),
    );
    t.equal(publicName(), name ?? null);
  }
});

void test('accounts: who is an operator', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, [opening(1, 5)]);
  const isOperator = () => readModel.query(accountQueries).byId(accountId(1))?.isOperator;
  const add = async (type: 'OperatorGranted' | 'OperatorRevoked') => {
    const event = { type, data: { accountId: accountId(1) } } as const;
    await runner.waitFor(await log.append(`account-${accountId(1)}`, event));
  };
  await add('OperatorGranted');
  t.equal(isOperator(), true);
  await add('OperatorRevoked');
  t.equal(isOperator(), false);
});

void test('accounts: who has the password that the first start printed', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const id = accountId(1);
  const data = { accountId: id, email: 'sealed', passwordHash: 'sealed', plan: 'pro' } as const;
  const add = async (event: Parameters<typeof log.append>[1]) => {
    await runner.waitFor(await log.append(`account-${id}`, event));
    return readModel.query(accountQueries).byId(id)?.mustChangePassword;
  };
  const opened = { type: 'AccountOpened', data: { ...data, mustChangePassword: true } } as const;
  t.equal(await add(opened), true);
  t.equal(await add({ type: 'OperatorGranted', data: { accountId: id } }), true);
  const changed = {
    type: 'PasswordChanged',
    data: { accountId: id, passwordHash: 'other' },
  } as const;
  t.equal(await add(changed), false);
});

void test('ledger: signed amounts, the balance after each, newest first', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  await write(log, [opening(1, 5), opening(2, 50), request(1, 1), request(9, 2), failure(1, 1)]);
  await runner.waitFor(await write(log, [refund(1, 1)]));
  const { rows, total } = readModel
    .query(ledgerQueries)
    .page(accountId(1), { offset: 0, limit: 10 });
  t.equal(total, 3);
  t.strictSame(
    rows.map(({ type, amount, balance, conversionId: of }) => [type, amount, balance, of]),
    [
      ['refund', 1, 5, conversionId(1)],
      ['debit', -1, 4, conversionId(1)],
      ['grant', 5, 5, undefined],
    ],
  );
  t.notOk('conversionId' in (rows[2] ?? { conversionId: '' }));
  t.equal(new Set(rows.map((row) => row.id)).size, 3);
  for (const { id } of rows) t.match(id, /^entry_[0-9a-f]{32}$/);
  t.strictSame(
    rows.map((row) => row.createdAt),
    [NOW + 10_000, NOW + 5000, NOW + 2000],
  );
  const page = readModel.query(ledgerQueries).page(accountId(1), { offset: 1, limit: 1 });
  t.strictSame(page, { rows: rows.slice(1, 2), total: 3 });
});

void test('API keys: those in force, newest first, with their last use', async (t) => {
  const { log, readModel, runner } = openProjected(t);
  const keys = () => readModel.query(apiKeyQueries);
  const listed = () =>
    keys()
      .page(accountId(1), { offset: 0, limit: 10 })
      .rows.map((row) => row.id);
  await write(log, [keyMaking(1, 1), keyMaking(2, 1), keyMaking(3, 2)]);
  await runner.waitFor(await write(log, [keyMaking(4, 1)]));
  t.strictSame(listed(), [keyId(4), keyId(2), keyId(1)]);
  t.strictSame(keys().page(accountId(1), { offset: 1, limit: 1 }).total, 3);
  const row = {
    id: keyId(2),
    accountId: accountId(1),
    createdBy: personId(1),
    name: 'sealed 2',
    prefix: 'pk_live_abcd',
    rights: {},
    createdAt: NOW + 2,
    revoked: false,
  };
  t.strictSame(keys().byId(keyId(2)), row);
  const data = { accountId: accountId(1), keyId: keyId(2) };
  const stream = `apikey-${keyId(2)}`;
  await runner.waitFor(
    await log.append(stream, { type: 'KeyUsed', data: { ...data, usedAt: NOW + 77 } }),
  );
  t.strictSame(keys().byId(keyId(2)), { ...row, lastUsedAt: NOW + 77 });
  await runner.waitFor(await log.append(stream, { type: 'KeyRevoked', data }));
  t.strictSame(listed(), [keyId(4), keyId(1)]);
  t.equal(keys().byId(keyId(2))?.revoked, true);
});
