/** The program that works on PDFs: one that is installed, else the system's package where the set-up may install it. */
import { installPackages, mayInstall } from './apt.mjs';
import { isInstalled } from './installed.mjs';
import { notBrought, noteNotBrought } from './not-brought.mjs';
import { say } from './progress.mjs';
import { exclusively, run } from './run.mjs';

const PACKAGE = 'qpdf';
/** As `src/pdf/qpdf-process.ts` has it. */
const OLDEST_MAJOR = 11;
const FAILING = 'work on PDFs (POST /documents/, stamps, encryption) fails';

/** The service starts without it. @param {string} root of the clone */
export async function bringQpdf(root) {
  const isSettled = () => isInstalled(PACKAGE) || notBrought(root).includes(PACKAGE);
  if (mayInstall() && !isSettled()) {
    await exclusively(root, async () => {
      if (!isSettled()) await installPackages([PACKAGE]);
    });
  }
  if (!isInstalled(PACKAGE)) {
    if (mayInstall()) noteNotBrought(root, [PACKAGE]);
    say(`${FAILING} for want of ${PACKAGE}; as root: apt-get install ${PACKAGE}`);
    return;
  }
  const { stdout } = await run(PACKAGE, ['--version']);
  const [, version, major] = /^qpdf version ((\d+)\S*)/.exec(stdout) ?? [];
  if (version === undefined) {
    say(`${FAILING} because ${PACKAGE} does not run: install it again`);
  } else if (Number(major) < OLDEST_MAJOR) {
    say(
      `${FAILING} because ${PACKAGE} is version ${version}: install version ${OLDEST_MAJOR} or later`,
    );
  }
}
