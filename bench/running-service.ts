/** The product as a user starts it, in a process and a data directory of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PressledgerClient } from '../src/client/client.ts';

const LAUNCHER = join(import.meta.dirname, '../bin/pressledger');
const MANY = '1000000';
const WAIT_SECONDS = 30;

export interface RunningService {
  /** Its process, whose children are the Chromes. */
  readonly pid: number;
  /** The first account's. */
  readonly client: PressledgerClient;
  /** A new account's, with many credits. */
  account(name: string): Promise<PressledgerClient>;
  stop(): Promise<void>;
}

export async function startService(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningService> {
  const tmp = join(directory, 'tmp');
  mkdirSync(tmp, { recursive: true });
  const env = {
    ...process.env,
    DATA_DIR: join(directory, 'data'),
    TMPDIR: tmp,
    PORT: '0',
    RATE_LIMIT_FREE: MANY,
    RATE_LIMIT_PRO: MANY,
    FREE_CREDITS: MANY,
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const child = spawn(LAUNCHER, ['start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const started = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (/^Pressledger is ready at/m.test(output) && /API key:/.test(output)) resolve();
    });
    child.once('exit', () => reject(new Error(`the service did not start: ${output}`)));
  });
  await started;
  const server = /^Pressledger is ready at (\S+)$/m.exec(output)?.[1] ?? '';
  const apiKey = /API key: {2}(\S+)/.exec(output)?.[1] ?? '';

  const command = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await promisify(execFile)(LAUNCHER, [...args, '--json'], { env });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return {
    pid: child.pid ?? 0,
    client: new PressledgerClient({ server, apiKey }),
    account: async (name) => {
      const email = `${name}@example.com`;
      await command('account', 'create', '--email', email, '--credits', MANY);
      const { key } = await command('key', 'create', email, '--name', 'bench');
      return new PressledgerClient({ server, apiKey: String(key) });
    },
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Resolves when the PDF is there to be fetched. @throws {Error} when there is none */
export async function untilCompleted(client: PressledgerClient, id: string): Promise<void> {
  const { status, error_message: message } = await client.get(id, { waitSeconds: WAIT_SECONDS });
  if (status !== 'completed') throw new Error(`${id} is ${status}: ${message ?? ''}`);
}

export async function convert(client: PressledgerClient, html: string): Promise<void> {
  const { id } = await client.create({ html });
  await untilCompleted(client, id);
}
