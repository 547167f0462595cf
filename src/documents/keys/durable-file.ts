/** Small secret files: whole or not there, readable by the owner only, never written twice. */
import { randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writerName } from '../writer.ts';

/**
 * Creates the file durably. Of two processes that create it at once, one does.
 * @returns false if there is one already, which is left as it is
 */
export function createDurably(path: string, content: string): boolean {
  const temporary = `${path}.${writerName()}-${randomUUID()}.tmp`;
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
  for (const name of readdirSync(dirname(prefix))) {
    if (!name.startsWith(basename(prefix)) || !name.endsWith('.tmp')) continue;
    const path = join(dirname(prefix), name);
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

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code;
}
