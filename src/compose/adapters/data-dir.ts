import { accessSync, constants, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assertOwned } from '../../ownership.ts';
import { reasonOf } from '../../reason.ts';

interface Located {
  /** An absolute path. */
  readonly dataDir: string;
}

export const inDataDir = ({ dataDir }: Located, name: string): string => join(dataDir, name);

/**
 * Makes the data directory where there is none, for this user alone.
 * @throws {Error} one line: why it cannot be used, or who else controls it, and the remedy
 */
export function openDataDir({ dataDir }: Located): void {
  try {
    makeDirectory(dataDir);
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(
      `DATA_DIR ${dataDir} cannot be used (${reasonOf(error)}): set it to a directory that this user may write.`,
      { cause: error },
    );
  }
  assertOwned(dataDir, statSync(dataDir));
  // Every entry is believed, also what is derived; the keyring checks each of its files when it reads it.
  for (const path of readdirSync(dataDir).map((name) => join(dataDir, name))) {
    // A link may lead nowhere, and another process may have removed a file of a moment.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats) assertOwned(path, stats);
  }
}

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Not `recursive`: below /proc, Node would try for ever to make a directory that cannot be made. */
function makeDirectory(path: string): void {
  if (isDirectory(path)) return;
  if (!existsSync(dirname(path))) makeDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error;
  }
}
