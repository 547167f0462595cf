/** The program that works on PDFs: one that is installed, else the system's package where the set-up may install it. */
import { installPackages, mayInstall } from './apt.mjs';
import { isInstalled } from './installed.mjs';
import { say } from './progress.mjs';
import { exclusively } from './run.mjs';

const PACKAGE = 'qpdf';

/** The service starts without it. @param {string} root of the clone */
export async function bringQpdf(root) {
  if (isInstalled(PACKAGE)) return;
  if (mayInstall()) {
    await exclusively(root, async () => {
      if (!isInstalled(PACKAGE)) await installPackages([PACKAGE]);
    });
  }
  if (isInstalled(PACKAGE)) return;
  say(
    `work on PDFs (POST /documents/, stamps, encryption) fails for want of ${PACKAGE}; as root: apt-get install ${PACKAGE}`,
  );
}
