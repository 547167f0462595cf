/** `bin/pressledger` as a user runs it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { LAUNCHER, type Place } from './place.ts';

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  /** Standard output as it is, for what is not text. */
  readonly bytes: Buffer;
  readonly stderr: string;
}

const WITHIN_MS = 300_000;

export interface CliOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
}

export async function runCli(
  place: Place,
  args: readonly string[],
  { input = '', env = {}, withinMs }: CliOptions = {},
): Promise<CliResult> {
  const settings = { ...place.env, LOG_LEVEL: 'warn', ...env };
  return await runCommand(LAUNCHER, args, settings, input, undefined, withinMs);
}

/** Runs a command to its end; ends it when it takes too long. */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  input: string | Buffer = '',
  cwd?: string,
  withinMs = WITHIN_MS,
): Promise<CliResult> {
  const child = spawn(command, args, {
    env,
    stdio: 'pipe',
    timeout: withinMs,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const ended = once(child, 'close');
  const chunks: Buffer[] = [];
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  // A command that does not read its input may be gone before it is written.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await ended;
  const bytes = Buffer.concat(chunks);
  return { code: code as number | null, stdout: bytes.toString(), bytes, stderr };
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

/** Ends with the status, says one line about it on standard error and nothing on standard output. */
export async function refuses(
  t: Test,
  place: Place,
  args: readonly string[],
  code: number,
  line: RegExp,
  input: string | Buffer = '',
): Promise<void> {
  const result = await runCli(place, args, { input });
  const told = `${args.join(' ')} → ${code}`;
  t.equal(result.code, code, `${told}: ${result.stderr}`);
  t.equal(result.stdout, '', `${told}: nothing on standard output`);
  t.match(result.stderr, /^pressledger: [^\n]+\n$/, `${told}: one line`);
  t.match(result.stderr, line, told);
}
