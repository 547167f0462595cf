/** A real nats-server with JetStream on loopback, in a directory of its own, that a test may kill. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect as dial } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Test } from 'tap';
import { eventually } from './deadline.ts';
import { freePort } from './free-port.ts';
import { standsStill } from './processes.ts';

const READY_MS = 60_000;
/** Another process may take a free port before the server does. */
const TRIES = 3;

export interface NatsServerOptions {
  /** False: a server without JetStream. */
  readonly jetStream?: boolean;
  /** Its name in a cluster; default `test`. */
  readonly name?: string;
  /** More of its configuration file, such as users and their permissions. */
  readonly config?: string;
}

export interface NatsServer {
  /** Without credentials. */
  readonly url: string;
  readonly port: number;
  /** Its process; 0 while it does not run. */
  readonly pid: () => number;
  /** The directory of JetStream's files. */
  readonly storeDir: string;
  /** Ends it in an orderly way. */
  stop(): Promise<void>;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again on the same port, after killing it if it runs. */
  restart(options?: { readonly loseData?: boolean }): Promise<void>;
  /** Stops it without ending it: connections stay, and nothing answers. */
  freeze(): Promise<void>;
  thaw(): void;
}

/** The program, where there is one. */
export function findNatsServer(): string | undefined {
  const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  for (const directory of directories) {
    const path = join(directory, 'nats-server');
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  return undefined;
}

/** Whether a server greets: it does so only when it serves, JetStream included. */
async function greets(port: number): Promise<true | undefined> {
  const socket = dial(port, '127.0.0.1');
  try {
    const [greeting] = await once(socket, 'data', { signal: AbortSignal.timeout(1000) });
    return String(greeting).startsWith('INFO ') ? true : undefined;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Started for one test, gone with all its files when the test ends. */
export async function startNatsServer(
  t: Pick<Test, 'teardown'>,
  options: NatsServerOptions = {},
): Promise<NatsServer> {
  const path = findNatsServer();
  if (path === undefined) {
    throw new Error('There is no nats-server in PATH or /usr/sbin: apt-get install nats-server.');
  }
  const directory = mkdtempSync(join(tmpdir(), 'pressledger-nats-'));
  const configFile = join(directory, 'nats.conf');
  const storeDir = join(directory, 'store');
  let port = await freePort();
  let child: ChildProcess | undefined;
  let output = '';

  const start = async (): Promise<void> => {
    const jetStream = options.jetStream === false ? '' : `jetstream { store_dir: "${storeDir}" }\n`;
    const listen = `listen: "127.0.0.1:${port}"\nserver_name: ${options.name ?? 'test'}\n`;
    writeFileSync(configFile, `${listen}${jetStream}${options.config ?? ''}\n`);
    output = '';
    const started = spawn(path, ['-c', configFile], { stdio: ['ignore', 'ignore', 'pipe'] });
    started.stderr.on('data', (text) => {
      output += String(text);
    });
    child = started;
    await eventually(
      'nats-server',
      () => {
        if (started.exitCode !== null) throw new Error(`nats-server did not start: ${output}`);
        return greets(port);
      },
      READY_MS,
    );
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, 'exit');
    running.kill(signal);
    running.kill('SIGCONT');
    await ended;
  };
  const onExit = (): void => {
    child?.kill('SIGKILL');
  };
  process.once('exit', onExit);
  t.teardown(async () => {
    process.off('exit', onExit);
    await end('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  for (let tries = 1; ; tries += 1) {
    try {
      await start();
      break;
    } catch (error) {
      await end('SIGKILL');
      if (tries === TRIES) throw error;
      port = await freePort();
    }
  }

  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pid: () => child?.pid ?? 0,
    storeDir,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: async ({ loseData = false } = {}) => {
      await end('SIGKILL');
      if (loseData) rmSync(storeDir, { recursive: true, force: true });
      await start();
    },
    freeze: async () => {
      if (child?.kill('SIGSTOP') === true) await standsStill(child.pid ?? 0);
    },
    thaw: () => void child?.kill('SIGCONT'),
  };
}

/** A connection that comes back, soon, whenever its server does. */
export async function connectForGood(
  t: Pick<Test, 'teardown'>,
  url: string,
): Promise<NatsConnection> {
  const connection = await connect({
    servers: url,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 50,
  });
  t.teardown(() => connection.close());
  return connection;
}
