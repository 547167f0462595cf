import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { readLog } from '../support/invariants.ts';
import { createService, type Service } from '../support/service.ts';

/** It ends with 1, and what it says beside its log is one line. */
async function givesUp(
  t: Test,
  service: Service,
  line: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code } = await service.startInVain(env);
  const { stdout, stderr } = service.output;
  t.equal(code, 1, stderr);
  t.equal(stdout, '');
  const said = stderr.split('\n').filter((each) => each !== '' && !each.startsWith('{"level"'));
  t.equal(said.length, 1, said.join('\n'));
  t.match(said[0], /^pressledger: /);
  t.match(said[0], line);
  t.notMatch(said[0], /\bat .*:\d+:\d+/, 'no stack');
  t.strictSame(await service.leftovers(), []);
}

/** A place with a store in it. */
async function used(t: Test): Promise<{ service: Service; store: string }> {
  const service = createService(t);
  await cliJson(service.place, ['account', 'create', '--email', 'ann@example.com']);
  return { service, store: join(service.place.dataDir, 'pressledger.db') };
}

void test('a damaged database', async (t) => {
  const { service, store } = await used(t);
  const whole = readFileSync(store);
  writeFileSync(store, Buffer.concat([Buffer.alloc(4096, 'x'), whole.subarray(4096)]));
  await givesUp(t, service, /pressledger\.db is damaged/);
  writeFileSync(store, whole.subarray(0, 6000));
  await givesUp(t, service, /pressledger\.db is damaged/);
  writeFileSync(store, whole);
  t.equal((await runCli(service.place, ['account', 'list'])).code, 0, 'a good copy is taken back');
});

void test('a locked database', async (t) => {
  const { service, store } = await used(t);
  const other = new Sqlite(store);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  await givesUp(t, service, /pressledger\.db is locked by another process/);
});

void test('a data directory that cannot be one', async (t) => {
  const service = createService(t);
  const file = join(service.place.tmpDir, '..', 'a-file');
  writeFileSync(file, '');
  await givesUp(t, service, /a-file/, { DATA_DIR: join(file, 'data') });
});

void test('the master key of another data directory', async (t) => {
  const { service } = await used(t);
  await givesUp(t, service, /master key/i, { MASTER_KEY: 'ab'.repeat(32) });
});

void test('a Chrome that is not there, or is none', async (t) => {
  const service = createService(t);
  await givesUp(t, service, /\/nonexistent\/chrome/, { CHROME_PATH: '/nonexistent/chrome' });
  await givesUp(t, service, /\/bin\/false/, { CHROME_PATH: '/bin/false' });
});

void test('a port that is taken', async (t) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as AddressInfo;
  await givesUp(t, createService(t), new RegExp(`${port}`), { PORT: `${port}` });
});

void test('a setting that cannot be used', async (t) => {
  const service = createService(t);
  await givesUp(t, service, /PORT must be a whole number/, { PORT: 'http' });
  await givesUp(t, service, /PRESSLEDGER_PROT is not a setting/, { PRESSLEDGER_PROT: '1' });
});

void test('files of another release and of another kind', async (t) => {
  const { service, store } = await used(t);
  const db = new Sqlite(store);
  db.pragma('user_version = 99');
  db.close();
  await givesUp(t, service, /newer release/);
  rmSync(store);
  mkdirSync(dirname(store), { recursive: true });
  const foreign = new Sqlite(store);
  foreign.exec('CREATE TABLE notes (text)');
  foreign.close();
  await givesUp(t, service, /not a store of Pressledger/);
});

void test('read models and snapshots that are damaged are replaced', async (t) => {
  const { service } = await used(t);
  const { dataDir } = service.place;
  const current = readFileSync(join(dataDir, 'read-model', 'CURRENT'), 'utf8').trim();
  writeFileSync(join(dataDir, 'read-model', current), 'x'.repeat(9000));
  writeFileSync(join(dataDir, 'snapshots.db'), 'x'.repeat(9000));
  await service.start();
  t.match(service.output.stderr, /the snapshot cache is replaced/, 'the operator reads of it');
  const accounts = await cliJson(service.place, ['account', 'list']);
  t.match(accounts, [{ email: 'ann@example.com', credits: 100 }]);
  t.ok(readLog(dataDir).length > 0);
});

/** Overwrites the first page of a table in the read model. */
function damage(dataDir: string, table: string): void {
  const directory = join(dataDir, 'read-model');
  const path = join(directory, readFileSync(join(directory, 'CURRENT'), 'utf8').trim());
  const db = new Sqlite(path);
  db.pragma('wal_checkpoint(TRUNCATE)');
  const roots = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?');
  const page = roots.pluck().get(table) ?? 0;
  const bytes = Number(db.pragma('page_size', { simple: true }));
  db.close();
  writeFileSync(path, readFileSync(path).fill(0xaa, (page - 1) * bytes, page * bytes));
}

void test('a start that meets damage in the read model rebuilds it for the next one', async (t) => {
  const { service } = await used(t);
  damage(service.place.dataDir, 'accounts');
  await givesUp(t, service, /malformed/);
  // Read before the read model is used: this start rebuilds it for itself.
  damage(service.place.dataDir, 'last_event');
  await service.start();
  t.match(await cliJson(service.place, ['account', 'list']), [{ email: 'ann@example.com' }]);
});
