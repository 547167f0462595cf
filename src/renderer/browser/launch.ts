/** Starts one Chrome with a profile of its own, in a process group of its own. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { resultWithin } from '../../async/with-timeout.ts';
import { Cgroup, removeCgroup } from './cgroup.ts';
import { Connection, type Result } from './connection.ts';
import { ChromeGone, ChromeStartError } from './failure.ts';
import { isHeadlessShell } from './find.ts';
import { chromeFlags, FRAMES_ON_COMMAND } from './flags.ts';
import { crashFolder, killGroup, recordProcess, removeProfile } from './processes.ts';

const START_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 2_000;
const OUTPUT_FILE = 'chrome-output.log';
const OUTPUT_LINES = 8;

export interface LaunchOptions {
  readonly path: string;
  /** The directory that the profile is made in. The profile is removed with the browser. */
  readonly directory: string;
  /** The most data that each of its processes may map, as the kernel counts it; default: no limit. */
  readonly maxProcessBytes?: number;
  /** The most memory of all its processes together, where the kernel bounds it; default: no limit. */
  readonly maxChromeBytes?: number;
}

export interface LaunchedChrome {
  /** The process id, and the id of its process group. */
  readonly pid: number;
  readonly profile: string;
  /** Product and version as Chrome reports them. */
  readonly product: string;
  /** The revision of Chrome's sources. */
  readonly revision: string;
  /** The flags but those that name the profile and the pipe. */
  readonly flags: readonly string[];
  /** True for a headless shell, false for a full Chrome. */
  readonly isShell: boolean;
  /** The reason why there is no sandbox, where there is none. */
  readonly sandboxNote: string | undefined;
  readonly connection: Connection;
  /** Bounds its memory; undefined where the service may make no control group. */
  readonly cgroup: Cgroup | undefined;
  /** Ends every process of this browser and removes its profile. */
  end(): Promise<void>;
}

/** The part of our environment that Chrome may know: it runs strangers' pages and needs no secret. */
function chromeEnvironment(profile: string, logFile: string): NodeJS.ProcessEnv {
  const names = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH'];
  const known = Object.entries(process.env).filter(
    ([name]) => names.includes(name) || name.startsWith('FONTCONFIG_'),
  );
  return {
    ...Object.fromEntries(known),
    CHROME_LOG_FILE: logFile,
    // A full Chrome stores the memory of a tab that crashes, whatever its flags say. In the user's home it would remain.
    BREAKPAD_DUMP_LOCATION: crashFolder(profile),
    // A full Chrome would make a file of settings there, too.
    GSETTINGS_BACKEND: 'memory',
  };
}

/**
 * Commands that put Chrome into its control group, end it with the thread that started it, and bound the
 * memory of its processes; those that this host has. Each of them becomes Chrome, with its process id.
 */
function wrappers(maxBytes: number | undefined, cgroup: Cgroup | undefined): string[] {
  return [
    cgroup?.enter ?? [],
    ['setpriv', '--pdeathsig', 'KILL'],
    ['prlimit', `--data=${maxBytes ?? 'unlimited'}`],
  ]
    .filter(([command, ...args]) => command !== undefined && isUsable(command, args))
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

/** Chrome's own words, without time stamps and without the complaints that mean nothing. */
async function chromeComplaint(profile: string): Promise<string> {
  const text = await readFile(join(profile, OUTPUT_FILE), 'utf8').catch(() => '');
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/vaapi|dbus/.test(line));
  return lines.slice(0, OUTPUT_LINES).join(' | ');
}

interface Started {
  readonly pid: number;
  readonly connection: Connection;
  /** Tells how it ended. */
  readonly ended: Promise<string>;
}

