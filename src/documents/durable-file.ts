/** Files that are whole or not there: written beside, synced, renamed, and their directory synced. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  close,
  closeSync,
  fdatasync,
  fsync,
  fsyncSync,
  linkSync,
  mkdirSync,
  open,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeFileSync,
} from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { isAbandoned, writerName } from './writer.ts';

/** The calls that a file system may answer without its disk. Syncs wait for it, and are always in the background. */
export interface FileCalls {
  readonly open: (path: string, flags: 'r' | 'wx', mode?: number) => number | Promise<number>;
  readonly close: (file: number) => unknown;
  readonly rename: (from: string, to: string) => unknown;
  readonly makeDirectories: (path: string) => unknown;
}

const DIRECTORIES = { recursive: true, mode: 0o700 } as const;

export const IN_BACKGROUND: FileCalls = {
  open: promisify(open),
  close: promisify(close),
  rename,
  makeDirectories: (path) => mkdir(path, DIRECTORIES),
};

const IN_PLACE: FileCalls = {
  open: openSync,
  close: closeSync,
  rename: renameSync,
  makeDirectories: (path) => mkdirSync(path, DIRECTORIES),
};

/** Linux's numbers of file systems whose calls, but for syncs, seldom wait for a disk: ext, XFS, F2FS, overlay, tmpfs. */
const QUICK = new Set([0xef53, 0x58465342, 0xf2f52010, 0x794c7630, 0x01021994]);

/**
 * A call in the background costs ten times the call. A folder that may be a network's, or whose file system may wait
 * for its own transactions, never keeps the event loop waiting.
 */
export async function fileCallsIn(directory: string): Promise<FileCalls> {
  const { type } = await statfs(directory);
  return QUICK.has(type) ? IN_PLACE : IN_BACKGROUND;
}

const writeTo = promisify(write);
const syncContent = promisify(fdatasync);
export const sync = promisify(fsync);

export function temporaryName(): string {
  return `${writerName()}-${randomUUID()}`;
}

export async function writeDurably(
  path: string,
  temporary: string,
  content: Buffer,
  calls = IN_BACKGROUND,
): Promise<void> {
  try {
    const file = await calls.open(temporary, 'wx', 0o600);
    try {
      for (let done = 0; done < content.length; ) {
        done += (await writeTo(file, content, done)).bytesWritten;
      }
      await syncContent(file);
    } finally {
      await calls.close(file);
    }
    await calls.rename(temporary, path);
    await syncPath(dirname(path), calls);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Moves a synced file from anywhere; over devices by way of `temporary`. The caller syncs the directory. */
export async function moveFile(
  from: string,
  path: string,
  temporary: string,
  calls: FileCalls,
): Promise<void> {
  try {
    await calls.rename(from, path);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    try {
      await copyFile(from, temporary);
      await syncPath(temporary);
      await calls.rename(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    await rm(from, { force: true });
  }
}

/** Removes the files whose writer no longer runs. */
export async function sweepTemporary(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (isAbandoned(path)) await rm(path, { force: true });
  }
}

/** Syncs a file or a directory's entries. */
export async function syncPath(path: string, calls = IN_BACKGROUND): Promise<void> {
  const file = await calls.open(path, 'r');
  try {
    await sync(file);
  } finally {
    await calls.close(file);
  }
}

export function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Creates a small secret file durably, readable by the owner only. Of two processes that create it at once, one does.
 * @returns false if there is one already, which is left as it is
 */
export function createDurably(path: string, content: string): boolean {
  const temporary = `${path}.${temporaryName()}.tmp`;
  try {
    writeFileSync(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    // Unlike a rename, a link never replaces what another process has just put there.
    linkSync(temporary, path);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(path));
  return true;
}

export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    // Node names a file that cannot be opened, and not a folder that cannot be read.
    if (hasCode(error, 'EISDIR')) throw Object.assign(error, { path });
    throw error;
  }
}

/** Overwrites the file first: what a file system keeps of a removed file is then of no use. */
export function removeDurably(path: string): void {
  try {
    const { size } = statSync(path);
    writeFileSync(path, randomBytes(size), { flag: 'r+', flush: true });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  rmSync(path, { force: true });
  syncDirectory(dirname(path));
}

/** Removes what killed writers left of files whose path starts with `prefix`. */
export function removeTemporary(prefix: string, unwanted: (path: string) => boolean): void {
  // `basename` would not take what ends with a separator, which stands for all of a folder, as that.
  const start = prefix.slice(prefix.lastIndexOf(sep) + 1);
  const directory = prefix.slice(0, prefix.length - start.length) || '.';
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(start) || !name.endsWith('.tmp')) continue;
    const path = join(directory, name);
    if (unwanted(path)) rmSync(path, { force: true });
  }
}

function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
