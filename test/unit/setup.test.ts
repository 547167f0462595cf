import { execFile, spawn } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { test } from 'tap';
import { inspect, type LockedPackage, lacking } from '../../setup/locked.mjs';
import { isTooOld } from '../../setup/node.mjs';
import { explain, refuseIncomplete } from '../../setup/npm.mjs';
import { mayInstall } from '../../setup/apt.mjs';
import { forgetNotBrought } from '../../setup/not-brought.mjs';
import { exclusively } from '../../setup/run.mjs';
import { lacks } from '../support/lacks.ts';

const platform = { os: 'linux', cpu: 'x64', libc: 'glibc' };
const koa: LockedPackage = { version: '3.3.0', integrity: 'sha512-a' };
const tap: LockedPackage = { version: '21.8.0', integrity: 'sha512-b', dev: true };

const binary = (more: LockedPackage): Record<string, LockedPackage> => ({
  'node_modules/b': { version: '1.0.0', optional: true, ...more },
});

const node = (program: string) => [process.execPath, '-e', program] as const;

const lock = (packages: Record<string, LockedPackage>): string => JSON.stringify({ packages });

void test('a version before 24 is too old, whatever its length', async (t) => {
  for (const old of ['20.0.0', '22.21.1', '23.11.0', '9.0.0']) t.equal(isTooOld(old), true, old);
  for (const good of ['24.0.0', '24.21.0', '26.1.0', '100.0.0']) {
    t.equal(isTooOld(good), false, good);
  }
});

void test('what is missing, changed or not there yet is lacking', async (t) => {
  const wanted = { '': {}, 'node_modules/koa': koa };
  t.same(lacking(wanted, {}, platform, true), ['node_modules/koa']);
  t.same(lacking(wanted, { 'node_modules/koa': koa }, platform, true), []);
  for (const change of [{ version: '3.2.0' }, { integrity: 'sha512-x' }]) {
    const installed = { 'node_modules/koa': { ...koa, ...change } };
    t.same(lacking(wanted, installed, platform, true), ['node_modules/koa']);
  }
});

void test('development packages are lacking only where they are wanted', async (t) => {
  const wanted = { 'node_modules/tap': tap };
  t.same(lacking(wanted, {}, platform, false), []);
  t.same(lacking(wanted, {}, platform, true), ['node_modules/tap']);
});

void test('of the optional packages only this platform’s binary must be there', async (t) => {
  const own = { os: ['linux'], cpu: ['x64'], libc: ['glibc'] };
  t.same(lacking(binary(own), {}, platform, true), ['node_modules/b']);
  for (const other of [{ os: ['darwin'] }, { cpu: ['arm64'] }, { libc: ['musl'] }]) {
    t.same(lacking(binary({ ...own, ...other }), {}, platform, true), []);
  }
  t.same(lacking(binary({}), {}, platform, true), [], 'npm may leave out what is not a binary');
});

