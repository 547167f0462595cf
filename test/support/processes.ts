/** Which processes a service has started, as Linux tells it: none of them may outlive it. */
import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from './deadline.ts';

export interface ProcessRecord {
  readonly pid: number;
  /** Clock ticks since boot: with the pid, this names one process for good. */
  readonly startTime: string;
  readonly commandLine: string;
}

interface Entry extends ProcessRecord {
  readonly parent: number;
  readonly environment: string;
}

function readEntry(pid: number): Entry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; what follows it does not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return {
      pid,
      parent: Number(fields[1]),
      startTime: fields[19] ?? '',
      commandLine: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '),
      environment: readFileSync(`/proc/${pid}/environ`, 'latin1'),
    };
  } catch {
    return undefined;
  }
}

function allProcesses(): Entry[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((name) => readEntry(Number(name)) ?? []);
}

/** Every process below this one. */
export function descendants(pid: number): ProcessRecord[] {
  const all = allProcesses();
  const family = new Set([pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const each of all) if (family.has(each.parent)) family.add(each.pid);
  }
  return all.filter((each) => family.has(each.pid) && each.pid !== pid);
}

/** Processes that name the directory in their command line or environment. */
export function processesOf(directory: string): ProcessRecord[] {
  return allProcesses().filter(
    (each) => each.commandLine.includes(directory) || each.environment.includes(directory),
  );
}

export function isAlive({ pid, startTime }: ProcessRecord): boolean {
  return readEntry(pid)?.startTime === startTime;
}

/** Waits until a process that got SIGSTOP stands still: on a busy machine its threads run on until one has taken the signal. */
export async function standsStill(pid: number): Promise<void> {
  const states = (): readonly string[] =>
    readdirSync(`/proc/${pid}/task`).map((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').replace(/^.*\) (.).*$/s, '$1'),
    );
  await eventually(
    `the standstill of ${pid}`,
    () => states().every((state) => state === 'T') || undefined,
  );
}
