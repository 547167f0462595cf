/** Measures what a running service takes of the machine. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { descendants } from '../../test/support/processes.ts';

const PAGE_MIB = 4_096 / 1024 ** 2;

export interface Resources {
  /** Memory that its own process shares with no other, in MiB; and that of its Chromes. */
  readonly node: number;
  readonly chrome: number;
  readonly processes: number;
  /** Open descriptors of its own process. */
  readonly descriptors: number;
  /** All files of its data directory, in MiB. */
  readonly disk: number;
}

function unshared(pid: number): number {
  try {
    const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ');
    return (Number(resident) - Number(shared)) * PAGE_MIB;
  } catch {
    // It ended meanwhile.
    return 0;
  }
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name);
    try {
      return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size);
    } catch {
      // It is gone meanwhile.
      return sum;
    }
  }, 0);
}

export function resourcesOf(pid: number, dataDir: string): Resources {
  const chromes = descendants(pid);
  return {
    node: unshared(pid),
    chrome: chromes.reduce((sum, chrome) => sum + unshared(chrome.pid), 0),
    processes: chromes.length,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    disk: bytesBelow(dataDir) / 1024 ** 2,
  };
}
