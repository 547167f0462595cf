/** A data directory that another user of the machine prepared, so that they know its master key. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { assertOwned } from '../../src/documents/ownership.ts';
import { openDirectory } from '../../src/service/directories.ts';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { testDirectory } from '../support/directory.ts';
import { createPlace, type Place } from '../support/place.ts';

const ATTACKER = 61_001;
const ANN = 'ann@example.com';
const isRoot = process.geteuid?.() === 0;
/** Another user's files can be made by root alone. */
const asRoot = isRoot ? {} : { skip: 'only root can give a file to another user' };

/** Every command that would work in the directory refuses it in one line, and leaves it as it was. */
async function refused(t: Test, place: Place, line: RegExp): Promise<void> {
  const before = readdirSync(place.dataDir).toSorted();
  await refuses(t, place, ['account', 'create', '--email', ANN], 1, line);
  await refuses(t, place, ['start'], 1, line);
  t.strictSame(readdirSync(place.dataDir).toSorted(), before, 'nothing is made in it');
}

void test('a directory of another user with their master.key is refused', asRoot, async (t) => {
  const place = createPlace(t);
  mkdirSync(place.dataDir);
  writeFileSync(join(place.dataDir, 'master.key'), 'ab'.repeat(32));
  for (const path of [place.dataDir, join(place.dataDir, 'master.key')]) {
    chownSync(path, ATTACKER, ATTACKER);
    chmodSync(path, 0o777);
  }
  await refused(
    t,
    place,
    /\/data belongs to user 61001, and this process runs as user 0: .*chown -R 0 /,
  );
  chownSync(place.dataDir, 0, 0);
  await refused(t, place, /\/data may be written by other users \(mode 0777\): run 'chmod go-w /);
  chmodSync(place.dataDir, 0o755);
  await refused(t, place, /\/master\.key belongs to user 61001/);
  chownSync(join(place.dataDir, 'master.key'), 0, 0);
  await refused(t, place, /\/master\.key may be written by other users/);
});

void test('what lies in the directory is refused likewise', asRoot, async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN]);
  const keyring = join(place.dataDir, 'keyring');
  // What is shown of an account is sealed with its founder's key.
  const key = readdirSync(keyring).find((name) => name.startsWith('person_')) ?? '';
  const show = ['account', 'show', ANN];
  for (const path of [
    'pressledger.db',
    'keyring',
    `keyring/${key}`,
    'master.key',
    'master.check',
    'read-model',
    'snapshots.db',
  ]) {
    const file = join(place.dataDir, path);
    chownSync(file, ATTACKER, ATTACKER);
    await refuses(t, place, show, 1, new RegExp(`/${path} belongs to user 61001`));
    chownSync(file, 0, 0);
    chmodSync(file, 0o770);
    await refuses(t, place, show, 1, new RegExp(`/${path} may be written by other users`));
    chmodSync(file, 0o700);
  }
  t.match(await cliJson(place, show), { email: ANN }, 'as it was, it is taken again');
});

void test('a link does not hide whose key it is', asRoot, (t) => {
  const dir = testDirectory(t);
  const theirs = join(t.testdirName, '..', `theirs-${process.pid}.key`);
  t.teardown(() => rmSync(theirs, { force: true }));
  writeFileSync(theirs, 'ab'.repeat(32), { mode: 0o600 });
  chownSync(theirs, ATTACKER, ATTACKER);
  symlinkSync(theirs, join(dir, 'master.key'));
  t.throws(() => openDirectory('DATA_DIR', dir), { message: /master\.key belongs to user 61001/ });
  t.end();
});

void test("root's files are good for every user, others' for none but themselves", (t) => {
  const own = process.geteuid?.() ?? 0;
  for (const uid of [own, 0]) {
    t.doesNotThrow(() => assertOwned('/x', { uid, mode: 0o100_600 }));
    t.doesNotThrow(() => assertOwned('/x', { uid, mode: 0o040_755 }));
  }
  t.throws(() => assertOwned('/x', { uid: own + 1, mode: 0o100_600 }), /belongs to user/);
  for (const mode of [0o040_777, 0o041_777, 0o042_770, 0o100_620, 0o100_602]) {
    t.throws(() => assertOwned('/x', { uid: own, mode }), /may be written by other users/);
  }
  t.end();
});

void test('another user takes what root made for it, and its own', asRoot, (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'pressledger-')));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  chmodSync(root, 0o777);
  const module = join(import.meta.dirname, '../../src/service/directories.ts');
  const script = `
    import { openDirectory } from '${module}';
    process.setgid(61002);
    process.setuid(61002);
    try { openDirectory('DATA_DIR', process.argv[1]); console.log('taken'); }
    catch (error) { console.log(error.message); }`;
  const asOther = (dataDir: string): string =>
    spawnSync(process.execPath, ['--input-type=module', '--eval', script, dataDir], {
      encoding: 'utf8',
    }).stdout.trim();
  t.equal(asOther(join(root, 'own')), 'taken');
  t.equal(asOther(join(root, 'own')), 'taken', 'and again');
  mkdirSync(join(root, 'roots'));
  t.match(
    asOther(join(root, 'roots')),
    /DATA_DIR .*roots cannot be used \(.*\(EACCES\)\): set it to/,
  );
  const theirs = join(root, 'theirs');
  mkdirSync(theirs, { mode: 0o777 });
  chmodSync(theirs, 0o777);
  chownSync(theirs, ATTACKER, ATTACKER);
  t.match(asOther(theirs), /theirs belongs to user 61001, and this process runs as user 61002/);
  t.end();
});

void test('a directory that cannot be made is told in one line', async (t) => {
  const place = createPlace(t);
  const file = join(place.tmpDir, 'file');
  writeFileSync(file, '');
  for (const [dataDir, reason] of [
    [file, `${file} is no directory`],
    [join(file, 'below'), `${file} is no directory`],
    // Node's own mkdir would try this one for ever.
    ['/proc/pressledger', '[^\\n]*ENOENT'],
    ['/proc/pressledger/below', '[^\\n]*ENOENT'],
  ] as const) {
    const { code, stdout, stderr } = await runCli(place, ['start'], { env: { DATA_DIR: dataDir } });
    t.match({ code, stdout }, { code: 1, stdout: '' });
    t.match(
      stderr,
      new RegExp(`^pressledger: DATA_DIR ${dataDir} cannot be used \\(${reason}[^\\n]*\\n$`),
    );
  }
});

void test('a directory below others that are not there is made for this user alone', (t) => {
  const dataDir = join(testDirectory(t), 'a', 'b', 'data');
  openDirectory('DATA_DIR', dataDir);
  openDirectory('DATA_DIR', dataDir);
  t.strictSame(readdirSync(dataDir), []);
  t.equal(statSync(dataDir).mode & 0o777, 0o700);
  t.end();
});
