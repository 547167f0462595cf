import { setImmediate } from 'node:timers/promises';
import Sqlite, { type Database } from 'better-sqlite3';
import { type Test, test } from 'tap';
import { allProjections } from '../../../projections/all.ts';
import { apiKeys } from '../../../projections/api-keys.ts';
import { ledger } from '../../../projections/ledger.ts';
import { sessions } from '../../../projections/sessions.ts';
import { compareTable, isEqual } from '../../../src/read-model/comparison.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import type { Projection } from '../../../src/read-model/projection.ts';
import {
  compareWithLog,
  differs,
  listProjections,
  type Verification,
} from '../../../src/read-model/verification.ts';
import { history, request } from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openProjected, type Projected } from '../../support/projected.ts';
import { accountId, conversionId } from '../../support/samples.ts';

const CONVERSIONS = 60;

/** A read model that holds all of a log. */
async function filled(t: Test, projections?: readonly Projection[]): Promise<Projected> {
  const projected = openProjected(t, projections);
  const head = await write(projected.log, history(2, CONVERSIONS));
  await projected.runner.waitFor(head);
  return projected;
}

const verify = (
  { directory, log: { store } }: Projected,
  options: { readonly projections?: readonly Projection[]; readonly mustBeSame?: boolean } = {},
): Promise<Verification> => {
  const { projections = allProjections, mustBeSame = true } = options;
  return compareWithLog({ readModel: { directory, projections }, store, most: 10, mustBeSame });
};

/** As a fault of ours, or somebody else, would change the file. */
function damage({ directory }: Projected, ...statements: readonly string[]): void {
  const db = new Sqlite(generationPath(directory, currentGeneration(directory)));
  for (const statement of statements) db.exec(statement);
  db.close();
}

const differencesOf = ({ projections }: Verification) =>
  projections.flatMap(({ comparisons }) =>
    comparisons.flatMap(({ table, differing, first }) =>
      differing === 0 ? [] : [{ table, differing, first }],
    ),
  );

void test('a read model that was kept up with the log equals what the log gives', async (t) => {
  const projected = await filled(t);
  const { projections, events } = await verify(projected);
  t.strictSame(projections.filter(differs), []);
  t.equal(events, Number(await projected.log.store.head()));
  const tables = projections.flatMap(({ comparisons }) => comparisons);
  t.equal(tables.length, allProjections.flatMap((each) => each.tables).length);
  t.ok(tables.every(({ digest }) => digest.live === digest.rebuilt));
  t.equal(tables.find(({ table }) => table === 'conversions')?.rows.live, CONVERSIONS);
});

void test('each row that differs is named: changed, missing, and too many', async (t) => {
  const projected = await filled(t);
  damage(
    projected,
    `UPDATE conversions SET pages = 9, warnings = 'v1.x' WHERE id = '${conversionId(50)}'`,
    `DELETE FROM ledger_entries WHERE account_id = '${accountId(1)}' AND number = 2`,
    `INSERT INTO api_keys VALUES (7777, 'key_0', 'acct_0', 'person_0', 'sealed', 'pk_live_0000', '{}', 0, NULL, 0)`,
  );
  t.strictSame(differencesOf(await verify(projected)), [
    {
      table: 'api_keys',
      differing: 1,
      first: [{ key: { position: 7777n }, onlyIn: 'live' }],
    },
    {
      table: 'conversions',
      differing: 1,
      first: ['pages', 'warnings'].map((column) => ({
        key: { account_id: accountId(1), number: 25n },
        column,
        live: column === 'pages' ? 9n : 'v1.x',
        rebuilt: column === 'pages' ? 2n : null,
      })),
    },
    {
      table: 'ledger_entries',
      differing: 1,
      first: [{ key: { account_id: accountId(1), number: 2n }, onlyIn: 'rebuilt' }],
    },
  ]);
  damage(projected, 'UPDATE conversions SET created_at = created_at + 1');
  const [, counted] = differencesOf(await verify(projected));
  t.match(counted, { table: 'conversions', differing: CONVERSIONS });
  t.equal(counted?.first.length, 10, 'all are counted, the first are named');
});

void test('it may go on beside: what is compared is one moment', async (t) => {
  const projected = await filled(t);
  const { log, runner } = projected;
  runner.start();
  const writer = { on: true, last: 1000 };
  const traffic = (async () => {
    while (writer.on) {
      writer.last += 1;
      await runner.waitFor(await write(log, [request(writer.last, 1)]));
    }
  })();
  while (writer.last < 1006) {
    t.strictSame((await verify(projected)).projections.filter(differs), []);
    await setImmediate();
  }
  writer.on = false;
  await traffic;
});

void test('a projection that is still behind is compared where it is', async (t) => {
  const projected = openProjected(t);
  const { log, directory } = projected;
  await projected.runner.waitFor(await write(log, history(1, 10)));
  damage(
    projected,
    'DELETE FROM ledger_entries; DELETE FROM ledger_balances',
    "UPDATE checkpoints SET position = 0 WHERE projection = 'ledger'",
  );
  const { projections } = await verify(projected);
  t.strictSame(projections.filter(differs), []);
  t.equal(projections[0]?.name, 'ledger');
  const listed = await listProjections({
    readModel: { directory, projections: allProjections },
    store: log.store,
  });
  const lags = Object.fromEntries(listed.map(({ name, lag }) => [name, lag]));
  t.match(lags, { ledger: Number(await log.store.head()), conversions: 0 });
});

