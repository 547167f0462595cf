/** The tree of the log is read by each start: damage there gives way to an empty read model, as damage elsewhere does. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { pino } from 'pino';
import { test } from 'tap';
import { openAccount } from '../../../src/accounts/accounts.ts';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { readConfig } from '../../../src/config/config.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import { openCore } from '../../../src/service/core.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { testDirectory } from '../../support/directory.ts';

/** Overwrites the first page of a table or an index. */
function damage(path: string, name: string): void {
  const db = new Sqlite(path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?');
  const page = root.pluck().get(name) ?? 0;
  const bytes = Number(db.pragma('page_size', { simple: true }));
  db.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(bytes, 0xaa), 0, bytes, (page - 1) * bytes);
  closeSync(file);
}

void test('a start that meets damage in the tree of the log leaves an empty read model to the next', async (t) => {
  const dataDir = testDirectory(t);
  const open = () =>
    openCore(readConfig({ DATA_DIR: dataDir }), pino({ level: 'silent' }), { create: true });
  const first = await open();
  const asked = { email: 'a@example.com', plan: 'pro', credits: 1 } as const;
  const { id } = await openAccount(first, asked, operatorContext(systemClock));
  await first.caughtUp();
  await first.close();
  const directory = join(dataDir, 'read-model');
  damage(generationPath(directory, currentGeneration(directory)), 'log_leaves_by_position');
  await t.rejects(open(), { code: 'SQLITE_CORRUPT' });
  const next = await open();
  t.teardown(() => next.close());
  await next.caughtUp();
  t.ok(await next.vault.contentKey(id, 'conv_1'));
});
