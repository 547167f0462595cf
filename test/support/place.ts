/** A temporary installation: a data directory and a temporary directory of its own, gone afterwards. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';

export interface Place {
  readonly dataDir: string;
  readonly tmpDir: string;
  /** The whole environment of a process that works here. */
  readonly env: Readonly<Record<string, string>>;
}

export const LAUNCHER = join(import.meta.dirname, '../../bin/pressledger');

/** A place below a folder, which stays. */
export function placeIn(root: string, env: Readonly<Record<string, string>> = {}): Place {
  const tmpDir = join(root, 'tmp');
  mkdirSync(tmpDir, { recursive: true });
  const dataDir = join(root, 'data');
  const inherited = Object.fromEntries(
    ['PATH', 'CHROME_PATH', 'LANG'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    dataDir,
    tmpDir,
    env: { ...inherited, HOME: root, TMPDIR: tmpDir, DATA_DIR: dataDir, PORT: '0', ...env },
  };
}

/** Chrome's socket lies below `tmpDir`, and a socket's path has at most 107 bytes: so no `t.testdir()`. */
export function createPlace(
  t: Pick<Test, 'teardown'>,
  env: Readonly<Record<string, string>> = {},
): Place {
  const root = mkdtempSync(join(tmpdir(), 'pressledger-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  return placeIn(root, { RENDER_CONCURRENCY: '1', ...env });
}
