/**
 * Names temporary files after the process that writes them, so that a later start knows the abandoned
 * ones. A bare process number is not enough: two containers on one volume count theirs apart.
 */
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename } from 'node:path';

/** Nobody takes this long for one file; what another container left is known by its age alone. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;
const WRITER = /(?:^|\.)([0-9a-f]{12})-(\d+)-(\d+)-[^.]*(?:\.tmp)?$/;

let own: string | undefined;

/** `<where>-<process number>-<start>`, the same for the whole life of this process. */
export function writerName(): string {
  own ??= `${place()}-${process.pid}-${startOf(process.pid) ?? 0}`;
  return own;
}

/** True if the file is named after a writer that can no longer be writing it. */
export function isAbandoned(path: string, now = Date.now()): boolean {
  const [, where, pid, start] = WRITER.exec(basename(path)) ?? [];
  if (where !== undefined && `${where}-${pid}-${start}` === writerName()) return false;
  if (where === place()) return !isRunning(Number(pid), Number(start));
  const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return written !== undefined && now - written > ABANDONED_AFTER_MS;
}

/** The boot and the process namespace in which a number means one process. */
function place(): string {
  const parts = [
    hostname(),
    attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
    attempt(() => readlinkSync('/proc/self/ns/pid')),
  ];
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 12);
}

function isRunning(pid: number, start: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  // The number may have gone to another process since.
  return (startOf(pid) ?? start) === start;
}

/** Returns the start of a process in clock ticks since the boot; undefined if there is no /proc to ask. */
function startOf(pid: number): number | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The command's name, in parentheses, may hold anything; the 20th field after it is the start.
  const field = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return field === undefined ? undefined : Number(field);
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
