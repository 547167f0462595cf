/** Files that are whole or not there: written beside, synced, renamed, and their directory synced. */
import { randomUUID } from 'node:crypto';
import { copyFile, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Names start with the process that writes them, so that a later start knows the abandoned ones. */
export function temporaryName(): string {
  return `${process.pid}-${randomUUID()}`;
}

export async function writeDurably(
  path: string,
  temporary: string,
  content: Buffer,
): Promise<void> {
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.datasync();
    } finally {
      await file.close();
    }
    await moveDurably(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Takes a finished file from anywhere; over devices by way of `temporary`. */
export async function adoptDurably(from: string, path: string, temporary: string): Promise<void> {
  await syncPath(from);
  try {
    await moveDurably(from, path);
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error;
    try {
      await copyFile(from, temporary);
      await syncPath(temporary);
      await moveDurably(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
    await rm(from, { force: true });
  }
}

/** Removes the files whose writer no longer runs. To be called before this process writes any. */
export async function sweepTemporary(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = Number(name.split('-', 1)[0]);
    if (pid === process.pid || !isRunning(pid)) await rm(join(directory, name), { force: true });
  }
}

/** Syncs a file or a directory's entries. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

async function moveDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncPath(dirname(to));
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
