/** `projections list`, `verify` and `diff` on a store, as an operator types them. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { createPlace, type Place } from '../support/place.ts';
import { startService } from '../support/service.ts';

const ANN = 'ann@example.com';

function change({ dataDir }: Place, statement: string): void {
  const db = new Sqlite(join(dataDir, 'read-model', 'g1.db'));
  db.exec(statement);
  db.close();
}

void test('beside a running service: what is in use is listed and verified', async (t) => {
  const service = await startService(t);
  const { place } = service;
  const { id } = (await cliJson(place, ['account', 'create', ANN])) as { id: string };
  const listed = (await cliJson(place, ['projections', 'list'])) as { name: string }[];
  t.match(
    listed.find(({ name }) => name === 'accounts'),
    { definition: 'same', version: 7, live_version: 7, tables: { accounts: 2 }, lag: 0 },
  );
  for (const command of ['verify', 'diff']) {
    const verified = await cliJson(place, ['projections', command]);
    t.match(verified, { ok: true, events: Number });
    const { tables } = verified as { tables: { table: string }[] };
    t.match(
      tables.find(({ table }) => table === 'accounts'),
      { rows: 2, digest: /^[0-9a-f]{64}$/ },
    );
  }
  const told = await runCli(place, ['projections', 'verify']);
  t.match(told, { code: 0, stdout: /^\d+ tables with \d+ rows compared: no difference\.\n$/ });
  t.match(told.stderr, /^[\d,]+ of [\d,]+ events \(100 %\), \d+ a second$/m);

  change(
    place,
    `UPDATE accounts SET credits = credits + 7, email = 'v1.${'x'.repeat(80)}' WHERE id = '${id}'`,
  );
  const found = await runCli(place, ['projections', 'verify', '--json']);
  t.equal(found.code, 1);
  const at = { projection: 'accounts', table: 'accounts', key: { position: /^\d+$/ } };
  const credits = { at: { ...at, column: 'credits' }, expected: '100', found: '107' };
  const expected = /^person_\S{9}… \(\d+ characters, SHA-256 [0-9a-f]{8}…\)$/;
  const changed = /^v1\.x{13}… \(\d+ characters, SHA-256 [0-9a-f]{8}…\)$/;
  const email = { at: { ...at, column: 'email' }, expected, found: changed };
  t.match(JSON.parse(found.stdout), {
    ok: false,
    ...email,
    differing_rows: 1,
    differences: [email, credits],
  });
  t.match(found.stderr, /not what this release makes of the log: accounts \(1 row\)\.$/m);
  const line = await runCli(place, ['projections', 'verify', '--limit', '1']);
  t.equal(line.code, 1);
  t.match(line.stdout, /^accounts\taccounts\t\d+\temail\tv1\.x{13}….*\tperson_.*\n$/, 'one line');

  await cliJson(place, ['projections', 'rebuild']);
  t.match(await cliJson(place, ['projections', 'verify']), { ok: true }, 'rebuilt');
  const [account] = (await cliJson(place, ['account', 'list'])) as object[];
  t.ok(account, 'the service goes on');
});

void test('of another release: diff tells what it would change, and changes nothing', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', ANN]);
  change(
    place,
    "UPDATE checkpoints SET definition = '0' || char(10) WHERE projection = 'accounts'",
  );
  change(place, 'ALTER TABLE accounts ADD COLUMN nickname TEXT');
  change(place, "DELETE FROM checkpoints WHERE projection = 'sessions'");
  await refuses(
    t,
    place,
    ['projections', 'verify'],
    1,
    /definition of .*'pressledger projections diff'/,
  );
  const diff = await runCli(place, ['projections', 'diff', '--json']);
  t.equal(diff.code, 1);
  const { differences } = JSON.parse(diff.stdout) as { differences: object[] };
  t.strictSame(differences, [
    { at: { projection: 'sessions' }, expected: 'projection', found: null },
    {
      at: { projection: 'accounts', table: 'accounts', column: 'nickname' },
      expected: null,
      found: 'column',
    },
  ]);
  const listed = (await cliJson(place, ['projections', 'list'])) as object[];
  t.match(listed[0], { name: 'sessions', definition: 'added', live_version: null, position: '0' });
  t.ok(
    listed.some((each) => 'live_version' in each && each.live_version === 0),
    'as it was made',
  );
});
