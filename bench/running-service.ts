/** The product as a user starts it, in a process and a data directory of its own. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PressledgerClient } from '../client/src/client.ts';
import { isAddress } from './documents.ts';

export const LAUNCHER = join(import.meta.dirname, '../bin/pressledger');
const MANY = '1000000';

export interface RunningService {
  /** Its process, whose children are the Chromes. */
  readonly pid: number;
  /** Its origin. */
  readonly server: string;
  /** The first account's, as is the client. */
  readonly apiKey: string;
  readonly client: PressledgerClient;
  /** A key of a new account, with many credits. */
  accountKey(name: string, plan?: 'free' | 'starter' | 'pro'): Promise<string>;
  /** A client of a new account. */
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

/** The environment of a process of the service that has its data in the directory. */
export function settingsOf(
  directory: string,
  settings: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv {
  const tmp = join(directory, 'tmp');
  mkdirSync(tmp, { recursive: true });
  return {
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
}

/** @param ready what its output says once it is ready, and what of it is wanted */
async function startRole(
  role: 'start' | 'api' | 'renderer',
  directory: string,
  settings: Readonly<Record<string, string>>,
  ready: readonly RegExp[],
): Promise<Started> {
  const env = settingsOf(directory, settings);
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

/**
 * @param role `api` needs renderers beside it
 * @param knownKey the first account's, where the store is not new
 */
export async function startService(
  directory: string,
  settings: Readonly<Record<string, string>> = {},
  role: 'start' | 'api' = 'start',
  knownKey?: string,
): Promise<RunningService> {
  const { pid, env, found, stop } = await startRole(role, directory, settings, [
    /^Pressledger is ready at (\S+)$/m,
    ...(knownKey === undefined ? [/API key: {2}(\S+)/] : []),
  ]);
  const [server = '', apiKey = knownKey ?? ''] = found;
  const command = async (...args: string[]): Promise<Record<string, unknown>> => {
    const { stdout } = await promisify(execFile)(LAUNCHER, [...args, '--json'], { env });
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const accountKey: RunningService['accountKey'] = async (name, plan = 'free') => {
    const email = `${name}@example.com`;
    await command('account', 'create', '--email', email, '--credits', MANY, '--plan', plan);
    const { key } = await command('key', 'create', email, '--name', 'bench');
    return String(key);
  };
  return {
    pid,
    server,
    apiKey,
    client: new PressledgerClient({ server, apiKey }),
    accountKey,
    account: async (name) => new PressledgerClient({ server, apiKey: await accountKey(name) }),
    stop,
  };
}

export async function startRenderer(
  directory: string,
  settings: Readonly<Record<string, string>>,
): Promise<Pick<RunningService, 'pid' | 'stop'>> {
  return await startRole('renderer', directory, settings, [/renderer is ready; (.+)$/m]);
}

/** @returns the id of the conversion that was accepted */
export async function create(client: PressledgerClient, document: string): Promise<string> {
  const { id } = await client.create(isAddress(document) ? { url: document } : { html: document });
  return id;
}

/** Resolves when the PDF is there to be fetched. @throws {Error} when there is none */
export async function untilCompleted(client: PressledgerClient, id: string): Promise<void> {
  const { status, error_message: message } = await client.wait(id);
  if (status !== 'completed') throw new Error(`${id} is ${status}: ${message ?? ''}`);
}

export async function convert(client: PressledgerClient, document: string): Promise<void> {
  await untilCompleted(client, await create(client, document));
}

/** Posts as a client with many documents does: so many at once, each as soon as one has ended. */
export async function convertAll(
  clients: readonly PressledgerClient[],
  documents: readonly string[],
  atOnce: number,
): Promise<void> {
  const queue = documents.entries();
  const work = async (): Promise<void> => {
    for (const [index, document] of queue) {
      const client = clients[index % clients.length];
      if (client) await convert(client, document);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