/** The projection of another release: a column more, one less, and another meaning of a third. */
const other: Projection = {
  ...apiKeys,
  version: 7,
  ddl: apiKeys.ddl.replace('prefix TEXT NOT NULL', 'start TEXT'),
  handlers(db: Database) {
    const insert = db.prepare(
      `INSERT INTO api_keys (position, id, account_id, created_by, name, start, rights, created_at)
       VALUES (?, ?, ?, ?, 'none', 'pk', '{}', 0)`,
    );
    return {
      KeyCreated: (event) => {
        const { keyId: id, accountId: of = '' } = event.data as Record<string, string>;
        insert.run(event.position, id, of, of.replace('acct_', 'person_'));
      },
    };
  },
};
const added: Projection = { ...sessions, name: 'added' };

void test('projections of another release are compared without being put into use', async (t) => {
  const projected = await filled(t);
  const before = await verify(projected);
  const projections = allProjections
    .map((each) => (each === apiKeys ? other : each))
    .filter((each) => each !== ledger && each !== sessions)
    .concat(added);
  await t.rejects(
    verify(projected, { projections }),
    /added, api-keys; .*'pressledger projections diff'/,
  );

  const diff = await verify(projected, { projections, mustBeSame: false });
  const told = Object.fromEntries(diff.projections.map((each) => [each.name, each]));
  t.match(told['added'], { definition: 'added', comparisons: [] });
  t.match(told['ledger'], { definition: 'removed', liveVersion: ledger.version });
  t.match(told['sessions'], { definition: 'removed' });
  t.strictSame(
    diff.projections
      .filter(differs)
      .map(({ name }) => name)
      .toSorted(),
    ['added', 'api-keys', 'ledger', 'sessions'],
  );
  const [keys] = told['api-keys']?.comparisons ?? [];
  t.match(told['api-keys'], { definition: 'changed', version: 7, liveVersion: apiKeys.version });
  t.strictSame(keys?.onlyIn, { live: ['prefix'], rebuilt: ['start'] });
  t.equal(keys?.differing, 2);
  t.match(keys?.first[0], {
    key: { position: 3n },
    column: 'name',
    live: 'sealed 1',
    rebuilt: 'none',
  });

  const listed = await listProjections({
    readModel: { directory: projected.directory, projections },
    store: projected.log.store,
  });
  t.match(
    listed.find(({ name }) => name === 'api-keys'),
    {
      definition: 'changed',
      version: 7,
      liveVersion: apiKeys.version,
      rows: { api_keys: 2 },
      lag: 0,
    },
  );
  t.match(
    listed.find(({ name }) => name === 'ledger'),
    { definition: 'removed', version: undefined },
  );
  t.strictSame((await verify(projected)).projections, before.projections, 'as it was');
  t.equal(currentGeneration(projected.directory), 1);
});

void test('one of another log, a damaged one and none are told apart', async (t) => {
  const projected = await filled(t);
  damage(projected, "UPDATE last_event SET id = 'other'");
  await t.rejects(verify(projected), /^The log lacks revision 1 of /);
  damage(projected, 'PRAGMA user_version = 1');
  await t.rejects(verify(projected), /keeps it in another form/);
  const empty = { ...projected, directory: `${projected.directory}-2` };
  await t.rejects(
    verify(empty),
    /There is no read model in .*-2; a start of the service makes one/,
  );
});

void test('rows are paired in the order in which SQLite keeps them', (t) => {
  const [live, rebuilt] = [new Sqlite(':memory:'), new Sqlite(':memory:')];
  t.teardown(() => {
    live.close();
    rebuilt.close();
  });
  // In UTF-16, as JavaScript sorts, the sail boat comes before U+FFFD; in UTF-8 behind.
  const keys = ['', 'a', 'a\0b', 'ä', '\ufffd', '\u26f5', '\u{1f6f6}', '\u{1f6f6}x'];
  for (const db of [live, rebuilt]) {
    db.exec('CREATE TABLE t (a TEXT, n INTEGER, b BLOB, PRIMARY KEY (a, n)) STRICT, WITHOUT ROWID');
    const insert = db.prepare('INSERT INTO t VALUES (?, ?, ?)');
    for (const key of db === live ? keys : keys.toReversed()) {
      for (const n of [-1n, 2n, 10n, 2n ** 60n]) insert.run(key, n, Buffer.from([Number(n % 7n)]));
    }
  }
  t.ok(isEqual(compareTable('t', live, rebuilt, 10)));
  live.prepare('DELETE FROM t WHERE a = ? AND n = 10').run('\ufffd');
  rebuilt.prepare('DELETE FROM t WHERE a = ? AND n = 2').run('\u{1f6f6}');
  live.prepare("UPDATE t SET n = n + 1 WHERE n > 100 AND a = ''").run();
  live.prepare("UPDATE t SET b = x'07' WHERE n = -1 AND a = 'a'").run();
  t.strictSame(compareTable('t', live, rebuilt, 10).first, [
    { key: { a: '', n: 2n ** 60n }, onlyIn: 'rebuilt' },
    { key: { a: '', n: 2n ** 60n + 1n }, onlyIn: 'live' },
    { key: { a: 'a', n: -1n }, column: 'b', live: Buffer.from([7]), rebuilt: Buffer.from([-1]) },
    { key: { a: '\ufffd', n: 10n }, onlyIn: 'rebuilt' },
    { key: { a: '\u{1f6f6}', n: 2n }, onlyIn: 'live' },
  ]);
  live.exec('DROP TABLE t; CREATE TABLE t (a TEXT PRIMARY KEY) STRICT, WITHOUT ROWID');
  t.match(compareTable('t', live, rebuilt, 10).key, { live: ['a'], rebuilt: ['a', 'n'] });
  t.notOk(isEqual(compareTable('t', live, rebuilt, 10)), 'another primary key');
  t.notOk(isEqual(compareTable('none', live, rebuilt, 10)), 'no such table');
  t.end();
});
