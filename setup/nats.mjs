/** The nats-server that tests start: one that is installed, else the system's package. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackages, mayInstall } from './apt.mjs';
import { say } from './progress.mjs';
import { exclusively } from './run.mjs';

const PACKAGE = 'nats-server';

/** Debian puts it where only root's PATH looks. */
const isThere = () =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].some((directory) =>
    existsSync(join(directory, PACKAGE)),
  );

/** Without one, the tests that need it are skipped. @param {string} root of the clone */
export async function bringNatsServer(root) {
  if (!isThere() && mayInstall()) {
    await exclusively(root, async () => {
      if (!isThere()) await installPackages([PACKAGE]);
    });
  }
  if (!isThere()) {
    say(`tests over NATS are skipped for want of ${PACKAGE}; as root: apt-get install ${PACKAGE}`);
  }
}
