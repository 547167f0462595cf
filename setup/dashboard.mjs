/** Builds the dashboard and what is served beside it, where the sources are not those of the last build. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bringPackages } from './npm.mjs';
import { SetupError, step } from './progress.mjs';
import { exclusively, run } from './run.mjs';

const SOURCES = [
  'package-lock.json',
  'vite.config.ts',
  'tsconfig.json',
  'index.html',
  'public',
  'src',
  // What the service or its auditors run, too.
  '../samples',
  '../verifier/verify-evidence.mjs',
  'reference-license.txt',
  '../tsconfig.json',
  ...['LICENSE', 'README.md', 'package.json', 'src', 'tsconfig.json'].map(
    (name) => `../client/${name}`,
  ),
];
/** Generated for the type check, which is not part of a build. */
const GENERATED = 'schema.d.ts';

/** @param {string} folder dashboard @returns {string} a hash of the names and contents of the sources */
export function hashOfSources(folder) {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((name) =>
    statSync(join(folder, name)).isDirectory()
      ? readdirSync(join(folder, name), { recursive: true }).map((file) => join(name, String(file)))
      : [name],
  ).filter((name) => !name.endsWith(GENERATED) && statSync(join(folder, name)).isFile());
  for (const name of files.toSorted()) {
    hash.update(`${name}\0`).update(
      createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest(),
    );
  }
  return hash.digest('hex');
}

/**
 * @param {string} root of the clone
 * @param {{ dev: boolean }} options
 * @throws {SetupError} the packages cannot be brought, or the build fails
 */
export async function bringDashboard(root, { dev }) {
  const folder = join(root, 'dashboard');
  // The build removes the folder first, so that a hash is never left beside half a build.
  const builtFrom = join(folder, 'dist', '.built-from');
  const isBuilt = () =>
    existsSync(builtFrom) && readFileSync(builtFrom, 'utf8') === hashOfSources(folder);
  if (isBuilt() && !dev) return;
  await bringPackages('packages of the dashboard', folder, { dev });
  if (isBuilt()) return;
  await exclusively(folder, async () => {
    if (isBuilt()) return;
    await step('building the dashboard', async () => {
      const hash = hashOfSources(folder);
      const vite = join('node_modules', 'vite', 'bin', 'vite.js');
      const { ok, stdout, stderr } = await run(process.execPath, [vite, 'build'], { cwd: folder });
      if (!ok) throw new SetupError(`the dashboard cannot be built:\n${stderr || stdout}`);
      writeFileSync(builtFrom, hash);
    });
  });
}
