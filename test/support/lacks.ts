import { spawnSync, type SpawnSyncOptions } from 'node:child_process';

/**
 * Tries what a test needs. A file that exists proves nothing: the set-up may have been broken off.
 * @returns false where it works, else the reason, for a test's `skip`
 */
export function lacks(
  what: string,
  [command, ...args]: readonly [command: string, ...args: string[]],
  options: SpawnSyncOptions = {},
): string | false {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    ...options,
    encoding: 'utf8',
  });
  if (status === 0) return false;
  const reason = error?.message ?? `${stdout}${stderr}`.trim().split('\n').at(-1);
  return `${what} cannot be used here: ${reason || `${command} ended with ${status}`}`;
}
