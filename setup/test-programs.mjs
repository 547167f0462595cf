/** Programs that tests start: those that are installed, else the system's packages. */
import { existsSync } from 'node:fs';
import { installPackages, mayInstall } from './apt.mjs';
import { isInstalled } from './installed.mjs';
import { say } from './progress.mjs';
import { exclusively, run } from './run.mjs';

/** @typedef {{ tests: string, packages: string[], isThere: () => boolean, unit?: string }} Program */

/** @type {Readonly<Record<string, readonly Program[]>>} by the purpose of the set-up */
const PROGRAMS = {
  test: [
    {
      tests: 'tests over NATS',
      packages: ['nats-server'],
      isThere: () => isInstalled('nats-server'),
    },
    {
      tests: 'checks of signatures by pdfsig',
      packages: ['poppler-utils'],
      isThere: () => isInstalled('pdfsig'),
    },
  ],
  long: [
    {
      tests: 'tests with a full Chrome',
      packages: ['chromium'],
      isThere: () =>
        existsSync('/usr/lib/chromium/chromium') || existsSync('/opt/google/chrome/chrome'),
    },
  ],
  interop: [
    {
      tests: 'checks of the transparency log by Go',
      packages: ['golang-go', 'golang-golang-x-mod-dev'],
      isThere: () =>
        isInstalled('go') && existsSync('/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog'),
    },
    {
      tests: 'checks of metrics and alerts by promtool',
      packages: ['prometheus'],
      isThere: () => isInstalled('promtool'),
      // Its package starts a server, which tests do not need.
      unit: 'prometheus',
    },
    {
      tests: 'checks of PDFs by veraPDF and Mustang',
      packages: ['maven', 'default-jdk-headless'],
      isThere: () => isInstalled('mvn') && isInstalled('javac'),
    },
  ],
};

/**
 * Tests that need a program which cannot be had are skipped.
 * @param {string} root of the clone
 * @param {string} purpose whose programs are brought
 */
export async function bringTestPrograms(root, purpose) {
  const lacking = () => (PROGRAMS[purpose] ?? []).filter(({ isThere }) => !isThere());
  if (lacking().length > 0 && mayInstall()) {
    await exclusively(root, async () => {
      const brought = lacking();
      const packages = brought.flatMap((each) => each.packages);
      if (packages.length > 0) await installPackages(packages);
      const units = brought.flatMap(({ unit }) => unit ?? []);
      if (units.length > 0) await run('systemctl', ['disable', '--now', ...units]);
    });
  }
  for (const { tests, packages } of lacking()) {
    const names = packages.join(' ');
    say(`${tests} are skipped for want of ${names}; as root: apt-get install ${names}`);
  }
}
