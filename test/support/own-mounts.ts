/** Starts the service where it alone sees a small or read-only data directory. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { LogEvent } from './invariants.ts';
import { createPlace, LAUNCHER } from './place.ts';
import { Service } from './service.ts';

/** Starts a command that may mount what others do not see. */
export const OWN_MOUNTS = ['unshare', '--map-root-user', '--mount'] as const;

/** Why the machine cannot give a process mounts of its own, or false: for a test's `skip`. */
export const noOwnMounts: string | false =
  spawnSync(OWN_MOUNTS[0], [...OWN_MOUNTS.slice(1), 'true']).status === 0
    ? false
    : 'this machine lets no process have mounts of its own (unshare --map-root-user --mount)';

export interface MountedService {
  readonly service: Service;
  /** Its events, read where its data directory can be seen. */
  readonly log: () => LogEvent[];
  /** Writes a file into its data directory until nothing fits any more. */
  readonly fill: (name: string) => void;
  /** Deletes a file of its data directory. */
  readonly remove: (name: string) => void;
}

/** @param prepare shell commands that run first, with `$DATA_DIR` an empty file system of `size` */
export function createServiceOnOwnMount(
  t: Test,
  size: string,
  prepare: string,
  env: Readonly<Record<string, string>> = {},
): MountedService {
  const place = createPlace(t, env);
  const { dataDir } = place;
  mkdirSync(dataDir);
  const script = `set -e; mount -t tmpfs -o size=${size},mode=700 none "$DATA_DIR"; ${prepare}; exec "$0" start`;
  const service = new Service(place, [...OWN_MOUNTS, 'sh', '-c', script, LAUNCHER]);
  t.teardown(() => service.kill());
  return {
    service,
    log: () => {
      const reader = `import { readLog } from '${join(import.meta.dirname, 'invariants.ts')}';
        process.stdout.write(JSON.stringify(readLog('${dataDir}')));`;
      // SQLite resolves /proc/…/root itself, and so would look outside: it has to run inside.
      const inside = ['--target', `${service.pid}`, '--user', '--preserve-credentials', '--mount'];
      const node = [process.execPath, '--input-type=module', '--eval', reader];
      const { stdout, stderr, status } = spawnSync('nsenter', [...inside, ...node], {
        encoding: 'utf8',
        maxBuffer: 2 ** 28,
      });
      if (status !== 0) throw new Error(`The log cannot be read: ${stderr}`);
      return JSON.parse(stdout) as LogEvent[];
    },
    fill: (name) => {
      const file = openSync(join(`/proc/${service.pid}/root`, dataDir, name), 'w');
      try {
        for (;;) writeSync(file, Buffer.alloc(4096));
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    remove: (name) => rmSync(join(`/proc/${service.pid}/root`, dataDir, name)),
  };
}
