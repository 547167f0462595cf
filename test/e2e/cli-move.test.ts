/** Moves as an operator types them: what is printed to copy, and what the old place says afterwards. */
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { FileLease } from '../../src/leader/file-lease.ts';
import { type CliResult, cliJson, refuses, runCli, runCommand } from '../support/cli.ts';
import { createPlace, LAUNCHER, type Place } from '../support/place.ts';

const MASTER_KEY = '5a'.repeat(32);

/** A deployment with its documents in a folder, spelled in the way that wins. */
async function inFolder(t: Test) {
  const place = createPlace(t, { MASTER_KEY });
  const folder = join(place.tmpDir, 'documents');
  const { DATA_DIR: _, ...rest } = place.env;
  const env = { ...rest, PRESSLEDGER_DATA_DIR: place.dataDir, BLOB_STORE_URL: `file:${folder}` };
  const here: Place = { ...place, env };
  await cliJson(here, ['account', 'create', 'ann@example.com']);
  return { here, folder, to: join(place.tmpDir, 'new place') };
}

/** The environment of a new shell. */
const shell = ({ env: { PATH = '', HOME = '', TMPDIR = '' } }: Place) => ({ PATH, HOME, TMPDIR });

/** Runs the last command that was printed, in a shell of this environment. */
async function copied({ stderr }: CliResult, env: Place['env']): Promise<CliResult> {
  const command = stderr.trimEnd().replace(/^.*look once with them: /s, '');
  return await runCommand('sh', ['-c', command], env, '', dirname(dirname(LAUNCHER)));
}

void test('the command that a move prints verifies the new place in any shell, and the old place says so', async (t) => {
  const { here, to } = await inFolder(t);
  const moved = await runCli(here, ['move', '--to-blobs', 'files', '--to-data-dir', to]);
  t.equal(moved.code, 0, moved.stderr);
  t.match(
    moved.stderr,
    `BLOB_STORE_URL= PRESSLEDGER_DATA_DIR='${to}' bin/pressledger verify --documents\n`,
  );
  // Emptied where the old documents lay: what is read must be the new place.
  for (const env of [here.env, shell(here)]) {
    const { code, stdout, stderr } = await copied(moved, env);
    t.equal(code, 0, stderr);
    t.match(stdout, /^The log is whole: /);
  }
  const old = await runCli(here, ['verify', '--documents']);
  t.equal(old.code, 1);
  t.match(
    old.stderr,
    /This is the old copy: the log was moved to SQLite and files in .*new place and goes on/,
  );
  const json = await runCli(here, ['verify', '--json']);
  t.match(JSON.parse(json.stdout), {
    ok: false,
    moved_to: `SQLite and files in ${to}`,
    events: Number,
  });
  const backup = ['backup', join(here.tmpDir, 'backup')];
  await refuses(t, here, backup, 1, /was moved to .*: back up with the settings of that place/);
  await refuses(t, here, ['account', 'list'], 1, /'pressledger move' with the options of the move/);
  const exported = await runCli(here, ['log', 'export', '-o', join(here.tmpDir, 'log.gz')]);
  t.equal(exported.code, 0);
  t.match(exported.stderr, /^This log was moved to /m);
});

void test('a move is not taken back below a service that runs in the new place', async (t) => {
  const { here, to } = await inFolder(t);
  const args = ['move', '--to-blobs', 'files', '--to-data-dir', to];
  t.equal((await runCli(here, args)).code, 0);
  // As a service that has started there, and has not written yet.
  const running = await new FileLease(join(to, 'render.lock')).acquire();
  for (const again of [args, [...args, '--cancel']]) {
    await refuses(t, here, again, 1, /A service runs on .*new place: stop it, then repeat/);
  }
  await running?.release();
  t.equal((await runCli(here, [...args, '--cancel'])).code, 0);
});

void test('a new place that cannot be reached is named with the reason', async (t) => {
  const { here, to } = await inFolder(t);
  symlinkSync(to, to);
  const { code, stderr } = await runCli(here, ['move', '--to-data-dir', join(to, 'data')]);
  t.equal(code, 1);
  t.match(stderr, /^pressledger: .*new place\/data.* cannot be opened \(ELOOP/);
});

void test('documents and keys that moved alone are verified where they went', async (t) => {
  const { here, to } = await inFolder(t);
  const moved = await runCli(here, ['move', '--to-blobs', `file:${to}`]);
  t.equal(moved.code, 0, moved.stderr);
  t.match(moved.stderr, `BLOB_STORE_URL='file:${to}' PRESSLEDGER_DATA_DIR=${here.dataDir} `);
  for (const env of [here.env, shell(here)]) t.equal((await copied(moved, env)).code, 0);
});

void test('an erasure is repeated where an older keyring is in use again', async (t) => {
  const place = createPlace(t);
  const { id } = (await cliJson(place, ['account', 'create', 'ann@example.com'])) as { id: string };
  const key = join(place.dataDir, `keyring/${id}.key`);
  const text = readFileSync(key);
  await cliJson(place, ['account', 'erase', 'ann@example.com', '--yes']);
  await cliJson(place, ['account', 'create', 'ann@example.com']);
  rmSync(join(place.dataDir, `keyring/${id}.erased`));
  writeFileSync(key, text, { mode: 0o600 });
  const { stdout } = await runCli(place, ['account', 'erase', id]);
  t.match(stdout, /was erased before: its key is destroyed/);
  t.notOk(existsSync(key));
  t.ok(existsSync(join(place.dataDir, `keyring/${id}.erased`)));
});
