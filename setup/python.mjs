/** Packages of Python that interop tests need, in an environment of their own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say, step } from './progress.mjs';
import { run } from './run.mjs';

/**
 * Without Python, or where its packages cannot be had, tests are skipped.
 * @param {string} folder with `requirements.txt`; the environment is made in its `.venv`
 * @param {string} tests that need it
 */
export async function bringPythonPackages(folder, tests) {
  const wanted = readFileSync(join(folder, 'requirements.txt'), 'utf8');
  const environment = join(folder, '.venv');
  const brought = join(environment, 'brought.txt');
  if (existsSync(brought) && readFileSync(brought, 'utf8') === wanted) return;
  await step('packages of Python', async () => {
    const python = join(environment, 'bin', 'python');
    /** @type {[string, string[]][]} */
    const commands = [
      ['python3', ['-m', 'venv', '--clear', environment]],
      [python, ['-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt']],
    ];
    for (const [command, args] of commands) {
      const { ok, stdout, stderr } = await run(command, args, { cwd: folder });
      if (ok) continue;
      const [reason = ''] = `${stderr}${stdout}`.trim().split('\n').slice(-1);
      say(`${tests} are skipped, as packages of Python cannot be had: ${reason}`);
      say('as root: apt-get install python3-venv');
      return;
    }
    writeFileSync(brought, wanted);
  });
}