/** Starts the process: its output goes to a file in the profile, descriptors 3 and 4 are pipes to us. */
function spawnChrome(
  { path, maxProcessBytes }: LaunchOptions,
  flags: readonly string[],
  profile: string,
  cgroup: Cgroup | undefined,
): Started {
  // Chrome logs what pages write to their console, and that must not be kept: its log goes to a folder that does
  // not exist. It must not go to /dev/null: Chrome deletes the file that it finds and makes a new one. A headless
  // shell reads the flag, any other Chrome the environment.
  const logFile = join(profile, 'no-such-folder', 'log');
  const own = [
    '--remote-debugging-pipe',
    `--enable-logging=${logFile}`,
    `--user-data-dir=${profile}`,
    'about:blank',
  ];
  const around = wrappers(maxProcessBytes, cgroup);
  const [command = path, ...args] = [...around, path, ...flags, ...own];
  const output = openSync(join(profile, OUTPUT_FILE), 'a', 0o600);
  try {
    const child = spawn(command, args, {
      detached: true,
      stdio: ['ignore', output, output, 'pipe', 'pipe'],
      env: chromeEnvironment(profile, logFile),
    });
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `status ${code}`}`));
    });
    const { pid } = child;
    if (pid === undefined) throw new Error('it cannot be run');
    const [, , , commands, messages] = child.stdio;
    if (!(commands instanceof Writable && messages instanceof Readable)) {
      throw new TypeError('it has no pipes');
    }
    child.unref();
    return {
      pid,
      connection: new Connection(commands, messages, flags.includes(FRAMES_ON_COMMAND)),
      ended,
    };
  } finally {
    // Chrome has a descriptor of its own. Ours would stay open as long as the service runs.
    closeSync(output);
  }
}

/** The first command waits until Chrome is ready. */
async function askVersion({ connection, ended }: Started): Promise<Result<'Browser.getVersion'>> {
  try {
    return await connection.send('Browser.getVersion', undefined, START_TIMEOUT_MS);
  } catch (error) {
    if (!(error instanceof ChromeGone)) throw error;
    throw new Error((await resultWithin(ended, END_TIMEOUT_MS)) ?? error.message, { cause: error });
  }
}

async function attempt(options: LaunchOptions, sandboxNote?: string): Promise<LaunchedChrome> {
  const isShell = isHeadlessShell(options.path);
  const flags = chromeFlags({
    sandbox: sandboxNote === undefined,
    framesOnCommand: isShell && process.platform === 'linux',
  });
  const profile = await mkdtemp(join(options.directory, 'chrome-'));
  const { maxChromeBytes } = options;
  const cgroup = maxChromeBytes === undefined ? undefined : Cgroup.make(profile, maxChromeBytes);
  let started: Started | undefined;
  const end = async (): Promise<void> => {
    if (started !== undefined) {
      killGroup(started.pid);
      await resultWithin(started.ended, END_TIMEOUT_MS);
      started.connection.close();
    }
    if (cgroup) await removeCgroup(cgroup.path);
    await removeProfile(profile);
  };
  let ending: Promise<void> | undefined;
  try {
    started = spawnChrome(options, flags, profile, cgroup);
    const { pid, connection } = started;
    recordProcess(pid, profile, cgroup?.path);
    const { product, revision } = await askVersion(started);
    return {
      pid,
      profile,
      product,
      revision,
      flags,
      isShell,
      sandboxNote,
      connection,
      cgroup,
      end: () => {
        ending ??= end();
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

const AS_ROOT =
  'this process runs as root, which Chrome cannot confine. For a try that is fine; where strangers send pages, run the service as another user';
const NO_NAMESPACES =
  'this system allows no unprivileged user namespaces, which Chrome needs for it. For a try that is fine; where strangers send pages, allow them';

/**
 * Starts Chrome, sandboxed wherever the host allows it.
 * @throws {ChromeStartError} with the path, Chrome's own words and what to do
 */
export async function launchChrome(options: LaunchOptions): Promise<LaunchedChrome> {
  if (process.getuid?.() === 0) return await attempt(options, AS_ROOT);
  try {
    return await attempt(options);
  } catch (error) {
    if (!(error instanceof ChromeStartError) || !/sandbox/i.test(error.message)) throw error;
    return await attempt(options, NO_NAMESPACES);
  }
}
