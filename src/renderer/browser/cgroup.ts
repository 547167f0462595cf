/**
 * The kernel's bound on the memory of one whole Chrome: a control group, where the service may make one.
 * Where it may not, the samples of `memory.ts` and the limit on each process are all there is.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const REMOVE_TRIES = 40;
const REMOVE_RETRY_MS = 25;

/** A directory in which control groups may be made. */
export interface CgroupParent {
  readonly path: string;
  readonly version: 1 | 2;
}

/** The files that bound a group. Swap counts too: a page must not slow the machine down. */
const limits = (version: 1 | 2, bytes: number): readonly (readonly [string, string])[] =>
  version === 1
    ? [
        ['memory.limit_in_bytes', `${bytes}`],
        ['memory.memsw.limit_in_bytes', `${bytes}`],
      ]
    : [
        ['memory.max', `${bytes}`],
        ['memory.swap.max', '0'],
        ['memory.oom.group', '1'],
      ];

/**
 * Finds where this process may make control groups. In version 2 a group that has processes cannot bound
 * the memory of its children. So there the service must be in a subgroup of a systemd unit that is
 * delegated to it, and the new groups come beside that subgroup.
 * @param membership the text of `/proc/self/cgroup`
 * @returns undefined where there is no such place
 */
export function findCgroupParent(root: string, membership: string): CgroupParent | undefined {
  for (const line of membership.split('\n')) {
    const [, controllers, path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers !== '' && controllers !== 'memory') continue;
    const own = join(root, controllers, path);
    const version = controllers === '' ? 2 : 1;
    const parent = version === 1 ? own : dirname(own);
    if (version === 2 && !/\.(?:service|scope)$/.test(parent)) continue;
    try {
      // A container may see its groups at another path than its own.
      const members = readFileSync(join(own, 'cgroup.procs'), 'utf8').split('\n');
      if (!members.includes(`${process.pid}`)) continue;
      if (version === 2) writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory');
      return { path: parent, version };
    } catch {
      // It is not ours to change.
    }
  }
  return undefined;
}

let own: CgroupParent | undefined | 'unknown' = 'unknown';

/** The result for this process. It is looked for once. */
export function ownCgroupParent(): CgroupParent | undefined {
  const file = '/proc/self/cgroup';
  if (own === 'unknown') {
    own = findCgroupParent('/sys/fs/cgroup', existsSync(file) ? readFileSync(file, 'utf8') : '');
  }
  return own;
}

export class Cgroup {
  readonly path: string;
  readonly #events: string;

  private constructor(path: string, version: 1 | 2) {
    this.path = path;
    this.#events = join(path, version === 1 ? 'memory.oom_control' : 'memory.events');
  }

  /** @returns undefined where none can be made */
  static make(
    profile: string,
    maxBytes: number,
    parent: CgroupParent | undefined = ownCgroupParent(),
  ): Cgroup | undefined {
    if (parent === undefined) return undefined;
    const path = join(parent.path, `pressledger-${basename(profile)}`);
    const [[limit, bytes] = ['', ''], ...others] = limits(parent.version, maxBytes);
    try {
      mkdirSync(path);
    } catch {
      return undefined;
    }
    try {
      writeFileSync(join(path, limit), bytes);
    } catch {
      rmdirSync(path);
      return undefined;
    }
    for (const [file, value] of others) {
      try {
        writeFileSync(join(path, file), value);
      } catch {
        // A kernel that does not account for swap has no such file.
      }
    }
    return new Cgroup(path, parent.version);
  }

  /** A command that enters the group and becomes the command that follows it. */
  get enter(): readonly string[] {
    return ['sh', '-c', 'echo $$ >"$0"; exec "$@"', join(this.path, 'cgroup.procs')];
  }

  /** The number of processes that the kernel ended because the group was full. */
  get oomKills(): number {
    try {
      return Number(/^oom_kill (\d+)$/m.exec(readFileSync(this.#events, 'utf8'))?.[1] ?? 0);
    } catch {
      return 0;
    }
  }
}

/** Removes a group whose processes are about to end. Never rejects: the next start tries again. */
export async function removeCgroup(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries += 1) {
    try {
      await rmdir(path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EBUSY') return;
      await delay(REMOVE_RETRY_MS);
    }
  }
}