void test('a folder is complete only while its packages are really there', async (t) => {
  const wanted = lock({ 'node_modules/koa': koa, 'node_modules/tap': tap });
  const folder = t.testdir({ 'package-lock.json': wanted });
  t.same(inspect(folder, false), { complete: false, hasDev: false }, 'nothing is installed');

  const hidden = join(folder, 'node_modules', '.package-lock.json');
  await mkdir(join(folder, 'node_modules', 'koa'), { recursive: true });
  await writeFile(hidden, lock({ 'node_modules/koa': koa }));
  t.same(inspect(folder, false), { complete: true, hasDev: false });
  t.same(inspect(folder, true), { complete: false, hasDev: false });
  t.throws(() => refuseIncomplete(folder), {
    message: /node_modules is not what .* says: stop what runs .* then run `node setup/,
  });

  await writeFile(hidden, wanted);
  t.same(inspect(folder, false), { complete: false, hasDev: false }, 'tap’s folder is gone');
  await mkdir(join(folder, 'node_modules', 'tap'));
  t.same(inspect(folder, false), { complete: true, hasDev: true });
  refuseIncomplete(folder);

  await writeFile(hidden, '{"packages":');
  t.equal(inspect(folder, false).complete, false, 'a torn file counts as none');
});

void test('npm’s messages become one line that says what to do', async (t) => {
  const offline = 'npm error code ENOTFOUND\nnpm error network request to https://r failed\n';
  t.match(explain(offline), /^the npm registry cannot be reached: .*request to https:\/\/r failed/);
  t.match(explain('npm error code EACCES\nnpm error syscall mkdir\n'), /^no permission to write/);
  t.match(explain('npm error code EUSAGE\nnpm error `npm ci` can only\n'), /does not belong to/);
  t.equal(explain('npm error something new\n'), 'something new');
  t.equal(explain(''), 'npm gave no reason');
  t.notMatch(explain(offline), /\n/);
});

void test('of two set-ups in one folder the second waits', async (t) => {
  const folder = t.testdir({ 'package-lock.json': '{}' });
  await chmod(join(folder, 'package-lock.json'), 0o444);
  const script = `
    import { exclusively } from ${JSON.stringify(import.meta.resolve('../../setup/run.mjs'))};
    await exclusively(${JSON.stringify(folder)}, async () => process.stdout.write('in'));
  `;

  const order: string[] = [];
  let ended: Promise<unknown> = Promise.resolve();
  await exclusively(folder, async () => {
    const other = spawn(process.execPath, ['--input-type=module', '-e', script]);
    other.stdout.on('data', () => order.push('other'));
    ended = new Promise((resolve) => other.on('close', resolve));
    await new Promise((resolve) => other.stderr.once('data', resolve));
    order.push('this');
  });
  await ended;
  t.same(order, ['this', 'other']);
});

/** @returns what the set-up says of qpdf, with the programs in the folder alone */
async function bringQpdf(folder: string): Promise<string> {
  const bring = `import { bringQpdf } from '${join(import.meta.dirname, '../../setup/qpdf.mjs')}';
    await bringQpdf('${folder}');`;
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', bring],
    { env: { PATH: folder } },
  );
  return stdout + stderr;
}

async function writeProgram(path: string, script: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

const QPDF_FAILS = 'set-up: work on PDFs (POST /documents/, stamps, encryption) fails';

void test('a qpdf that is old or broken is said to be so', async (t) => {
  const folder = t.testdir();
  const said = async (script: string): Promise<string> => {
    await writeProgram(join(folder, 'qpdf'), script);
    return await bringQpdf(folder);
  };
  t.equal(
    await said('echo qpdf version 10.6.3'),
    `${QPDF_FAILS} because qpdf is version 10.6.3: install version 11 or later\n`,
  );
  t.equal(await said('exit 127'), `${QPDF_FAILS} because qpdf does not run: install it again\n`);
  t.equal(await said('echo qpdf version 12.2.0'), '');
});

const mayNot = !mayInstall() && 'the set-up may install no packages here';
void test('what cannot be installed is not tried at each start', { skip: mayNot }, async (t) => {
  const folder = t.testdir({ setup: {}, 'package-lock.json': '{}' });
  const calls = join(folder, 'calls');
  await writeProgram(join(folder, 'apt-get'), `echo "$@" >> '${calls}'; exit 100`);
  await writeProgram(join(folder, 'apt-cache'), 'echo "qpdf | 12.2.0"');
  const lackingLine = `${QPDF_FAILS} for want of qpdf; as root: apt-get install qpdf\n`;
  t.match(await bringQpdf(folder), lackingLine);
  const tried = await readFile(calls, 'utf8');
  t.match(tried, / update\n.* install /);
  t.equal(await bringQpdf(folder), lackingLine);
  t.equal(await readFile(calls, 'utf8'), tried);
  forgetNotBrought(folder);
  await bringQpdf(folder);
  t.equal(await readFile(calls, 'utf8'), tried + tried, 'the set-up tries again');
});

void test('a test is skipped if what it needs does not work, and says why', (t) => {
  t.equal(lacks('it', node('')), false);
  t.equal(
    lacks('it', node('console.error("first"); console.error("no such package"); process.exit(1)')),
    'it cannot be used here: no such package',
  );
  t.match(lacks('it', node('process.exit(3)')), /^it cannot be used here: \S+ ended with 3$/);
  t.match(lacks('it', ['/no/such/program']), 'ENOENT');
  t.end();
});

void test('the lock file names the binaries of every platform', async (t) => {
  // A registry that lacks some makes `npm install` leave them out, and then `npm ci` refuses.
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
  const packages: Record<string, { optionalDependencies?: Record<string, string> }> =
    JSON.parse(text).packages;
  const optional = Object.values(packages).flatMap((entry) =>
    Object.keys(entry.optionalDependencies ?? {}),
  );
  const named = new Set(Object.keys(packages).map((path) => path.split('node_modules/').at(-1)));
  t.ok(optional.length > 0);
  t.same(
    optional.filter((name) => !named.has(name)),
    [],
  );
});
