import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, chmod, constants, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * Told before anything is asked for, so that no credit goes for a file that cannot be kept.
 * @throws {Error} one line: why the file cannot be written there
 */
export async function checkOutputFile(path: string): Promise<void> {
  try {
    await access(dirname(resolve(path)), constants.W_OK);
  } catch (error) {
    throw new Error(`${path} cannot be written`, { cause: error });
  }
  const there = await stat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile()) {
    throw new Error(`${path} is there and is not a file: choose another name.`);
  }
}

/** Puts the whole file in its place, with these permissions, or leaves what was there as it was. */
export async function writeOutputFile(
  open: () => Promise<Readable>,
  path: string,
  mode: number,
): Promise<void> {
  const content = await open();
  const partial = `${path}.${randomUUID()}.part`;
  try {
    await pipeline(content, createWriteStream(partial, { flags: 'wx', flush: true }));
    // A file system without permissions has none to set.
    await chmod(partial, mode).catch(() => {});
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
