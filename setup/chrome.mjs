/**
 * A Chrome to print with: one that is installed, else the system's package where the set-up may
 * install it, else the one inside an npm package. Runs on Node 24, after the dependencies.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findChrome } from '../src/renderer/browser/find.ts';
import { FONT_PACKAGES, installPackages, mayInstall, notInstalled } from './apt.mjs';
import { bringPackages } from './npm.mjs';
import { SetupError, say, step } from './progress.mjs';
import { exclusively, run } from './run.mjs';

const SYSTEM_PACKAGE = 'chromium-headless-shell';
const NPM_PACKAGE = '@sparticuz/chromium';

/** @param {string} folder setup/chrome @returns {string} the version that is locked there */
function lockedVersion(folder) {
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return lock.packages[`node_modules/${NPM_PACKAGE}`].version;
}

/** @param {string} folder setup/chrome */
async function find(folder) {
  // An executable of an earlier version does not count: it is unpacked again.
  const unpacked = existsSync(join(folder, 'unpacked', lockedVersion(folder)));
  const chromePath = process.env['PRESSLEDGER_CHROME_PATH'] || process.env['CHROME_PATH'];
  try {
    return await findChrome({
      chromePath: chromePath || undefined,
      searchPath: process.env['PATH'],
      fallbackFile: unpacked ? join(folder, 'executable') : undefined,
    });
  } catch (error) {
    if (chromePath && error instanceof Error) throw new SetupError(error.message);
    return undefined;
  }
}

/** @param {string} folder setup/chrome */
async function unpackFallback(folder) {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new SetupError(
      `no Chrome was found: install ${SYSTEM_PACKAGE} or Google Chrome, or set CHROME_PATH`,
    );
  }
  await bringPackages(`Chrome from the npm package ${NPM_PACKAGE}`, folder, { dev: false });
  await step('unpacking Chrome', async () => {
    const target = join(folder, 'unpacked', lockedVersion(folder));
    const unpacked = await run(process.execPath, [join(folder, 'unpack.mjs'), target]);
    if (!unpacked.ok) throw new SetupError(`Chrome cannot be unpacked: ${unpacked.stderr}`);
    writeFileSync(join(folder, 'executable'), unpacked.stdout);
  });
}

/** @param {{ path: string, source: string }} chrome */
async function report({ path, source }) {
  const { ok, stdout, stderr } = await run(path, ['--version']);
  if (!ok) {
    const why = stderr.split('\n').find((line) => line !== '') ?? 'it gives no reason';
    throw new SetupError(`${path} does not run (${why}): install another or set CHROME_PATH`);
  }
  say(`${stdout.trim()} prints (${path})`);
  if (source === 'set-up') {
    say(
      `it comes from the npm package ${NPM_PACKAGE}; for a newer one install ${SYSTEM_PACKAGE} ` +
        `(as root: apt-get install ${SYSTEM_PACKAGE}) or set CHROME_PATH`,
    );
  }
}

/** @param {string} root of the clone @throws {SetupError} there is no Chrome that runs */
export async function bringChrome(root) {
  const folder = join(root, 'setup', 'chrome');
  const wanted = async () => [
    ...((await find(folder)) === undefined ? [SYSTEM_PACKAGE] : []),
    ...(await notInstalled(FONT_PACKAGES)),
  ];
  if (mayInstall() && (await wanted()).length > 0) {
    await exclusively(root, async () => {
      const packages = await wanted();
      if (packages.length > 0) await installPackages(packages);
    });
  }
  let chrome = await find(folder);
  if (chrome === undefined) {
    await exclusively(root, async () => {
      if ((await find(folder)) === undefined) await unpackFallback(folder);
    });
    chrome = await find(folder);
  }
  if (chrome === undefined) throw new SetupError('no Chrome was found after all');
  await report(chrome);
  const fonts = await notInstalled(FONT_PACKAGES);
  if (fonts.length > 0) {
    say(`some scripts may have no font here; as root: apt-get install ${fonts.join(' ')}`);
  }
}
