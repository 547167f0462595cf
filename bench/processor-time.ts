/** Processor time of processes, which a busy machine does not distort as much as a clock. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

interface Times {
  readonly parent: number;
  /** The process's own, in milliseconds. */
  readonly own: number;
  /** Those of children that have ended and were waited for. */
  readonly ended: number;
}

function timesOf(pid: number): Times | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ms = (from: number): number =>
      (Number(fields[from]) + Number(fields[from + 1])) * TICK_MS;
    return { parent: Number(fields[1]), own: ms(11), ended: ms(13) };
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}

/** In milliseconds: the process without its children. */
export const ownProcessorTime = (pid: number): number => timesOf(pid)?.own ?? 0;

/** In milliseconds: the process and everything below it, with children that have ended and were waited for. */
export function processorTime(root: number): number {
  const times = new Map<number, number>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const pid = Number(name);
    const { parent, own, ended } = timesOf(pid) ?? {};
    if (parent === undefined || own === undefined || ended === undefined) continue;
    children.set(parent, [...(children.get(parent) ?? []), pid]);
    times.set(pid, own + ended);
  }
  const below = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + below(child), times.get(pid) ?? 0);
  return below(root);
}
