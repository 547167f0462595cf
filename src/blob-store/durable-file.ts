/** Files that are whole or not there: written beside, synced, renamed, and their directory synced. */
import { randomUUID } from 'node:crypto';
import { copyFile, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isAbandoned, writerName } from './writer.ts';

export function temporaryName(): string {
  return `${writerName()}-${randomUUID()}`;
}

export async function writeDurably(
  path: string,
  temporary: string,
  content: Buffer,
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

/** Removes the files whose writer no longer runs. */
export async function sweepTemporary(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (isAbandoned(path)) await rm(path, { force: true });
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
