/** Packages of Python that interop tests need, in an environment of their own. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say, step } from './progress.mjs';
import { run } from './run.mjs';

/**
 * Without Python, or where its packages cannot be had, tests are skipped, and no environment stays.
 * @param {string} folder with `requirements.txt`; the environment is made in its `.venv`
 * @param {string} tests that need it
 */
export async function bringPythonPackages(folder, tests) {
  const wanted = readFileSync(join(folder, 'requirements.txt'), 'utf8');
  const environment = join(folder, '.venv');
  const brought = join(environment, 'brought.txt');
  if (existsSync(brought) && readFileSync(brought, 'utf8') === wanted) return;
  // Moved when it is whole: a set-up may be broken off.
  const unfinished = join(folder, '.venv.unfinished');
  const clear = () => {
    for (const each of [environment, unfinished]) rmSync(each, { recursive: true, force: true });
  };
  clear();
  await step('packages of Python', async () => {
    const python = join(unfinished, 'bin', 'python');
    /** @type {[string, string[], string][]} */
    const commands = [
      ['python3', ['-m', 'venv', unfinished], '; as root: apt-get install python3-venv'],
      [python, ['-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt'], ''],
    ];
    for (const [command, args, remedy] of commands) {
      const { ok, stdout, stderr } = await run(command, args, { cwd: folder });
      if (ok) continue;
      clear();
      const [reason = ''] = `${stderr}${stdout}`.trim().split('\n').slice(-1);
      say(`${tests} are skipped: packages of Python cannot be had (${reason})${remedy}`);
      return;
    }
    writeFileSync(join(unfinished, 'brought.txt'), wanted);
    renameSync(unfinished, environment);
  });
}
