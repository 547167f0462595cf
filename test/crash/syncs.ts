/** Makes the kernel fail a process's syncs, or kill it at one of them, by strace: nothing of the process is changed. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Why syncs cannot be tampered with here, or false. */
export const noStrace: string | false =
  spawnSync('strace', ['-qq', '-o', '/dev/null', '-e', 'trace=fsync', 'true']).status === 0
    ? false
    : 'strace is not installed, or may not trace: fsync does not fail in these rounds';

const CALLS = 'fsync,fdatasync';

/** @returns how to end it */
async function tamper(pid: number, how: string): Promise<() => Promise<void>> {
  const inject = ['-e', `trace=${CALLS}`, '-e', `inject=${CALLS}:${how}`];
  const strace = spawn('strace', ['-f', ...inject, '-o', '/dev/null', '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(strace, 'exit');
  // It says that it is attached, or why not.
  await Promise.race([once(strace.stderr, 'data'), ended]);
  strace.stderr.resume();
  return async () => {
    if (strace.exitCode === null && strace.signalCode === null) strace.kill('SIGINT');
    await ended;
  };
}

/** Every sync of the process fails with EIO until it is undone. */
export const failSyncs = (pid: number) => tamper(pid, 'error=EIO');

/** Kills the process at its n-th sync from now, before that is done. */
export const killAtSync = (pid: number, nth: number) => tamper(pid, `signal=KILL:when=${nth}`);
