/** The product as a user starts it, in a process and a data directory of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PressledgerClient } from '../client/src/client.ts';

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

interface Started {
  readonly pid: number;
  readonly env: NodeJS.ProcessEnv;
  /** What `ready` found in standard output. */
  readonly found: readonly string[];
  readonly stop: () => Promise<void>;
}

/** @param ready what its output says once it is ready, and what of it is wanted */
async function startRole(
  role: 'start' | 'api' | 'renderer',
  directory: string,
  settings: Readonly<Record<string, string>>,
  ready: readonly RegExp[],
): Promise<Started> {
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
  const child = spawn(LAUNCHER, [role], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const found = await new Promise<readonly string[]>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const matches = ready.map((pattern) => pattern.exec(output)?.[1]);
      const all = matches.filter((each) => each !== undefined);
      if (all.length === ready.length) resolve(all);
    });
    child.once('exit', () => reject(new Error(`${role} did not start: ${output}`)));
  });
  return {
    pid: child.pid ?? 0,
    env,
    found,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** @param role `api` needs renderers beside it */
export async function startService(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
  role: 'start' | 'api' = 'start',
): Promise<RunningService> {
  const { pid, env, found, stop } = await startRole(role, directory, settings, [
    /^Pressledger is ready at (\S+)$/m,
    /API key: {2}(\S+)/,
  ]);
  const [server = '', apiKey = ''] = found;
  const command = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await promisify(execFile)(LAUNCHER, [...args, '--json'], { env });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  return {
    pid,
    client: new PressledgerClient({ server, apiKey }),
    account: async (name) => {
      const email = `${name}@example.com`;
      await command('account', 'create', '--email', email, '--credits', MANY);
      const { key } = await command('key', 'create', email, '--name', 'bench');
      return new PressledgerClient({ server, apiKey: String(key) });
    },
    stop,
  };
}

export async function startRenderer(
  directory: string,
  settings: Readonly<Record<string, string>>,
): Promise<Pick<RunningService, 'pid' | 'stop'>> {
  return await startRole('renderer', directory, settings, [/renderer is ready; (.+)$/m]);
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

/** Posts as a client with many documents does: so many at once, each as soon as one has ended. */
export async function convertAll(
  clients: readonly PressledgerClient[],
  documents: readonly string[],
  atOnce: number,
): Promise<void> {
  const queue = documents.entries();
  const work = async (): Promise<void> => {
    for (const [index, html] of queue) {
      const client = clients[index % clients.length];
      if (client) await convert(client, html);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
