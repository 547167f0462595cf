import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { createService } from '../support/service.ts';

/** As a fault of ours would write it: of a type that projections know, with data that they cannot take. */
function writeUnusableEvent(dataDir: string): void {
  const db = new Sqlite(join(dataDir, 'pressledger.db'));
  db.prepare(
    `INSERT INTO events SELECT max(position) + 1, 'account-none', 0, 'unusable', 'CreditGranted',
       '{"accountId":"acct_none","amount":"many"}', (SELECT metadata FROM events LIMIT 1) FROM events`,
  ).run();
  db.close();
}

const LINE = /^pressledger: Projection \S+ failed on CreditGranted at position \d+: [^\n]+$/m;

void test('a service whose read models cannot go on ends, and says why', async (t) => {
  const service = createService(t);
  await service.start();
  writeUnusableEvent(service.place.dataDir);
  t.match(await service.end(), { code: 1, signal: null });
  t.match(service.output.stderr, LINE);
  t.strictSame(await service.leftovers(), []);

  t.match(await service.startInVain(), { code: 1, signal: null }, 'nor does it start');
  t.match(service.output.stderr, LINE);
});

void test('a command that needs the read models ends with the reason too', async (t) => {
  const service = createService(t);
  await cliJson(service.place, ['account', 'create', '--email', 'ann@example.com']);
  writeUnusableEvent(service.place.dataDir);
  const { code, stdout, stderr } = await runCli(service.place, ['account', 'list']);
  t.equal(code, 1);
  t.equal(stdout, '');
  t.match(stderr, LINE);
});
