/** Child processes of the set-up. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './progress.mjs';

/**
 * Runs a command without input and collects what it says.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ ok: boolean, stdout: string, stderr: string }>} never rejects: a command
 *   that cannot be started is not ok
 */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr += chunk));
    child.on('error', (error) => resolve({ ok: false, stdout, stderr: error.message }));
    child.on('close', (code) => resolve({ ok: code === 0, stdout, stderr }));
  });
}

/**
 * Runs `work` while no other set-up works in this folder. The kernel holds the lock (flock on the
 * lock file of the packages), so nothing is left behind however the process ends.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function exclusively(folder, work) {
  const fd = openSync(join(folder, 'package-lock.json'), 'r');
  /** @param {string[]} options */
  const flock = (...options) =>
    spawnSync('flock', [...options, '3'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
  try {
    // flock locks the open file that this process shares with it; it stays locked until closed.
    if (flock('--nonblock').status === 1) {
      say('another set-up is at work in this folder; waiting for it');
      flock();
    }
    return await work();
  } finally {
    closeSync(fd);
  }
}
