/** Files that are whole or not there: written beside, synced, renamed, and their directory synced. */
import { randomUUID } from 'node:crypto';
import {
  close,
  closeSync,
  fsync,
  mkdirSync,
  open as openInBackground,
  openSync,
  renameSync,
} from 'node:fs';
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isAbandoned, writerName } from './writer.ts';

/** Calls that seldom wait for a disk. What does wait, each sync, is in the background for all. */
export interface FileCalls {
  readonly open: (path: string, flags: 'r') => number | Promise<number>;
  readonly close: (file: number) => unknown;
  readonly rename: (from: string, to: string) => unknown;
  readonly makeDirectories: (path: string) => unknown;
}

const DIRECTORIES = { recursive: true, mode: 0o700 } as const;

/** For a folder that may be a network's: the event loop never waits for it. */
export const IN_BACKGROUND: FileCalls = {
  open: promisify(openInBackground),
  close: promisify(close),
  rename,
  makeDirectories: (path) => mkdir(path, DIRECTORIES),
};

/** For a disk of this machine: there a call in the background costs ten times the call. */
export const IN_PLACE: FileCalls = {
  open: openSync,
  close: closeSync,
  rename: renameSync,
  makeDirectories: (path) => mkdirSync(path, DIRECTORIES),
};

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
    const file = await open(temporary, 'wx', 0o600);
    try {
      // `writeFile` takes some calls more.
      for (let done = 0; done < content.length; ) {
        done += (await file.write(content, done)).bytesWritten;
      }
      await file.datasync();
    } finally {
      await file.close();
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

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
