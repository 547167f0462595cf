/** Brings the locked packages of a folder with `npm ci`, where they are not there yet. */
import { inspect } from './locked.mjs';
import { SetupError, step } from './progress.mjs';
import { exclusively, run } from './run.mjs';

const OLDEST_NPM = 9;

/** Patterns of npm's own messages, and what a person can do about them. */
const CAUSES = [
  [
    /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EIDLETIMEOUT|ENOTCACHED)\b/,
    'the npm registry cannot be reached: check the network and `npm config get registry`',
  ],
  [/\b(SELF_SIGNED|UNABLE_TO_|CERT_)/, 'the npm registry’s certificate is not trusted here'],
  [/\b(E401|E403)\b/, 'the npm registry refuses access: check the credentials in ~/.npmrc'],
  [/\b(EACCES|EPERM|EROFS)\b/, 'no permission to write here: check who owns the folder'],
  [/\bENOSPC\b/, 'the disk is full'],
  [/\bEINTEGRITY\b/, 'a package is not the locked one: run `npm cache verify`, then try again'],
  [/\bEUSAGE\b/, 'package-lock.json does not belong to package.json: take both from git again'],
];

/**
 * One line on why `npm ci` failed and what to do.
 * @param {string} output of npm
 */
export function explain(output) {
  const cause = CAUSES.find(([pattern]) => pattern instanceof RegExp && pattern.test(output));
  const said = output
    .split('\n')
    .find((line) => /^npm (error|ERR!) (?!code|syscall|errno|path|dest)\S/.test(line));
  const detail = said?.replace(/^npm (error|ERR!)\s*/, '') ?? 'npm gave no reason';
  return cause === undefined ? detail : `${cause[1]} (${detail})`;
}

async function refuseOldNpm() {
  const { ok, stdout } = await run('npm', ['--version']);
  if (!ok) throw new SetupError('npm is missing: install npm 10 or later');
  if (Number.parseInt(stdout, 10) < OLDEST_NPM) {
    throw new SetupError(`npm ${stdout.trim()} is too old: run \`npm install -g npm@11\``);
  }
}

/**
 * Brings nothing: a run of hours must not replace the packages below what runs from this folder.
 * @param {string} folder
 * @throws {SetupError} its packages are not those of the lock file, development packages included
 */
export function refuseIncomplete(folder) {
  if (inspect(folder, true).complete) return 0;
  throw new SetupError(
    `${folder}/node_modules is not what package-lock.json says: stop what runs from this folder, then run \`node setup/main.mjs test\` once`,
  );
}

/**
 * @param {string} title what is brought, for the progress line
 * @param {string} folder with package.json and package-lock.json
 * @param {{ dev: boolean }} options
 * @throws {SetupError} npm is too old or fails
 */
export async function bringPackages(title, folder, { dev }) {
  if (inspect(folder, dev).complete) return;
  await exclusively(folder, async () => {
    const { complete, hasDev } = inspect(folder, dev);
    if (complete) return;
    await refuseOldNpm();
    const args = [
      'ci',
      dev || hasDev ? '--include=dev' : '--omit=dev',
      '--include=optional',
      // No package of the lock needs one, and what does not run cannot do harm.
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--fetch-retries=2',
      '--fetch-retry-mintimeout=1000',
      '--fetch-retry-maxtimeout=5000',
    ];
    await step(title, async () => {
      const { ok, stdout, stderr } = await run('npm', args, { cwd: folder });
      if (!ok) throw new SetupError(`npm ci failed in ${folder}: ${explain(stderr + stdout)}`);
    });
  });
}
