/** The directories of the settings: made for this user alone, and believed where nobody else controls them. */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { assertOwned } from '../documents/ownership.ts';
import { errorMessage } from '../errors/error-message.ts';

const ALL_RIGHTS = constants.R_OK | constants.W_OK | constants.X_OK;

/**
 * Makes a directory where there is none, for this user alone.
 * @param setting its name, for messages
 * @param options `create`: false only says what would fail, and makes nothing
 * @returns whether it was there before
 * @throws {Error} one line: why it cannot be used or made, or who else controls it, and the remedy
 */
export function openDirectory(
  setting: string,
  path: string,
  { create } = { create: true },
): boolean {
  const wasThere = existsSync(path);
  try {
    if (create) makeDirectory(path);
    const nearest = existing(path);
    if (!isDirectory(nearest)) throw new Error(`${nearest} is no directory`);
    accessSync(nearest, ALL_RIGHTS);
  } catch (cause) {
    throw new Error(
      `${setting} ${path} cannot be used (${errorMessage(cause)}): set it to a directory that this user may write.`,
      { cause },
    );
  }
  if (create || wasThere) assertTrusted(path);
  return wasThere;
}

/** The path, or the nearest directory above it that is there. */
const existing = (path: string): string => (existsSync(path) ? path : existing(dirname(path)));

/** @throws {Error} one line: who else controls it or an entry of it, and the remedy */
function assertTrusted(path: string): void {
  assertOwned(path, statSync(path));
  // Every entry is believed, also what is derived; the keyring checks each of its files when it reads it.
  for (const entry of readdirSync(path).map((name) => join(path, name))) {
    // A link may lead nowhere, and another process may have removed a file of a moment.
    const stats = lookAt(entry);
    if (stats) assertOwned(entry, stats);
  }
}

const lookAt = (path: string): Stats | undefined => statSync(path, { throwIfNoEntry: false });
export const isDirectory = (path: string): boolean => lookAt(path)?.isDirectory() ?? false;

/** Not `recursive`: below /proc, Node would try for ever to make a directory that cannot be made. */
export function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error;
  }
}

/** False also for a file that this user may not see: what opens the directory says so. */
export function isMissing(path: string): boolean {
  try {
    return lookAt(path) === undefined;
  } catch {
    return false;
  }
}
