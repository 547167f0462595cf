/** Brings the programs of a folder with Maven, where they are not there yet. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { say, step } from './progress.mjs';
import { run } from './run.mjs';

/**
 * Tests that need what cannot be had are skipped.
 * @param {string} folder with `pom.xml`; the programs are put into its `lib`
 * @param {string} tests that need them
 */
export async function bringJavaPackages(folder, tests) {
  const lib = join(folder, 'lib');
  if (existsSync(lib)) return;
  // Moved when it is whole: a set-up may be broken off.
  const unfinished = join(folder, 'lib.unfinished');
  rmSync(unfinished, { recursive: true, force: true });
  const { ok, stdout, stderr } = await step(`programs for ${tests}`, () =>
    run(
      'mvn',
      [
        '--quiet',
        '--batch-mode',
        'dependency:copy-dependencies',
        `-DoutputDirectory=${unfinished}`,
      ],
      { cwd: folder },
    ),
  );
  if (ok) {
    renameSync(unfinished, lib);
    return;
  }
  rmSync(unfinished, { recursive: true, force: true });
  const error = (stdout + stderr).split('\n').find((line) => line.includes('[ERROR]'));
  say(`${tests} are skipped: Maven could not bring them (${error ?? 'it gave no reason'})`);
}
