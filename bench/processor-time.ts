/** Processor time of a process and everything below it, which a busy machine does not distort as much. */
import { readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 10;

/** In milliseconds, with that of children that have ended and were waited for. */
export function processorTime(root: number): number {
  const times = new Map<number, number>();
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const parent = Number(fields[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
      const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
      times.set(Number(name), ticks * TICK_MS);
    } catch {
      // It ended meanwhile.
    }
  }
  const below = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + below(child), times.get(pid) ?? 0);
  return below(root);
}
