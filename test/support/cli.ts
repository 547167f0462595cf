/** `bin/pressledger` as a user runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LAUNCHER, type Place } from './place.ts';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const WITHIN_MS = 60_000;

export interface CliOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export async function runCli(
  place: Place,
  args: readonly string[],
  { input = '', env = {} }: CliOptions = {},
): Promise<CliResult> {
  return await runCommand(LAUNCHER, args, { ...place.env, LOG_LEVEL: 'warn', ...env }, input);
}

/** Runs a command to its end; ends it when it takes too long. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input = '',
  cwd?: string,
): Promise<CliResult> {
  const child = spawn(command, args, {
    env,
    stdio: 'pipe',
    timeout: WITHIN_MS,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const ended = once(child, 'close');
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await ended;
  return { code: code as number | null, stdout, stderr };
}

/** The one JSON document that a command prints with `--json`. @throws it failed */
export async function cliJson(
  place: Place,
  args: readonly string[],
  options: CliOptions = {},
): Promise<unknown> {
  const { code, stdout, stderr } = await runCli(place, [...args, '--json'], options);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
