/** Prometheus' own checker, where it is installed. */
import { spawnSync } from 'node:child_process';

const isThere = spawnSync('promtool', ['--version']).status === 0;

/** Options of a test: skips it, by name, where promtool is missing. */
export const needsPromtool = isThere ? {} : { skip: 'promtool is missing: install prometheus' };

/** Its exit status, and all that it says. */
export function promtool(
  args: readonly string[],
  input = '',
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}
