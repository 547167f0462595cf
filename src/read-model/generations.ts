/**
 * The files of a read model. `CURRENT` names the generation in use and is replaced by renaming, so a
 * reader finds the old one or the new one, whole. A generation under construction is `build-….db`.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

const BUSY_TIMEOUT_MS = 5_000;

/** Tells one `CURRENT` from the next without reading it. */
export function currentMark(directory: string): string {
  const stats = statSync(join(directory, 'CURRENT'), { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino} ${stats.mtimeMs}`;
}

/** The number of the generation in use, 0 if there is none. */
export function currentGeneration(directory: string): number {
  try {
    const named = /^g([1-9][0-9]{0,14})\.db\n$/.exec(
      readFileSync(join(directory, 'CURRENT'), 'utf8'),
    );
    return Number(named?.[1] ?? 0);
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

export const generationPath = (directory: string, generation: number): string =>
  join(directory, `g${generation}.db`);

/** Only under the lock: `path` becomes the generation in use. */
export function makeCurrent(directory: string, path: string): void {
  const name = `g${currentGeneration(directory) + 1}.db`;
  removeDatabase(join(directory, name));
  renameSync(path, join(directory, name));
  const draft = join(directory, 'CURRENT.new');
  writeFileSync(draft, `${name}\n`, { flush: true });
  renameSync(draft, join(directory, 'CURRENT'));
}

/**
 * Runs `change` while no other process changes `CURRENT` or sweeps. The lock is the operating system's
 * (by way of SQLite), so it ends with its process.
 */
export function exclusively<T>(directory: string, change: () => T): T {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = new Sqlite(join(directory, 'lock'), { timeout: BUSY_TIMEOUT_MS });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return change();
  } finally {
    lock.close();
  }
}

/** Only under the lock: deletes what nobody needs. A file that is still open lives on until closed. */
export function sweep(directory: string): void {
  const current = `g${currentGeneration(directory)}.db`;
  for (const name of readdirSync(directory)) {
    if (!/^(g[0-9]+|build-[^.]+)\.db$/.test(name) || name === current) continue;
    const path = join(directory, name);
    if (name.startsWith('g') || isAbandoned(path)) removeDatabase(path);
  }
}

/** The builder of a generation holds its file locked. */
function isAbandoned(path: string): boolean {
  const db = new Sqlite(path, { timeout: 0 });
  try {
    db.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    return !(error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY'));
  } finally {
    db.close();
  }
}

export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

export function isDamage(error: unknown): error is Error {
  return error instanceof Sqlite.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code);
}
