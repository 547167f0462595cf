/** Starts one Chrome with a profile of its own, in a process group of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Launcher } from 'chrome-launcher';
import CDP from 'chrome-remote-interface';
import { Connection } from './connection.ts';
import { unlessLate } from './deadline.ts';
import { ChromeStartError } from './failure.ts';
import { chromeFlags } from './flags.ts';
import { killGroup, recordProcess, removeProfile } from './processes.ts';

const START_TIMEOUT_MS = 20_000;
const POLL_MS = 15;
const STDERR_LINES = 8;

export interface LaunchOptions {
  readonly path: string;
  /** Where the profile is made; removed with the browser. */
  readonly directory: string;
  readonly proxyPort: number;
  /** The most data that each of its processes may map, as the kernel counts it; default: no limit. */
  readonly maxProcessBytes?: number;
}

export interface LaunchedChrome {
  /** Also the id of its process group. */
  readonly pid: number;
  readonly profile: string;
  /** Product and version as Chrome reports them. */
  readonly product: string;
  /** Of Chrome's sources. */
  readonly revision: string;
  /** Our own, without those the launcher adds for itself. */
  readonly flags: readonly string[];
  readonly sandboxed: boolean;
  /** Why there is no sandbox. */
  readonly sandboxNote: string | undefined;
  readonly connection: Connection;
  /** Ends every process of this browser and removes its profile. */
  end(): Promise<void>;
}

/** What Chrome may know of our environment: it runs strangers' pages and needs no secret of ours. */
function chromeEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'];
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => names.includes(name) || name.startsWith('FONTCONFIG_'),
    ),
  );
}

/**
 * Commands that ask the kernel to end Chrome when the thread that started it ends, and to bound the
 * memory of its processes; those that this host has. Each of them becomes Chrome, with its process id.
 */
function wrappers(maxBytes: number | undefined): string[] {
  return [
    ['setpriv', '--pdeathsig', 'KILL'],
    ['prlimit', `--data=${maxBytes ?? 'unlimited'}`],
  ]
    .filter(([command = '', ...args]) => isUsable(command, args))
    .flat();
}

const usable = new Map<string, boolean>();
function isUsable(command: string, args: readonly string[]): boolean {
  const known = usable.get(command);
  if (known !== undefined) return known;
  const runs = spawnSync(command, [...args, 'true'], { stdio: 'ignore' }).status === 0;
  usable.set(command, runs);
  return runs;
}

/** The library's launcher, which by itself goes on polling for a Chrome that has long exited. */
class WatchingLauncher extends Launcher {
  override async waitUntilReady(): Promise<void> {
    const end = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < end) {
      const child: ChildProcess | undefined = this.chromeProcess;
      if (child?.pid === undefined) throw new Error('it cannot be run');
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`it ended with ${child.signalCode ?? `status ${child.exitCode}`}`);
      }
      if (await accepts(this.port ?? 0)) return;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw new Error(`it did not answer within ${START_TIMEOUT_MS / 1000} seconds`);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (accepted: boolean) => () => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
}

/** Chrome's own words, without time stamps and without the complaints that mean nothing. */
async function chromeComplaint(profile: string): Promise<string> {
  const text = await readFile(join(profile, 'chrome-err.log'), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/vaapi|dbus/.test(line));
  return lines.slice(0, STDERR_LINES).join(' | ');
}

async function attempt(options: LaunchOptions, sandbox: boolean): Promise<LaunchedChrome> {
  const flags = chromeFlags({ proxyPort: options.proxyPort, sandbox });
  const profile = await mkdtemp(join(options.directory, 'chrome-'));
  const launcher = new WatchingLauncher(
    {
      chromePath: options.path,
      chromeFlags: flags,
      ignoreDefaultFlags: true,
      userDataDir: profile,
      handleSIGINT: false,
      logLevel: 'silent',
      envVars: chromeEnvironment(),
    },
    { spawn: spawnInto(profile, options.maxProcessBytes) as typeof spawn },
  );
  const end = async (): Promise<void> => {
    const child = launcher.chromeProcess;
    if (child?.pid !== undefined) {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      killGroup(child.pid);
      if (child.exitCode === null && child.signalCode === null) await unlessLate(exited, 2_000);
    }
    launcher.destroyTmp();
    await removeProfile(profile);
  };
  let ending: Promise<void> | undefined;
  try {
    await launcher.launch();
    const pid = launcher.pid ?? 0;
    const version = await CDP.Version({ host: '127.0.0.1', port: launcher.port });
    const connection = await Connection.open(version.webSocketDebuggerUrl);
    const { revision } = await connection.send('Browser.getVersion', undefined, 5_000);
    // The port was free a moment ago and is not ours by right: make sure who answers there.
    const { processInfo } = await connection.send('SystemInfo.getProcessInfo', undefined, 5_000);
    if (!processInfo.some((each) => each.type === 'browser' && each.id === pid)) {
      throw new Error('another program answers on its debugging port');
    }
    return {
      pid,
      profile,
      product: version.Browser,
      revision,
      flags,
      sandboxed: sandbox,
      sandboxNote: undefined,
      connection,
      end: () => {
        // Chrome first: one that stands still would not take part in closing the socket.
        ending ??= end().finally(() => void connection.close().catch(() => {}));
        return ending;
      },
    };
  } catch (cause) {
    const complaint = await chromeComplaint(profile);
    await end();
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ChromeStartError(
      `Chrome at ${options.path} did not start: ${reason}. ` +
        (complaint === '' ? 'It said nothing. ' : `It said: ${complaint}. `) +
        'Check that it runs by itself with --version, install chromium-headless-shell, or set ' +
        'CHROME_PATH to another.',
      { cause },
    );
  }
}

type SpawnOptions = Parameters<typeof spawn>[2];

function spawnInto(profile: string, maxBytes: number | undefined) {
  return (path: string, flags: readonly string[], options: SpawnOptions): ChildProcess => {
    const [command = path, ...args] = [...wrappers(maxBytes), path, ...flags];
    const child = spawn(command, args, options);
    // A program that cannot be run is noticed by the launcher's wait.
    child.on('error', () => {});
    if (child.pid !== undefined) recordProcess(child.pid, profile);
    child.unref();
    return child;
  };
}

/**
 * Starts Chrome, sandboxed wherever the host allows it.
 * @throws {ChromeStartError} with the path, Chrome's own words and what to do
 */
export async function launchChrome(options: LaunchOptions): Promise<LaunchedChrome> {
  if (process.getuid?.() === 0) {
    const chrome = await attempt(options, false);
    return { ...chrome, sandboxNote: 'the service runs as root; run it as another user' };
  }
  try {
    return await attempt(options, true);
  } catch (error) {
    if (!(error instanceof ChromeStartError) || !/sandbox/i.test(error.message)) throw error;
    const chrome = await attempt(options, false);
    return {
      ...chrome,
      sandboxNote: 'this host allows no unprivileged user namespaces, which the sandbox needs',
    };
  }
}
