/** Starts one Chrome with a profile of its own, in a process group of its own. */
import { spawn, type SpawnOptions, spawnSync } from 'node:child_process';
import { closeSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Launcher } from 'chrome-launcher';
import { resultWithin } from '../../async/with-timeout.ts';
import { Cgroup, removeCgroup } from './cgroup.ts';
import { Connection, type Result } from './connection.ts';
import { ChromeGone, ChromeStartError } from './failure.ts';
import { isHeadlessShell } from './find.ts';
import { chromeFlags, FRAMES_ON_COMMAND } from './flags.ts';
import { crashFolder, killGroup, recordProcess, removeProfile } from './processes.ts';

const START_TIMEOUT_MS = 20_000;
const END_TIMEOUT_MS = 2_000;
/** chrome-launcher's names for what Chrome writes to its standard error and output. */
const OUTPUT_FILES = ['chrome-err.log', 'chrome-out.log'];
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
  const texts = OUTPUT_FILES.map((name) => readFile(join(profile, name), 'utf8').catch(() => ''));
  const text = (await Promise.all(texts)).join('\n');
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/vaapi|dbus/.test(line));
  return lines.slice(0, OUTPUT_LINES).join(' | ');
}

interface Started {
  readonly pid: number;
  readonly connection: Connection;
  /** Tells how it ended. */
  readonly ended: Promise<string>;
}

/** Starts the process: its output goes to files in the profile, descriptors 3 and 4 are pipes to us. */
async function spawnChrome(
  { path, maxProcessBytes }: LaunchOptions,
  flags: readonly string[],
  profile: string,
  cgroup: Cgroup | undefined,
): Promise<Started> {
  // Chrome logs what pages write to their console, and that must not be kept: its log goes to a folder that does
  // not exist. It must not go to /dev/null: Chrome deletes the file that it finds and makes a new one. A headless
  // shell reads the flag, any other Chrome the environment.
  const logFile = join(profile, 'no-such-folder', 'log');
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  // chrome-launcher calls this once. It does not bound, record or follow what it starts.
  const spawned: { pid?: number | undefined } = {};
  const spawnBounded = ((chrome: string, args: readonly string[], options: SpawnOptions) => {
    const [command = chrome, ...rest] = [...wrappers(maxProcessBytes, cgroup), chrome, ...args];
    try {
      const child = spawn(command, rest, options);
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(`it ended with ${signal ?? `status ${code}`}`));
      spawned.pid = child.pid;
      if (child.pid === undefined) throw new Error('it cannot be run');
      recordProcess(child.pid, profile, cgroup?.path);
      child.unref();
      return child;
    } finally {
      // Chrome has a descriptor of its own. chrome-launcher would never close ours.
      const [, , errors] = options.stdio ?? [];
      if (typeof errors === 'number') closeSync(errors);
    }
  }) as typeof spawn;
  const launcher = new Launcher(
    {
      chromePath: path,
      ignoreDefaultFlags: true,
      chromeFlags: [
        ...flags,
        '--remote-debugging-pipe',
        `--enable-logging=${logFile}`,
        `--user-data-dir=${profile}`,
      ],
      // Below WSL it would give a Windows path as the profile of a Chrome for Linux.
      userDataDir: false,
      envVars: chromeEnvironment(profile, logFile),
    },
    { spawn: spawnBounded },
  );
  launcher.userDataDir = profile;
  try {
    await launcher.launch();
    const { incoming: messages, outgoing: commands } = launcher.remoteDebuggingPipes ?? {};
    const { pid } = spawned;
    if (pid === undefined || !(commands instanceof Writable && messages instanceof Readable)) {
      throw new TypeError('it has no pipes');
    }
    const connection = new Connection(commands, messages, flags.includes(FRAMES_ON_COMMAND));
    return { pid, connection, ended };
  } catch (error) {
    // It runs already where the disk is full: it could not be recorded.
    if (spawned.pid !== undefined) killGroup(spawned.pid);
    throw error;
  } finally {
    // Closes the file of Chrome's standard output. The profile stays.
    launcher.destroyTmp();
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
    started = await spawnChrome(options, flags, profile, cgroup);
    const { pid, connection } = started;
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
