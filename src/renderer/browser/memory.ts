/** The memory of one Chrome: what its processes use, and the bound on it while a document is rendered. */
import { readFileSync } from 'node:fs';
import type { Cgroup } from './cgroup.ts';
import { processGroup, processIds } from './processes.ts';

const MiB = 2 ** 20;
/**
 * The most that a browser and its warm tabs may hold between documents. It is replaced above that, so that a
 * page has its whole budget, whatever came before it.
 */
export const MAX_WARM_BYTES = 512 * MiB;
/**
 * Chrome's largest processes map some 600 MiB that they never touch, and the kernel counts all of it.
 * The rest lets the samples find a page first: they tell whose memory it was.
 */
const UNTOUCHED_BYTES = 1024 * MiB;
/** A page fills 4 GB in a second. A sample costs 0.6 ms of processor time. */
const SAMPLE_MS = 100;

/** The kernel's limit on the data of each process (RLIMIT_DATA): it holds between two samples, too. */
export function maxProcessBytes(maxPageBytes: number): number {
  return MAX_WARM_BYTES + maxPageBytes + UNTOUCHED_BYTES;
}

/** Anonymous and shared memory, without files: the kernel takes their pages back by itself. */
function residentBytes(pid: string): number {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    // It ended meanwhile.
    return 0;
  }
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+)/gm)].map(([, size]) =>
    Number(size),
  );
  return kilobytes.reduce((sum, each) => sum + each, 0) * 1024;
}

/**
 * The kernel's limit on all processes of a Chrome together, where it can be set. It is above the bound
 * that the samples hold: the kernel counts files and its own tables too.
 */
export function maxChromeBytes(maxPageBytes: number): number {
  return MAX_WARM_BYTES + maxPageBytes + 128 * MiB;
}

/** Adds up the memory of several Chromes: shared memory in each process that maps it; 0 where there is no /proc. */
export function usedBytes(groupIds: ReadonlySet<number>): number {
  return sumOf(processIds().filter((pid) => groupIds.has(processGroup(pid))));
}

const sumOf = (pids: readonly string[]): number =>
  pids.reduce((sum, pid) => sum + residentBytes(pid), 0);

export class ChromeMemory {
  readonly #groupId: number;
  readonly #maxBytes: number;
  readonly #onExceeded: () => void;
  readonly #cgroup: Pick<Cgroup, 'oomKills'> | undefined;
  #oomKillsBefore = 0;
  /** Every process of the host that was seen, and whether it is one of the group. */
  #seen = new Map<string, boolean>();
  #timer: NodeJS.Timeout | undefined;
  #exceeded = false;
  #peak = 0;

  /** @param onExceeded ends the Chrome; called once */
  constructor(
    groupId: number,
    maxBytes: number,
    onExceeded: () => void,
    cgroup?: Pick<Cgroup, 'oomKills'>,
  ) {
    this.#groupId = groupId;
    this.#maxBytes = maxBytes;
    this.#onExceeded = onExceeded;
    this.#cgroup = cgroup;
  }

  /** True once a page was ended, by the samples or by the kernel, because it used too much. */
  get exceeded(): boolean {
    return this.#exceeded || (this.#cgroup?.oomKills ?? 0) > this.#oomKillsBefore;
  }

  /** The largest sample of the document that was watched last, in bytes. */
  get peak(): number {
    return this.#peak;
  }

  /** True when a process of the watched document may have died because it got no more memory. */
  get wasShort(): boolean {
    return this.#peak > this.#maxBytes / 2;
  }

  /** Starts sampling for one document. Most end before the first sample. */
  watch(): void {
    this.rest();
    this.#peak = 0;
    this.#oomKillsBefore = this.#cgroup?.oomKills ?? 0;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  rest(): void {
    clearInterval(this.#timer);
  }

  /** As `usedBytes` does, for this Chrome. A process stays in its group: only new ones are asked. */
  used(): number {
    this.#seen = new Map(
      processIds().map((pid) => [pid, this.#seen.get(pid) ?? processGroup(pid) === this.#groupId]),
    );
    return sumOf([...this.#seen.keys()].filter((pid) => this.#seen.get(pid)));
  }

  #sample(): void {
    this.#peak = Math.max(this.#peak, this.used());
    if (this.#peak <= this.#maxBytes || this.#exceeded) return;
    this.#exceeded = true;
    this.rest();
    this.#onExceeded();
  }
}
