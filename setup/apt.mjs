/** System packages on Debian and Ubuntu: what the set-up installs where it may (root). */
import { existsSync } from 'node:fs';
import { say, step } from './progress.mjs';
import { run } from './run.mjs';

/** What lists fonts; Latin, emoji, Chinese/Japanese/Korean, and Arabic, Hebrew and most other scripts. */
export const FONT_PACKAGES = [
  'fontconfig',
  'fonts-liberation',
  'fonts-noto-color-emoji',
  'fonts-noto-cjk',
  'fonts-noto-core',
];

const OPTIONS = [
  '-o',
  'Acquire::Retries=1',
  '-o',
  'Acquire::http::Timeout=20',
  // Another apt, such as unattended upgrades, may be at work.
  '-o',
  'DPkg::Lock::Timeout=120',
];

const hasApt = () => existsSync('/usr/bin/apt-get');
export const mayInstall = () => process.getuid?.() === 0 && hasApt();

/** @param {readonly string[]} packages @returns {Promise<string[]>} those not installed */
export async function notInstalled(packages) {
  if (!hasApt()) return [];
  const query = ['-W', '-f=${Package} ${db:Status-Status}\\n', ...packages];
  // The exit code says only that some are unknown; the lines say which ones are there.
  const { stdout } = await run('dpkg-query', query);
  const there = stdout.split('\n').map((line) => line.split(' '));
  return packages.filter((name) => !there.some(([n, s]) => n === name && s === 'installed'));
}

/** @param {string} output of apt-get */
function reason(output) {
  const line = output.split('\n').find((each) => /^[EW]: /.test(each));
  return line?.slice(3) ?? 'apt-get gave no reason';
}

/** @param {string} title @param {string[]} args @returns {Promise<boolean>} */
async function aptGet(title, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { ok, stdout, stderr } = await step(title, () =>
    run('apt-get', [...OPTIONS, ...args], { env }),
  );
  if (!ok) say(`apt-get ${args[0]} failed: ${reason(stderr + stdout)}`);
  return ok;
}

/**
 * Installs what this release of the system offers. A failure is said in one line and is not the
 * end: the caller looks at what is there afterwards.
 * @param {readonly string[]} packages
 */
export async function installPackages(packages) {
  // Without an update a fresh container knows no packages; a failed one may still know enough.
  await aptGet('apt-get update', ['update']);
  const { stdout } = await run('apt-cache', ['madison', ...packages]);
  const offered = packages.filter((name) => stdout.includes(`${name} |`));
  for (const name of packages) {
    if (!offered.includes(name)) say(`this system offers no package ${name}`);
  }
  if (offered.length > 0) {
    const install = ['install', '--yes', '--no-install-recommends', ...offered];
    await aptGet(`installing ${offered.join(', ')}`, install);
  }
}
