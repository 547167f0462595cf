/** A command of `bin/pressledger` that is killed in the middle. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './deadline.ts';
import { LAUNCHER, type Place } from './place.ts';

/** A copy of a long log may take its time; tests have limits of their own. */
export const LONG_MS = 1_800_000;

/**
 * Starts it and ends it with SIGKILL as soon as `isDue` says so.
 * @returns false: it had ended by itself before
 * @throws {Error} it had failed by itself before
 */
export async function killCommand(
  place: Place,
  args: readonly string[],
  isDue: (stderr: string) => boolean,
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const child = spawn(LAUNCHER, args, { env: { ...place.env, ...env }, stdio: 'pipe' });
  const ended = once(child, 'close');
  let stderr = '';
  child.stdout.resume();
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const hasEnded = (): boolean => child.exitCode !== null;
  await eventually(args.join(' '), () => hasEnded() || isDue(stderr) || undefined, LONG_MS);
  child.kill('SIGKILL');
  await ended;
  if (child.exitCode !== null && child.exitCode !== 0)
    throw new Error(`${args.join(' ')}: ${stderr}`);
  return child.signalCode === 'SIGKILL';
}
