/**
 * Tells which processes are ours. A node that was killed cannot end its Chromes, so each Chrome leaves a
 * record beside its profile, from which the next start ends it: only a process whose number, start
 * time and command line all agree.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, readlink, rm, rmdir, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { removeCgroup } from './cgroup.ts';

const RECORD_SUFFIX = '.process.json';
/** Another host's directory on a shared disk is left alone until it is this old. */
const FOREIGN_AGE_MS = 24 * 60 * 60 * 1000;

interface ProcessRecord {
  readonly pid: number;
  readonly startTime: string;
  readonly profile: string;
  /** The directory of its control group. */
  readonly cgroup?: string | undefined;
}

/** The ids of all processes of this machine; none where there is no /proc. */
export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Fields of a process's `stat`, numbered as in proc(5); none if it is gone or there is no /proc. */
function statFields(pid: number | string, ...numbers: number[]): (string | undefined)[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may itself contain spaces and parentheses; field 3 is the first after it.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return numbers.map((number) => fields[number - 3]);
  } catch {
    return [];
  }
}

/** In clock ticks since boot. */
const startTime = (pid: number): string | undefined => statFields(pid, 22)[0];

/** True once a process has ended. Where there is /proc, also before its parent has asked for its status. */
export function hasEnded(pid: number): boolean {
  if (statFields(pid, 3)[0] === 'Z') return true;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** The processor time that a process has taken, in clock ticks, of which Linux has 100 in a second. */
export const cpuTicks = (pid: number): number =>
  statFields(pid, 14, 15).reduce((sum, ticks) => sum + Number(ticks), 0);

export const processGroup = (pid: string): number => Number(statFields(pid, 5)[0]);

/** Ends a process group that this node started. A group that is gone already is fine. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Records a Chrome synchronously: nothing may come between its start and its record. */
export function recordProcess(pid: number, profile: string, cgroup?: string): void {
  const record: ProcessRecord = { pid, startTime: startTime(pid) ?? '', profile, cgroup };
  writeFileSync(profile + RECORD_SUFFIX, JSON.stringify(record));
}

/** The folder in which a full Chrome stores the memory of a tab that crashes. */
export const crashFolder = (profile: string): string => join(profile, 'crashes');

/** Ends the processes that a full Chrome has outside its group, which store crashes and may outlive it. */
async function killCrashHandlers(profile: string): Promise<void> {
  const folder = crashFolder(profile);
  if (!existsSync(folder)) return;
  for (const pid of processIds()) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (!commandLine.split('\0').includes(`--database=${folder}`)) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
}

/** Removes the folder among the temporary files in which a full Chrome has a socket. Its profile has a link to that. */
async function removeSocket(profile: string): Promise<void> {
  try {
    const folder = dirname(await readlink(join(profile, 'SingletonSocket')));
    // A page that broke out could write any link: nothing is removed but files of these names.
    for (const name of ['SingletonSocket', 'SingletonCookie']) await unlink(join(folder, name));
    await rmdir(folder);
  } catch {
    // A headless shell has none.
  }
}

/** Removes a profile whose Chrome has ended, and its record. What resists goes with the node's directory. */
export async function removeProfile(profile: string): Promise<void> {
  await killCrashHandlers(profile);
  await removeSocket(profile);
  // Chrome's helpers may still be writing while they end.
  const options = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 };
  await rm(profile, options).catch(() => {});
  await rm(profile + RECORD_SUFFIX, { force: true });
}

/** A directory of this process's own below `parent`, named so that a later start knows its owner. */
export async function makeNodeDirectory(parent: string): Promise<string> {
  const owner = `${process.pid}-${startTime(process.pid) ?? 0}`;
  const directory = join(parent, `node-${owner}-${hostname()}`);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return directory;
}

async function ownerIsAlive(directory: string, name: string): Promise<boolean> {
  const [, pid = '', started = '', ...host] = name.split('-');
  if (host.join('-') !== hostname()) {
    const { mtimeMs } = await stat(directory);
    return Date.now() - mtimeMs < FOREIGN_AGE_MS;
  }
  const now = startTime(Number(pid));
  return now !== undefined && (started === '0' || now === started);
}

async function killRecorded({ pid, startTime: started, profile }: ProcessRecord): Promise<boolean> {
  if (startTime(pid) !== started) return false;
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!commandLine.split('\0').includes(`--user-data-dir=${profile}`)) return false;
  killGroup(pid);
  return true;
}

/**
 * Ends every Chrome recorded in a node's directory and removes the directory.
 * @returns how many Chromes were ended
 */
export async function endNode(directory: string): Promise<number> {
  let ended = 0;
  const files = await readdir(directory).catch(() => []);
  for (const file of files.filter((each) => each.endsWith(RECORD_SUFFIX))) {
    try {
      const record = JSON.parse(await readFile(join(directory, file), 'utf8')) as ProcessRecord;
      if (await killRecorded(record)) ended += 1;
      if (record.cgroup !== undefined) await removeCgroup(record.cgroup);
      await killCrashHandlers(record.profile);
      await removeSocket(record.profile);
    } catch {
      // A record that was not written to its end, or is gone: another start sweeps here too.
    }
  }
  // Chrome's helpers may still be writing while they end.
  await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  return ended;
}

/**
 * Ends the Chromes that dead nodes left behind below `parent` and removes their files.
 * @returns how many Chromes were ended
 */
export async function reapLeftovers(parent: string): Promise<number> {
  let ended = 0;
  const names = await readdir(parent).catch(() => []);
  for (const name of names.filter((each) => each.startsWith('node-'))) {
    const directory = join(parent, name);
    // Another start may be sweeping the same directory: what is gone is done.
    if (await ownerIsAlive(directory, name).catch(() => true)) continue;
    ended += await endNode(directory);
  }
  return ended;
}
